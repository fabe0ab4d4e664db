#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Values are those of the call that they stand at: tail calls, longjmp, exceptions, signals at any time, threads.

usage: arguments_flow_test.py [ARCH...]

Each call of the guest has a number as its argument, and a result made of it: as the guest prints them, so they must be in
the recording, or a result is absent. Needs a user-mode QEMU 9.0 or later that loads plugins (scripts/qemus user).
"""
import collections
import os
import re
import sys

from gttest import packed, paths, qemus, splits
from gttest.commands import must, printed
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.results import Tally, folder, need

SET_OF = 'x86_64'  # how a recording is cut into files has nothing of the architecture
NAMES = ['leaf', 'tail_to', 'tail_from', 'thrower', 'catcher', 'jumper', 'lander', 'handled', 'rec']
VALUES = [f"{option}=^({'|'.join(NAMES)})$@{items}" for option, items in
          (('argument', 'arg1/d64,,arg2/d64'), ('retval', 'retval/d64'))]


def calls_of(out, *options):
    """Lines as the guest prints them, of all calls."""
    opened, calls = {}, []
    for line in printed([GUESTTRACE, 'replay', '--no-pager', '--flat', *options, out]).splitlines():
        m = re.match(r' *[\d.]+ +(\d+) +\d+ (enter|leave|open) +\S+ (\w+)(\(.*\))?(?: = (.*))?$', line)
        if not m:
            continue
        if m[2] == 'enter':
            opened.setdefault(m[1], []).append((m[3], m[4]))
            continue
        name, arguments = opened[m[1]].pop()
        need(name == m[3], f'{name} ends as {m[3]}')
        if name in NAMES:
            calls.append(f"{name}{arguments or '()'} = {m[5] or '?'}")
    return collections.Counter(calls)


def check(got, want, what):
    """A signal may come between a return and where it arrives: then there is no result."""
    lost = {re.sub('= .*', '= ?', line): line for line in want - got}
    absent = collections.Counter({lost[line]: n for line, n in (got - want).items() if line in lost})
    got = collections.Counter({line: n for line, n in got.items() if line not in lost}) + absent
    wrong = list((got - want).items())[:5], list((want - got).items())[:5]
    need(got == want, f'{what}: {sum(got.values())} calls, not {sum(want.values())}; only recorded, only called: {wrong}')
    signals = sum(line.startswith('handled') for line in want)
    need(len(absent) <= max(signals, 2), f'{what}: {len(absent)} results are absent, with {signals} signals')


def second(line):
    return int(re.search(r', (-?\d+)\)', line)[1])


def test_program(arch, where):
    qemu = qemus.user_with_registers(arch)
    program = compile_to(os.path.join(where, 'flow'), arch, paths.source('guest', 'arguments_flow.cc'), '-O2', '-static',
                         '-pthread')

    def record(name, *options):
        out = os.path.join(where, name)
        plugin = ','.join([paths.plugin('uftrace'), f'output={out}', 'summary=off', *VALUES, *options])
        said = printed([qemu, '-plugin', plugin, program]).splitlines()
        return out, collections.Counter(line for line in said if re.match(r'\w+\(\d+, -?\d+\) = ', line))

    def those(said, test):
        return collections.Counter({line: n for line, n in said.items() if test(line)})

    for name, options in ('all', []), ('all.gtrace', ['format=compact']):
        out, said = record(name, *options)
        need(sum(said.values()) > 1500 and any(line.startswith('handled') and ', 14)' in line for line in said), said)
        check(calls_of(out), said, name)
        tails = [line for line in calls_of(out).elements() if line.startswith('tail_from')]
        need(sum(line.endswith('?') for line in tails) < len(tails) / 2, f'results of tail calls: {tails[:5]}')
    packed.check_there_and_back(os.path.join(where, 'all'), 'rec:arg1', 'leaf:retval')
    if arch == SET_OF:
        check_set(qemu, program, where)
    # Filters record the same of what they leave.
    out, said = record('held', 'filter=run', 'time-filter=1ns', 'hide=leaf')
    check(calls_of(out), those(said, lambda line: not line.startswith('leaf')), 'held back')
    out, said = record('if', 'filter=^(rec|jumper|tail_to)$@if:arg2==3', 'format=compact', 'depth=1')
    check(calls_of(out), those(said, lambda line: re.match('rec|jumper|tail_to', line) and second(line) == 3), 'if:')
    marks = record('marks', 'trigger=rec@mark=hit,,if:retval&7==3&&arg2>1')
    hits = len(re.findall(r'hit', printed([GUESTTRACE, 'replay', '--no-pager', marks[0]])))
    wanted = sum(1 for line in marks[1] if line.startswith('rec') and int(line.split('= ')[1]) & 7 == 3 and second(line) > 1)
    need(wanted - 5 <= hits <= wanted and wanted > 10, f'{hits} marks at returns, not {wanted}')


def check_set(qemu, program, where):
    """A recording in several files has the values that one file has, and gives the same directory. By size: how many of a run
    some time makes depends on when its blocks are written."""
    both = splits.Both(where, '64K', *VALUES)
    both.record(qemu, program, '1500')
    both.check(least=2, turn=0)
    for name in both.one, both.set:
        must([GUESTTRACE, 'export', '--format', 'uftrace', '-o', f'{name}.data', name])
    packed.check_same(f'{both.one}.data', f'{both.set}.data', 'rec:arg1', 'leaf:retval')
    need('rec(' in packed.said(f'{both.set}.data', 'replay', '--no-pager'), 'the directory of the set has no values')


def main():
    tally = Tally()
    for arch in sys.argv[1:] or ['x86_64', 'aarch64', 'riscv64']:
        with folder('arguments-flow') as where:
            tally.run(arch, test_program, arch, where)
    return tally.status()


if __name__ == '__main__':
    sys.exit(main())
