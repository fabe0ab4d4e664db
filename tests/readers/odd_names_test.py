#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that look like something else: like an address without a symbol, a number of callgrind's, a version."""
import json
import re
import sys

from gttest import commands, etrace_write, functions, qemus
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.recordings import record
from gttest.results import equal, need, write

NAMES = ['<A as B>::c', '<img>', 'x<y', 'a@b', '(1) foo', '(2)', 'plain']
PROGRAM = '.globl {0}\n.type {0},@function\n{0}: .cfi_startproc\n nop\n ret\n .cfi_endproc\n.size {0},.-{0}\n'


def program(folder):
    """Calls each of NAMES once, and of a library one that has two versions."""
    write(f'{folder}/lib.s', '.section .note.GNU-stack\n.text\n' + ''.join(PROGRAM.format(n) for n in ('first', 'second'))
          + '.symver first,versioned@V_1\n.symver second,versioned@@V_2\n')
    write(f'{folder}/lib.map', 'V_1 { global: versioned; local: *; };\nV_2 { global: versioned; } V_1;\n')
    compile_to(f'{folder}/libversioned.so', 'x86_64', f'{folder}/lib.s', '-shared', f'-Wl,--version-script={folder}/lib.map')
    calls = ''.join(f' call "{name}"\n' for name in NAMES)
    write(f'{folder}/main.s', '.section .note.GNU-stack\n.text\n' + ''.join(PROGRAM.format(f'"{n}"') for n in NAMES)
          + f'.globl main\n.type main,@function\nmain: sub $8,%rsp\n{calls} call versioned@PLT\n add $8,%rsp\n xor %eax,%eax\n ret\n.size main,.-main\n')
    compile_to(f'{folder}/program', 'x86_64', f'{folder}/main.s', '-L', folder, '-lversioned', f'-Wl,-rpath,{folder}')
    return f'{folder}/program'


def calls(recording, *options):
    """{function: calls} of report."""
    return {row['function']: row['calls'] for row in json.loads(commands.printed([GUESTTRACE, 'report', '--json', *options, recording]))['rows']}


def test_names(t):
    """As the symbol table has them, without a version that is one of the file's."""
    qemus.user('x86_64')
    record(f'{t.folder}/r.gtrace', [], [program(t.folder)])
    got = calls(f'{t.folder}/r.gtrace')
    equal({name: got.get(name) for name in NAMES}, {name: 1 for name in NAMES}, 'calls')
    need('versioned' in got and not [n for n in got if n.startswith('versioned@')], [n for n in got if 'versioned' in n])
    for pattern, name in (('.*img.*', '<img>'), ('<A .*', '<A as B>::c'), ('^x<y$', 'x<y'), ('a.b', 'a@b')):
        equal(calls(f'{t.folder}/r.gtrace', '-F', pattern), {name: 1}, pattern)


def test_names_while_recording(t):
    qemus.user('x86_64')
    one = program(t.folder)
    for pattern, name in (('.*img.*', '<img>'), ('<A .*', '<A as B>::c'), ('a.b', 'a@b')):
        out = f'{t.folder}/{len(pattern)}{name[1]}.gtrace'
        record(out, ['-F', pattern], [one])
        equal(calls(out), {name: 1}, pattern)


def test_callgrind(t):
    """callgrind_annotate shows names of coverage as they are; "fn=(1) foo" was the function foo with the number 1."""
    one = program(t.folder)
    symbols = dict(reversed(line.split(' ', 2)[::2]) for line in commands.printed(['nm', '--defined-only', one]).splitlines())
    places = [int(symbols[name], 16) for name in NAMES]
    write(f'{t.folder}/s', etrace_write.start(62) + etrace_write.ranges([(at, at + 2) for at in places]))
    text = commands.printed([GUESTTRACE, 'etrace', 'coverage', '-f', 'callgrind', '-e', f'{one}:0', f'{t.folder}/s'])
    write(f'{t.folder}/callgrind.out', text)
    shown = commands.printed([commands.tool('callgrind_annotate'), '--threshold=100', f'{t.folder}/callgrind.out'])
    got = {name for name in NAMES if re.search(rf'\?\?\?:{re.escape(name)}(?: \[.*)?$', shown, re.M)}
    equal(got, set(NAMES), shown)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
