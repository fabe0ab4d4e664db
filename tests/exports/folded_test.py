#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Folded stacks are those of uftrace's `dump --flame-graph`.

uftrace prints how often each path was called; with --sample-time 1ns, how long its last function ran itself. (Where
info says how long the recording took, as uftrace's own does, it prints samples instead of calls.) It adds up all tasks:
so do we here, after process and task are taken off.
"""
import collections
import sys

import programs
from formats_test import export
from gttest import boards, commands, functions, paths, qemus
from gttest.compilers import compile_to
from gttest.recordings import record, symbols
from gttest.results import need, same
from gttest.uftrace_text import bare


def uftrace_stacks(directory, *options):
    sums = collections.Counter()
    uftrace = commands.tool('uftrace')
    text = commands.printed([uftrace, 'dump', '--flame-graph', '--no-pager', *options, '-d', directory])
    for line in text.splitlines():
        stack, _, value = line.rpartition(' ')
        sums[';'.join(map(bare, stack.split(';')))] += int(value)
    return +sums


def our_stacks(directory, form, *options):
    sums = collections.Counter()
    for line in export(form, directory, *options).decode().splitlines():
        stack, _, value = line.rpartition(' ')
        sums[stack.split(';', 2)[2]] += int(value)
    return sums


TIMES = ('folded', ['--sample-time', '1ns'])
CALLS = ('folded-calls', [])


def check(directory, name, forms=(TIMES, CALLS)):
    for form, words in forms:
        theirs, ours = uftrace_stacks(directory, *words), our_stacks(directory, form, '--wall')
        need(len(theirs) > 20, len(theirs), 'stacks')
        same('\n'.join(f'{s} {n}' for s, n in sorted(ours.items())),
             '\n'.join(f'{s} {n}' for s, n in sorted(theirs.items())), f'{name}, {form}:')


def test_recursion(t):
    check(programs.recorded(t.folder, 'recursion', '--clock', 'insn'), 'recursion')


def test_threads(t):
    check(programs.recorded(t.folder, 'threads'), 'threads')


def test_fork(t):
    check(programs.recorded(t.folder, 'fork'), 'fork')


def test_machine(t):
    """Threads that wait for each other: what they wait is not in what ran; with --wall it is linux:schedule."""
    machine = boards.build_kernel('aarch64', t.folder, paths.source('machine', 'cases', 'threads.c'))
    directory = f'{t.folder}/machine'
    record(directory, [], machine.command(qemus.find('aarch64')[0][1]))
    symbols(directory, machine.elf)
    check(directory, 'machine')
    stacks = our_stacks(directory, 'folded', '--wall')
    need(any(s.endswith(';linux:schedule') for s in stacks), 'nothing waits')
    ran = {s: n for s, n in stacks.items() if not s.endswith(';linux:schedule')}
    need(our_stacks(directory, 'folded') == ran, 'what ran')


def test_recorded_by_uftrace(t):
    program, directory = f'{t.folder}/program', f'{t.folder}/data'
    compile_to(program, 'x86_64', paths.source('truth', 'programs', 'recursion.c'), '-O1', '-pg')
    # without --no-event: after a pre-emption its flame graph has one caller too few from there on
    commands.must([commands.tool('uftrace'), 'record', '--no-event', '--no-pager', '-d', directory, program])
    check(directory, 'uftrace', [TIMES])


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
