#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`guesttrace record --tool execlog`."""
import os
import re

from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.results import need, read_text, same, write
from runs import STATUS, as_7_2, dump, main, qemu_7_2, upstream, zoo

CPU = 'x86_64'
PROGRAM = '#include <stdio.h>\nint main(void) { char text[99]; snprintf(text, sizeof text, "%p", (void *)text); return !text[0]; }\n'
ADDRESS = re.compile(r'(?:^0|load|store), (0x[0-9a-f]+)')


def record(t, *words):
    qemu_7_2(CPU)
    return t.record(*words)


def lines():
    return as_7_2(CPU, upstream(CPU, 'plain')).splitlines(keepends=True)


def test_program(t):
    done = record(t, zoo(CPU))
    need(done.status == STATUS and 'view it with: less execlog.out' in done.errors, done)
    same(read_text(f'{t.folder}/execlog.out'), ''.join(lines()))


def test_binary(t):
    done = record(t, '-o', 'with, comma', '--format', 'binary', zoo(CPU))
    need(done.status == STATUS and "guesttrace dump 'with, comma'" in done.errors, done)
    same(dump(f'{t.folder}/with, comma'), ''.join(lines()))


def test_options(t):
    done = record(t, '-q', '--ifilter', 'movq %rbx, %rdi', '--afilter', '401000', '--range',
                  '401000-402000', '--range', '0-1', '--', qemu_7_2(CPU), zoo(CPU))
    need(done.status == STATUS and not done.errors, done)
    same(read_text(f'{t.folder}/execlog.out'), ''.join(
        line for line in lines() if 'movq %rbx, %rdi' in line or ' 0x401000,' in line))
    done = record(t, '-q', '--sym', 'fact', '--start', 'fact:2', '--stop', 'sum', '--every', '2',
                  '--last', '3', '--elf', zoo(CPU), zoo(CPU))
    need(done.status == STATUS and not done.errors, done)
    need(len(read_text(f'{t.folder}/execlog.out').splitlines()) == 3, 'last')


def placed(log):
    """Lines of a log: opcode, address and those of accesses, whose pages are numbered as they appear."""
    pages = {}

    def place(text):
        address = int(text, 16)
        return pages.setdefault(address >> 12, len(pages)), address & 4095
    return [[line.split(', ')[2], *map(place, ADDRESS.findall(line))] for line in log.splitlines() if line.startswith('0')]


def test_places(t):
    """Without ASLR two logs of a program with libraries and a stack are the same, but for pages of memory whose place depends
    on what QEMU's own threads map meanwhile (QEMU 8.1 and later): pages are numbered as they appear."""
    program = compile_to(f'{t.folder}/program', CPU, write(f'{t.folder}/program.c', PROGRAM), '-O1')
    logs = []
    for name in 'first', 'second':
        done = record(t, '-q', '--no-aslr', '-o', name, program)
        need(done.status == 0 and not done.errors, done)
        logs.append(f'{t.folder}/{name}')
    need(os.path.getsize(logs[0]) > 100000, 'the log is short')
    first, second = (placed(read_text(log)) for log in logs)
    need(len(first) > 10000, len(first))
    wrong = next((i for i, lines in enumerate(zip(first, second)) if lines[0] != lines[1]), None)
    need(wrong is None and len(first) == len(second), 'line', wrong, first[wrong:][:1] if wrong else len(first), second[wrong:][:1] if wrong else len(second))


def test_socket(t):
    """Nobody comes: the program runs all the same."""
    done = record(t, '-o', 'unix:sock', '--wait', '1', zoo(CPU))
    need(done.status == STATUS, done)
    need(any('no reader came within 1 s' in line for line in done.said), done.errors)
    need(not os.path.exists(f'{t.folder}/sock'), 'the socket is left')


def test_refused(t):
    for words, why in [(['--depth', '3'], "'--depth' is for --tool uftrace, not execlog"),
                       (['--flags', 'mem'], "'--flags' is for --tool etrace, not execlog"),
                       (['-o', t.folder], 'is a directory; an instruction log is a file'),
                       (['--reg', 'rax', '--qemu', qemu_7_2(CPU)], 'cannot read registers'), (['--every', '0'], '--every'),
                       (['--last', '2x'], 'from 1 to 100000000')]:
        done = record(t, *words, zoo(CPU))
        need(done.status and why in done.errors, words, done)
        need(not os.path.exists(f'{t.folder}/execlog.out'), words, 'has run')
    done = t.run([GUESTTRACE, 'record', '--tool', 'etrace', '--last', '2', zoo(CPU)], cwd=t.folder)
    need(done.status and "'--last' is for --tool uftrace or execlog, not etrace" in done.errors, done)


if __name__ == '__main__':
    main(globals())
