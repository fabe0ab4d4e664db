#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of a stripped program's local functions are in its .gnu_debugdata, as Fedora's programs have them: in calls,
the streams and logs of the other tools, and of a machine."""
import json
import lzma
import re
import sys

from gttest import boards, elf, functions, paths, qemus
from gttest.commands import must, printed, run
from gttest.compilers import compile_to, prefix
from gttest.paths import GUESTTRACE
from gttest.recordings import record, symbols
from gttest.results import equal, need, read_bytes, write

LOCAL = ['one', 'two', 'three']
SOURCE = '#define FN(n) static __attribute__((noinline)) int n(int x) { __asm__ volatile(""); return x + 1; }\n' \
         'FN(one) FN(two) FN(three)\nint shared(int x) { return one(x) + two(x) + three(x); }\n'
MAIN = 'int main(void) { return shared(1) - 6; }\n'
FLAGS = ['-O1', '-fno-ipa-icf', '-fno-optimize-sibling-calls']


def pack(arch, program, change=lambda data: data):
    """The program is stripped, its functions that are not dynamic are packed; returns {name: address} of those, by nm."""
    tools, mini = prefix(arch), f'{program}.mini'
    dynamic = {s.name for s in elf.File(read_bytes(program)).symbols() if s.table == elf.SHT_DYNSYM}
    found = {s.name for s in elf.File(read_bytes(program)).symbols() if s.kind == elf.STT_FUNC and s.section}
    write(f'{program}.keep', ''.join(f'{name}\n' for name in found - dynamic))
    must([tools + 'objcopy', '--only-keep-debug', program, f'{program}.debug'])
    must([tools + 'objcopy', '-S', '--remove-section', '.comment', f'--keep-symbols={program}.keep', f'{program}.debug', mini])
    names = printed([tools + 'nm', '--defined-only', mini]).splitlines()
    write(f'{mini}.xz', change(lzma.compress(read_bytes(mini))))
    must([tools + 'strip', program])
    must([tools + 'objcopy', '--add-section', f'.gnu_debugdata={mini}.xz', program])
    return {name: int(at, 16) for at, kind, name in (line.split() for line in names) if kind in 'tTwW'}


def calls(recording):
    """{function: calls} of report."""
    return {row['function']: row['calls'] for row in json.loads(printed([GUESTTRACE, 'report', '--json', recording]))['rows']}


def build(t, arch='x86_64', change=lambda data: data):
    write(f'{t.folder}/m.c', SOURCE + MAIN)
    program = compile_to(f'{t.folder}/m', arch, f'{t.folder}/m.c', *FLAGS, '-rdynamic')
    return program, pack(arch, program, change)


def test_calls(t):
    """A program's, and a library's that it loads."""
    qemus.user('x86_64')
    write(f'{t.folder}/l.c', SOURCE)
    write(f'{t.folder}/m.c', 'int shared(int x);\nstatic __attribute__((noinline)) int own(void) { __asm__ volatile(""); return shared(1); }\n'
                             'int main(void) { return own() - 6; }\n')
    library = compile_to(f'{t.folder}/libl.so', 'x86_64', f'{t.folder}/l.c', *FLAGS, '-shared', '-fPIC')
    program = compile_to(f'{t.folder}/m', 'x86_64', f'{t.folder}/m.c', *FLAGS, library, f'-Wl,-rpath,{t.folder}')
    packed = {**pack('x86_64', program), **pack('x86_64', library)}
    need({*LOCAL, 'own', 'main'} <= set(packed) and 'shared' not in packed, packed)
    for out in f'{t.folder}/r.gtrace', f'{t.folder}/r':
        record(out, [], [program])
        got = calls(out)
        names = [*LOCAL, 'shared', 'own', 'main']
        equal({name: got.get(name) for name in names}, {name: 1 for name in names}, out)
    record(f'{t.folder}/some.gtrace', ['-F', '^two$'], [program])
    equal(calls(f'{t.folder}/some.gtrace'), {'two': 1}, '-F two')


def test_tools(t):
    """etrace and execlog name the functions that nm finds in what is packed, at its addresses."""
    qemu = qemus.user('x86_64')
    program, packed = build(t)
    stream, log = f'{t.folder}/stream', f'{t.folder}/log'
    must([qemu, '-plugin', f'{paths.plugin("etrace")},output={stream},flags=exec', program])
    shown = printed([GUESTTRACE, 'dump', '-e', program, stream])
    lcov = printed([GUESTTRACE, 'coverage', '-f', 'callgrind', '-e', program, stream])
    for name in LOCAL:
        need(re.search(rf' {name}$', shown, re.M), f'dump: no {name}')
        need(re.search(rf'^fn=.*\b{name}$', lcov, re.M), f'coverage: no {name}')
        must([qemu, '-plugin', f'{paths.plugin("execlog")},out={log},sym={name}', program])
        first = int(read_bytes(log).decode().splitlines()[0].split(',')[1], 16)
        equal(first & 0xfff, packed[name] & 0xfff, name)


def test_machines(t):
    """From the file that QEMU loads, and by symbols from the file that a firmware's image was made of."""
    for arch in 'riscv64', 'x86_64':
        write(f'{t.folder}/{arch}.c', SOURCE + 'int begin(void) { return shared(1); }\n')
        guest = boards.build(arch, arch, t.folder, [boards.start_code(arch), f'{t.folder}/{arch}.c'], '-DSTART_MAIN=begin')
        names = {*LOCAL, 'begin', 'shared'}
        equal(set(pack(arch, guest.elf)) & names, names, arch)
        _, qemu = qemus.machines(arch)[-1]
        out = f'{t.folder}/{arch}.gtrace'
        must([GUESTTRACE, 'record', '-q', '-o', out, '--', *guest.command(qemu)])
        if arch == 'x86_64':
            need(not names & set(calls(out)), calls(out))
            symbols(out, guest.elf)
        need(names <= set(calls(out)), arch, calls(out))


def test_damaged(t):
    """The program runs, and is recorded as if it had no such section."""
    qemus.user('x86_64')
    for what, change in {'cut': lambda data: data[:-8], 'changed': lambda data: data[:200] + bytes(8) + data[208:],
                         'empty': lambda data: b'', 'no xz': lambda data: bytes(len(data)),
                         'no ELF': lambda data: lzma.compress(b'text' * 1000)}.items():
        program, packed = build(t, change=change)
        out = f'{t.folder}/{what}.gtrace'
        done = run([GUESTTRACE, 'record', '-o', out, program])
        need(done.returncode == 0, what, done)
        got = calls(out)
        need('shared' in got and not set(LOCAL) & set(got), what, got)
        need({f'm+{packed[name]:#x}' for name in LOCAL} <= set(got), what, sorted(got))


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
