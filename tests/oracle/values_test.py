#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments and results that are recorded with -a, byte for byte: what programs with random prototypes print that they pass,
and what gdb shows at each first instruction (info args) and return (finish).

Each value is equal, or none was recorded; none is wrong.

usage: values_test.py printed|gdb machine|user ARCH [SEEDS [ROUNDS [FIRST SEED]]]

Programs of machines run on the first QEMU from 10.0 on, others need a user-mode QEMU that reads registers (scripts/qemus
user). COMPILER=N in the environment runs the N-th of the compilers alone.
"""
import collections
import os
import sys

import places_programs
import places_test
import values_programs
import values_recorded
from gttest import boards, compilers, elf, paths, qemus
from gttest.commands import finish, kill, must, printed, start, tool
from gttest.recordings import record
from gttest.results import Tally, folder, need, write

# compiler, flags, C++, static functions
RUNS = [('gcc', ['-O0'], False, False), ('clang', ['-O2'], False, False), ('gcc', ['-O2'], True, False),
        ('gcc', ['-O3', '-flto'], False, True), ('clang', ['-O0'], False, False), ('gcc', ['-O2'], False, False),
        ('clang', ['-O3', '-flto'], False, True), ('clang', ['-O1'], True, False), ('gcc', ['-O0'], True, False),
        ('clang', ['-O0'], True, False)]
SHORT = 5        # so many of them, with few functions, are in the machines' test
SIZE_MOST = 64   # bytes of a value that are recorded


def ignores(arch, kind, flags):
    """Code without optimization fills all that it passes. Clang's, of aarch64, does not describe all that is passed."""
    return places_programs.ALL if '-O0' in flags else places_test.ignores(arch, kind, flags)


class Guest:
    """A program, built; how it runs."""

    def __init__(self, arch, machine, seed, rounds, run, work, prints):
        kind, flags, cxx, static = run
        self.arch, self.machine, self.compiler = arch, machine, kind
        # gdb 13 does not find the ends of Clang's prologues of riscv64
        self.debug = '-O0' in flags and (kind, arch) != ('clang', 'riscv64')
        # what functions in C++ of Clang without optimization have is known by their mangled names
        self.program = values_programs.Program(seed, arch, rounds, machine, prints, cxx=cxx, static=static,
                                               mangled=(kind, *flags) == ('clang', '-O0'),
                                               ignores=ignores(arch, kind, flags),
                                               functions=14 if machine else 40)
        source = write(f'{work}/program' + ('.cc' if cxx else '.c'), self.program.text())
        if machine:
            self.build_machine(kind, flags, source, work)
        else:
            self.qemu, self.elf = qemus.user_with_registers(arch), f'{work}/program'
            places_test.compile_program(arch, kind, flags, cxx, source, self.elf)
            self.line = [self.qemu, self.elf]
        # names of the functions; those of compilers' clones have suffixes
        self.addresses = {s.addr: s.name for s in elf.defined(self.elf) if values_recorded.plain(s.name)}

    def build_machine(self, kind, flags, source, work):
        arch, out = self.arch, f'{work}/program.o'
        if kind == 'clang':
            command = [tool('clang'), f'--target={places_test.TARGETS[arch]}']
            flags = [f for f in flags if f != '-flto']  # of one source
        else:
            command = [*compilers.compiler(arch, source), '-fno-ipa-icf']
            flags = [*flags, '-r', '-flinker-output=nolto-rel'] if '-flto' in flags else flags
        more = {'aarch64': ['-mstrict-align'], 'riscv64': ['-mcmodel=medany', '-march=rv64gc', '-mabi=lp64d'], 'x86_64': ['-mno-red-zone']}
        if '-r' not in flags:
            flags = [*flags, '-c']
        link = [w for w in places_test.LINK if w != '-static' or '-r' not in flags]
        must([*command, *link, *more.get(arch, []), '-fno-asynchronous-unwind-tables', *flags, '-o', out, source])
        must([compilers.prefix(arch) + 'objcopy', '-R', '.init_array', '-R', '.ctors', '-R', '.fini_array', out])
        built = boards.build(arch, 'values', work, [boards.start_code(arch), out], '-DSTART_MAIN=begin_values', '-w')
        self.qemu, self.elf = qemus.machines_from(arch, qemus.TELLS_MEMORY), built.elf
        self.line = built.command_on_stdio(self.qemu)

    def record(self, out):
        """What it prints; [values_recorded.Call]"""
        done = record(out, ['-q', '-a', '--format', 'uftrace', '-F', r'^f[0-9]+(\..*)?$', '-D', '1',
                            *(['--symbols', self.elf] if self.machine else ['--qemu', self.qemu])],
                      self.line if self.machine else [self.elf])
        return done.stdout.decode(), values_recorded.calls(out, self.addresses)


class Comparison:
    """Of calls, in their order."""

    def __init__(self):
        self.count, self.wrong = collections.Counter(), []

    def value(self, what, got, want, mask):
        if got is None:
            self.count['not recorded'] += 1
        elif want is None:
            self.count['not known'] += 1
        elif len(got) < min(len(want), SIZE_MOST) and any(mask[len(got):SIZE_MOST]):
            self.wrong.append(f'{what}: {len(got)} bytes, not {len(want)}')
        elif any((g ^ w) & m for g, w, m in zip(got, want, mask)):
            self.wrong.append(f'{what}: {got.hex()}, not {want.hex()}, mask {mask.hex()}')
        elif any(g & ~m for g, m in zip(got, mask)):
            self.wrong.append(f'{what}: {got.hex()} between the members, mask {mask.hex()}')
        else:
            self.count['equal'] += 1

    def calls(self, got, want):
        """want: [(kind, name, {parameter: (bytes, mask) or None})]"""
        need(len(got) == len(want) and want, f'{len(got)} entries and returns, not {len(want)}')
        for i, (call, (kind, name, values)) in enumerate(zip(got, want)):
            need((call.kind, call.name) == (kind, name), f'record {i} is {call.kind} of {call.name}, not {kind} of {name}')
            self.count['samples'] += 1
            for parameter, value in values.items():
                self.value(f'{kind} {name} {parameter or "result"}', call.values.get(parameter), *(value or (None, None)))


def unhex(text):
    return [b'' if t == '-' else bytes.fromhex(t) for t in text.split(',')]


def said(text):
    """What the guest prints, as Comparison.calls() wants it."""
    masks, calls = {}, []
    for line in text.splitlines():
        kind, number, params, result = line.split(' ')
        if kind == 'm':
            masks[number] = unhex(params), unhex(result)[0]
            continue
        entry, back = masks[number]
        values = {f'p{i}': (v, entry[i]) for i, v in enumerate(unhex(params)) if v}
        calls.append(('e', f'f{number}', values))
        calls.append(('r', f'f{number}', {'': (unhex(result)[0], back)} if back else {}))
    return calls


def asked(guest, work):
    """The same of gdb."""
    stub, out = f'{work}/stub', f'{work}/gdb.out'
    line = [*guest.line, '-S', '-gdb', f'unix:{stub},server=on,wait=off'] if guest.machine else \
           [guest.line[0], '-g', stub, *guest.line[1:]]
    child = start(line)
    try:
        while child.poll() is None and not os.path.exists(stub):
            os.sched_yield()
        env = dict(os.environ, GT_STUB=stub, GT_OUT=out, GT_DEBUG='1' if guest.debug else '', GT_COMPILER=guest.compiler,
                   GT_FUNCTIONS=' '.join(f'{a:x}' for a in guest.addresses), PYTHONDONTWRITEBYTECODE='1')
        done = finish(start([tool('gdb-multiarch'), '-q', '-nx', '-batch', '-x', paths.source('oracle', 'values_gdb.py'),
                             guest.elf], env=env), timeout=3600)
    finally:
        kill(child)
    need(done.returncode == 0 and os.path.exists(out), 'gdb:', done.stdout[-2000:], done.stderr[-2000:])
    calls = []
    with open(out, encoding='ascii') as f:
        for text in f:
            kind, name, *values = text.split()
            found = {}
            for value in values:
                parameter, _, data = value.partition('=')
                found[parameter] = None if data == '?' else tuple(bytes.fromhex(h) for h in data.split('/'))
            calls.append((kind, name, found))
    return calls


def title(run, seed):
    return f'{run[0]} {" ".join(run[1])}{" C++" if run[2] else ""}{" static" if run[3] else ""} seed {seed}'


def check(way, machine, arch, seed, rounds, run, totals):
    with folder('values') as work:
        guest = Guest(arch, machine, seed, rounds, run, work, way == 'printed')
        text, got = guest.record(f'{work}/data')
        want = said(text) if way == 'printed' else asked(guest, work)
    c = Comparison()
    c.calls(got, want)
    totals.update(c.count)
    name = title(run, seed)
    print(f'{arch} {name}: ' + ', '.join(f'{n} {w}' for w, n in sorted(c.count.items())) + f', {len(c.wrong)} wrong',
          flush=True)
    need(not c.wrong, f'{name}:', *[f'\n  {line}' for line in c.wrong[:int(os.environ.get('SHOW', '8'))]])


def main():
    way, place, arch, *numbers = sys.argv[1:]
    seeds, rounds, first, *_ = [int(n) for n in numbers] + [1, 3, 0][len(numbers):]
    runs = RUNS[:SHORT] if place == 'machine' and seeds == 1 else RUNS
    if os.environ.get('COMPILER'):
        runs = [RUNS[int(os.environ['COMPILER'])]]
    tally, totals = Tally(), collections.Counter()
    for seed in range(first, first + seeds):
        for run in runs:
            tally.run(f'{arch} {title(run, seed)}', check, way, place == 'machine', arch, seed, rounds, run, totals)
    print(', '.join(f'{n} {w}' for w, n in sorted(totals.items())))
    return tally.status()


if __name__ == '__main__':
    sys.exit(main())
