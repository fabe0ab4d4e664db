#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A program with threads ends while they make system calls. QEMU frees what plugins have subscribed to then, which such a
thread may be reading: its exit status is the program's all the same. It was a crash in one of a hundred ends."""
import subprocess
import sys

from gttest import commands, compilers, functions, paths, qemus
from gttest.plugin_runs import PluginTest
from gttest.results import need, write

STATUS = 42
TOOLS = {'uftrace': 'output=@', 'etrace': 'output=@', 'execlog': 'out=@,ifilter=nop', 'events': 'guest-events=@.events,trace-file=@'}


def check(t, tool, rounds=100, user=qemus.user):
    t.plugin = tool
    program = compilers.compile_to(f'{t.folder}/ends', 'x86_64', paths.source('control', 'guests', 'ends.c'), '-O1', '-static',
                                   '-pthread')
    write(f'{t.folder}/events.events', b'work(void) ""\n')
    for n in range(rounds):
        word = t.word(TOOLS[tool].replace('@', f'{t.folder}/{tool}'))
        child = commands.start([user('x86_64'), '-plugin', word, program], stdin=subprocess.PIPE)
        child.stdout.readline()
        child.stdin.close()
        child.stdin = None
        done = t.finish(child)
        need(done.status == STATUS, f'end {n}:', done)


def test_calls(t):
    check(t, 'uftrace')


def test_etrace(t):
    check(t, 'etrace')


def test_execlog(t):
    check(t, 'execlog', 30)


def test_events(t):
    check(t, 'events', user=qemus.user_with_registers)


if __name__ == '__main__':
    sys.exit(functions.main(globals(), PluginTest))
