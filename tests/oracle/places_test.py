#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where values are at functions' first instructions and after their returns, against compilers.

Programs with random prototypes (places_programs.py) run under QEMU's gdbstub, which stops at each
function's first instruction and at its return: the bytes at the places that we name must be the bytes
that the caller passed, or the place must be unknown. None may be wrong.

usage: places_test.py TOOL ARCH [SEEDS]
"""
import collections
import itertools
import math
import os
import shutil
import sys

import places_programs
from gttest import compilers, elf, gdbstub
from gttest.commands import kill, must, printed, start, tool
from gttest.results import Failure, Skip, folder, skip, write

TARGETS = {'x86_64': 'x86_64-linux-gnu', 'i386': 'i686-linux-gnu', 'aarch64': 'aarch64-linux-gnu',
           'riscv64': 'riscv64-linux-gnu'}
LINK = ['-nostdlib', '-static', '-ffreestanding', '-fno-stack-protector', '-g', '-w', '-fno-pie', '-no-pie',
        '-fno-exceptions']
CPU = {'aarch64': ['-cpu', 'cortex-a57']}  # with SVE v0 would be z0
SP = {'x86_64': 'rsp', 'i386': 'esp', 'aarch64': 'sp', 'riscv64': 'sp'}
# compiler, flags, C++, static functions
RUNS = [('gcc', ['-O0'], False, False), ('gcc', ['-O2'], False, False), ('clang', ['-O0'], False, False),
        ('clang', ['-O2'], False, False), ('gcc', ['-O2'], True, False), ('clang', ['-O1'], True, False),
        ('gcc', ['-O3'], False, True), ('clang', ['-O2'], False, True), ('gcc', ['-O2', '-flto'], False, True)]


def compile_program(arch, kind, flags, cxx, source, out):
    """Builds the program; raises Skip without that compiler."""
    if kind == 'clang':
        command = [tool('clang'), f'--target={TARGETS[arch]}']
        if arch != 'x86_64':
            command.append('-fuse-ld=lld')
            tool('ld.lld')
        if cxx and arch == 'i386':
            command.append('-Wno-everything')
    else:
        command = compilers.compiler(arch, source)
    if kind == 'gcc':
        flags = [*flags, '-fno-ipa-icf']  # functions of the same code would be one
    more = [] if arch != 'riscv64' else ['-march=rv64gc', '-mabi=lp64d']
    if arch == 'riscv64' and kind == 'clang':
        more.append('-mno-relax')
    libgcc = [] if kind == 'clang' or arch == 'i386' else ['-lgcc']
    must([*command, *LINK, *flags, *more, '-o', out, source, *libgcc])


def ignores(arch, kind, flags):
    """Whether its programs have functions that ignore scalars. Optimised callers do not fill what is passed in memory, on
    i386 all; Clang does not describe what is ignored in code without optimisation."""
    return kind == 'clang' and '-O0' not in flags and arch != 'i386'


class Places:
    """What the tool prints, by function name."""

    def __init__(self, path, arch, program):
        self.at, self.result, self.param = {}, {}, {}
        name = None
        for line in printed([path, arch, program]).splitlines():
            word, _, rest = line.partition(' ')
            if word == 'function':
                addr, _, name = rest.partition(' ')
                self.at[name], self.param[name] = int(addr, 16), []
            elif word == 'result':
                self.result[name] = rest
            else:
                self.param[name].append(rest)


def value_of(stub, text, *more):
    try:
        return read_value(stub, text, *more)
    except Failure as why:
        return ('nothing', str(why))


def read_value(stub, text, pointer, stack, memory=None):
    """The bytes at a place, or None: unknown. memory: the address that a result was given at entry."""
    if text.startswith('?'):
        return None
    size, flags, *pieces = text.split(' ')
    out = bytearray(int(size) if 'r' not in flags else pointer)
    known = bytearray(len(out))
    for piece in pieces if memory is None else ():
        place, in_value, count = piece.split(':')
        in_value, count = int(in_value), int(count)
        if place.startswith('@'):
            data = stub.read_memory(stack + int(place[1:]), count)
        else:
            reg, byte = place.split('+')
            if reg.startswith('st') and not stub.rotates:
                # QEMU before 9.0 shows the registers of x87 by number, not from the top.
                top = int.from_bytes(stub.read_register('fstat'), 'little') >> 11 & 7
                reg = f'st{(int(reg[2:]) + top) % 8}'
            data = stub.read_register(reg)[int(byte):int(byte) + count]
        if 'x' in flags:
            return ('extended', bytes(data))
        out[in_value:in_value + count] = data
        known[in_value:in_value + count] = b'\xff' * count
    if 'r' in flags:
        at = memory if memory is not None else int.from_bytes(out, 'little')
        return bytes(stub.read_memory(at, int(size))), b'\xff' * int(size)
    return bytes(out), bytes(known)


def extended(data):
    """A float of 80 bits."""
    high, low = int.from_bytes(data[8:10], 'little'), int.from_bytes(data[:8], 'little')
    return math.ldexp(-float(low) if high >> 15 else float(low), (high & 0x7fff) - 16383 - 63)


def qemu_version(arch):
    return int(printed([tool(f'qemu-{arch}'), '--version']).split('version ')[1].split('.')[0])


class Run:
    """One program under the gdbstub."""

    def __init__(self, arch, places, program, symbols, work, source):
        self.arch, self.places, self.symbols, self.program = arch, places, symbols, program
        self.count = collections.Counter()
        self.wrong = []
        self.pointer = 4 if arch == 'i386' else 8
        path = os.path.join(work, 'gdb')
        if os.path.exists(path):
            os.unlink(path)
        child = start([tool(f'qemu-{arch}'), '-g', path, *CPU.get(arch, []), source])
        try:
            self.stub = gdbstub.Stub(path, child)
            self.stub.rotates = qemu_version(arch) >= 9
            self.follow()
        finally:
            kill(child)

    def int_register(self, name):
        return int.from_bytes(self.stub.read_register(name), 'little')

    def follow(self):
        for number, params, result, _ in self.program.functions:
            at = self.places.at.get(f'f{number}')
            if at is None:
                self.count['absent'] += 1
                continue
            self.stub.set_break(at)
            if not self.stub.resume():
                raise Failure(f'the program ended before f{number}')
            self.stub.remove_break(at)
            self.visit(number, params, result)
        self.stub.kill()

    def global_at(self, name):
        at, size = self.symbols[name]
        return self.stub.read_memory(at, size)

    def visit(self, number, params, result):
        stub, name = self.stub, f'f{number}'
        stack = self.int_register(SP[self.arch])
        texts = self.places.param[name]
        if len(texts) != len(params):
            self.wrong.append(f'{name}: {len(texts)} parameters, not {len(params)}')
            return
        for i, kind in enumerate(params):
            self.check(f'{name} p{i} ({kind}): {texts[i]}', value_of(stub, texts[i], self.pointer, stack),
                       f'v{number}_{i}', f'm{number}_{i}', kind)
        text, memory = self.places.result[name], None
        if not text.startswith('?') and 'e' in text.split(' ')[1]:
            place = text.split(' ')[2]
            memory = self.int_register(place.split('+')[0])
        if self.arch in ('x86_64', 'i386'):
            back = int.from_bytes(stub.read_memory(stack, self.pointer), 'little')
        else:
            back = self.int_register('x30' if self.arch == 'aarch64' else 'ra')
        stub.set_break(back)
        if not stub.resume():
            raise Failure(f'the program ended in {name}')
        stub.remove_break(back)
        if result != 'void':
            self.check(f'{name} result ({result}): {text}',
                       value_of(stub, text, self.pointer, stack, memory), f'w{number}', f'mw{number}', result)

    def check(self, what, value, name, mask_name, kind):
        if value is None:
            self.count['unknown'] += 1
            return
        if name not in self.symbols or mask_name not in self.symbols:
            self.count['constant'] += 1  # the compiler removed the variable
            return
        if value[0] == 'nothing':
            self.wrong.append(f'{what}: {value[1]}')
            return
        want, mask = self.global_at(name), self.global_at(mask_name)
        if value[0] == 'extended':
            self.check_extended(what, value[1], want, kind)
            return
        got, known = value
        mask = mask[:len(got)]
        if len(want) != len(got) and self.symbols[name][1]:
            self.wrong.append(f'{what}: {len(got)} bytes, not {len(want)}')
        elif any(m and not k for m, k in zip(mask, known)):
            self.wrong.append(f'{what}: bytes without a place')
        elif any((g ^ w) & m for g, w, m in zip(got, want, mask)):
            at = [i for i, (g, w, m) in enumerate(zip(got, want, mask)) if (g ^ w) & m]
            self.wrong.append(f'{what}: bytes {at[:8]}...: {got.hex()}, not {want.hex()}, mask {mask.hex()}')
        else:
            self.count['equal'] += 1

    def check_extended(self, what, data, want, kind):
        import struct  # pylint: disable=import-outside-toplevel
        if kind == 'long double':
            good = data == want[:10]
        else:
            real = struct.unpack('<f' if len(want) == 4 else '<d', want)[0]
            good = extended(data) == real or real != real or abs(real) in (float('inf'),)
        self.count['equal' if good else 'bad'] += 1
        if not good:
            self.wrong.append(f'{what}: {data.hex()}, not {want.hex()}')


def check(path, arch, seed, run, work):
    kind, flags, cxx, static = run
    if seed is None:
        program = places_programs.Partial(arch)
    else:
        program = places_programs.Program(seed, arch, cxx, static=static, ignores=ignores(arch, kind, flags))
    source = write(os.path.join(work, 'program' + ('.cc' if cxx else '.c')), program.text())
    out = os.path.join(work, 'program')
    compile_program(arch, kind, flags, cxx, source, out)
    symbols = {s.name: (s.addr, s.size) for s in elf.defined(out)}
    places = Places(path, arch, out)
    done = Run(arch, places, program, symbols, work, out)
    print(f'{arch} {kind} {" ".join(flags)}{" C++" if cxx else ""}{" static" if static else ""} seed {seed}: '
          + ', '.join(f'{n} {w}' for w, n in sorted(done.count.items())) + f', {len(done.wrong)} wrong')
    for line in done.wrong[:int(os.environ.get('SHOW', 8))]:
        print('  ' + line)
    return len(done.wrong), done.count['equal']


def main():
    path, arch = sys.argv[1:3]
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if not shutil.which(f'qemu-{arch}'):
        raise Skip(f'no qemu-{arch}')
    wrong = equal = 0
    for seed, run in [*itertools.product(range(seeds), RUNS), *((None, run) for run in RUNS if not run[2] and not run[3])]:
        with folder('places') as work:
            try:
                result = check(path, arch, seed, run, work)
            except Skip as why:
                skip(str(why))
                continue
        wrong, equal = wrong + result[0], equal + result[1]
    print(f'{equal} equal, {wrong} wrong')
    if wrong or not equal:
        raise Failure(f'{wrong} values are at other places')


if __name__ == '__main__':
    try:
        main()
    except Skip as reason:
        print(f'SKIP: {reason}')
        sys.exit(77)
    except Failure as reason:
        print(f'FAILED: {reason}')
        sys.exit(1)
