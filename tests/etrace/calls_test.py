#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of an etrace stream: `report`, `replay` and `info` say of it what `convert` does, which reconstructs
the same calls."""
import collections
import json

from gttest.commands import printed, run
from gttest.paths import GUESTTRACE
from gttest.results import need
from runs import main


def record(t):
    guest = t.build('sums.c', 'x86_64', '-O1', '-fno-inline', '-static')
    done = t.finish(t.user('x86_64', guest, ''))
    need(done.status == 42, done.errors)
    return guest


def folded(t, guest):
    """{function: time it spent itself}, and the stacks."""
    text = printed([GUESTTRACE, 'etrace', 'export', '-f', 'folded', '--no-demangle', '-e', guest, t.out])
    spent, stacks = collections.Counter(), []
    for line in text.splitlines():
        stack, time = line.rsplit(' ', 1)
        stacks.append(stack.split(';'))
        spent[stacks[-1][-1]] += int(time)
    return spent, stacks


def report(t, guest, *options):
    text = printed([GUESTTRACE, 'report', '--json', '--no-demangle', '-e', guest, *options, t.out])
    return json.loads(text)['rows']


def test_report(t):
    guest = record(t)
    spent, stacks = folded(t, guest)
    rows = report(t, guest)
    # setjmp() and its like are written so that uftrace does not take them for what they are
    ours = {r['function'].removesuffix('()'): r['self_ns'] for r in rows if r['self_ns']}
    need(ours == {name: time for name, time in spent.items() if time}, sorted(ours.items() ^ spent.items())[:5])
    calls = {r['function']: r['calls'] for r in rows}
    need(calls['main'] == 1, calls['main'], 'calls of main')
    need(any('main' in stack[:-1] for stack in stacks), 'main calls nobody')


def test_task(t):
    """A unit of the stream is a task."""
    guest = record(t)
    text = printed([GUESTTRACE, 'info', '-e', guest, t.out])
    need('CPU 0' in text and 'etrace' in text, text)
    need(report(t, guest, '--task', 'CPU 0') == report(t, guest), 'the task is not all')


def test_no_programs(t):
    """Without programs code has its address for a name, and no callers."""
    record(t)
    done = run([GUESTTRACE, 'report', '--json', t.out])
    need(done.returncode == 0 and json.loads(done.stdout)['rows'], done.stderr)


def test_wrong_program(t):
    record(t)
    done = run([GUESTTRACE, 'report', '-e', '/bin/true', t.out])
    need(done.returncode != 0 and done.stderr, done.returncode, done.stdout[:200])


if __name__ == '__main__':
    main(globals())
