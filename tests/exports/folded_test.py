#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Folded stacks are those of uftrace's `dump --flame-graph`.

uftrace prints how often each path was called; with --sample-time 1ns, how long its last function ran itself. It
adds up all tasks: so do we here, after process and task are taken off.
"""
import collections
import sys

import programs
from formats_test import export
from gttest import commands, functions
from gttest.results import need, same


def uftrace_stacks(directory, *options):
    sums = collections.Counter()
    uftrace = commands.tool('uftrace')
    text = commands.printed([uftrace, 'dump', '--flame-graph', '--no-pager', *options, '-d', directory])
    for line in text.splitlines():
        stack, _, value = line.rpartition(' ')
        sums[stack] += int(value)
    return +sums


def our_stacks(directory, form):
    sums = collections.Counter()
    for line in export(form, directory).decode().splitlines():
        stack, _, value = line.rpartition(' ')
        sums[stack.split(';', 2)[2]] += int(value)
    return sums


def check(t, name, *options):
    directory = programs.recorded(t.folder, name, *options)
    for form, words in ('folded-calls', []), ('folded', ['--sample-time', '1ns']):
        theirs, ours = uftrace_stacks(directory, *words), our_stacks(directory, form)
        need(len(theirs) > 20, len(theirs), 'stacks')
        same('\n'.join(f'{s} {n}' for s, n in sorted(ours.items())),
             '\n'.join(f'{s} {n}' for s, n in sorted(theirs.items())), f'{name}, {form}:')


def test_recursion(t):
    check(t, 'recursion', '--clock', 'insn')


def test_threads(t):
    check(t, 'threads')


def test_fork(t):
    check(t, 'fork')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
