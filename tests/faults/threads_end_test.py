#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A program with threads ends while they make system calls. QEMU frees what plugins have subscribed to then, which such a
thread may be reading: its exit status is the program's all the same. It was a crash in one of a hundred ends, and where
abort() ends it in one of fifty. With GUESTTRACE_LONG so many runs on each QEMU that it would show."""
import itertools
import resource
import signal
import subprocess
import sys

from gttest import commands, compilers, functions, paths, qemus
from gttest.plugin_runs import PluginTest
from gttest.results import need, write

STATUS = 42
ROUNDS, ABORTS, OTHERS = (100, 60, 5) if paths.LONG else (15, 12, 2)
TOOLS = {'uftrace': 'output=@', 'etrace': 'output=@', 'execlog': 'out=@,ifilter=nop', 'events': 'guest-events=@.events,trace-file=@'}


def check(t, tool, rounds=ROUNDS, user=qemus.user, how=(), status=STATUS):
    t.plugin = tool
    program = compilers.compile_to(f'{t.folder}/ends', 'x86_64', paths.source('control', 'guests', 'ends.c'), '-O1', '-static',
                                   '-pthread')
    write(f'{t.folder}/events.events', b'work(void) ""\n')
    for n, qemu in itertools.product(range(rounds), qemus.users('x86_64') if paths.LONG and user == qemus.user else [user('x86_64')]):
        word = t.word(TOOLS[tool].replace('@', f'{t.folder}/{tool}'))
        child = commands.start([qemu, '-plugin', word, program, *how], stdin=subprocess.PIPE)
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
    check(t, 'execlog', 30 if paths.LONG else 8)


def test_events(t):
    check(t, 'events', user=qemus.user_with_registers)


def signalled(t, tool):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for how, by in ('abort', signal.SIGABRT), ('fault', signal.SIGSEGV), ('kill', signal.SIGKILL):
        check(t, tool, ABORTS if how == 'abort' else OTHERS, how=[how], status=-by)


def test_signals_calls(t):
    signalled(t, 'uftrace')


def test_signals_etrace(t):
    signalled(t, 'etrace')


if __name__ == '__main__':
    sys.exit(functions.main(globals(), PluginTest))
