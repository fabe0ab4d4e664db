#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A program with threads ends while they make system calls. QEMU frees what plugins have subscribed to then, which such a
thread may be reading: its exit status is the program's all the same. It was a crash in one of a hundred ends, and where
abort() ends it in one of fifty."""
import resource
import signal
import subprocess
import sys

from gttest import commands, compilers, functions, paths, qemus
from gttest.plugin_runs import PluginTest
from gttest.results import need, write

STATUS = 42
TOOLS = {'uftrace': 'output=@', 'etrace': 'output=@', 'execlog': 'out=@,ifilter=nop', 'events': 'guest-events=@.events,trace-file=@'}


def check(t, tool, rounds=100, user=qemus.user, arch='x86_64', how=(), status=STATUS):
    t.plugin = tool
    program = compilers.compile_to(f'{t.folder}/ends', arch, paths.source('control', 'guests', 'ends.c'), '-O1', '-static',
                                   '-pthread')
    write(f'{t.folder}/events.events', b'work(void) ""\n')
    for n in range(rounds):
        word = t.word(TOOLS[tool].replace('@', f'{t.folder}/{tool}'))
        child = commands.start([user(arch), '-plugin', word, program, *how], stdin=subprocess.PIPE)
        child.stdout.readline()
        child.stdin.close()
        child.stdin = None
        done = t.finish(child)
        need(done.status == status and 'QEMU internal' not in done.errors, f'end {n}:', done)


def test_calls(t):
    check(t, 'uftrace')


def test_etrace(t):
    check(t, 'etrace')


def test_execlog(t):
    check(t, 'execlog', 30)


def test_events(t):
    check(t, 'events', user=qemus.user_with_registers)


def signalled(t, tool, rounds, arch='x86_64'):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for how, by in ('abort', signal.SIGABRT), ('fault', signal.SIGSEGV), ('kill', signal.SIGKILL):
        check(t, tool, rounds if how == 'abort' else 5, arch=arch, how=[how], status=-by)


def test_signals_calls(t):
    signalled(t, 'uftrace', 60)


def test_signals_etrace(t):
    signalled(t, 'etrace', 60)


if __name__ == '__main__':
    sys.exit(functions.main(globals(), PluginTest))
