#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The instruction clock of a thread begins where its creator called clone, whatever that has done since.

usage: creates_test.py
"""
import sys

from gttest import paths, qemus
from gttest.compilers import compile_to
from gttest.recordings import record
from gttest.results import equal, in_folder, need
from gttest.uftrace import Trace

RUNS = 5
NEAR = 50  # instructions: the first thread's creation and a free lock make a difference; a thread takes some 1,000


def begins(trace):
    """Of each thread in order, the instructions between its creator's call of create() and its own of work()."""
    first, *others = [{'create': [], 'work': [], **entries(trace, tid)} for tid in sorted(trace.tids())]
    need(len(first['create']) == len(others) > 10, first, len(others))
    return [other['work'][0] - time for time, other in zip(first['create'], others)], first['create']


def entries(trace, tid):
    found = {}
    for call in trace.records(tid):
        if call.kind == 'enter':
            found.setdefault(trace.name(tid, call.time, call.addr)[1], []).append(call.time)
    return found


def check(folder):
    qemu = qemus.user('x86_64')
    program = compile_to(f'{folder}/program', 'x86_64', paths.source('guest', 'creates.c'), '-O1', '-static', '-pthread')
    for run in range(RUNS):
        out = f'{folder}/{run}'
        record(out, ['-q', '--qemu', qemu, '--clock', 'insn', '--format', 'uftrace'], [program])
        taken, created = begins(Trace(out))
        loop = min(b - a for a, b in zip(created, created[1:]))
        need(loop > 4 * NEAR, 'creating a thread takes', loop)
        equal([t for t in taken[1:] if abs(t - taken[1]) > NEAR], [], f'run {run}: {taken}')


if __name__ == '__main__':
    sys.exit(in_folder('creates', check))
