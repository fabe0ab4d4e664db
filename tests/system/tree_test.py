#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records a machine that runs nothing but a known tree of calls, on each QEMU there is.

usage: tree_test.py ARCH

The program is tree/tree.c with tree/start_ARCH.S. Names come from `guesttrace symbols` after the run.
"""
import functools
import itertools
import re
import sys

from gttest import boards, paths, qemus, uftrace
from gttest.recordings import check_directory, record, record_files, symbols
from gttest.results import need, same_lines

ALIAS = 0x8000000000

# Where the recorder knows no functions while the machine runs, a tail call is the caller's. Calls
# deeper than 1024 are not recorded.
DEPTH = 1024
STARTS = ('_start', 'start_other')
BEFORE = """\
run_tree
  leaf
  chain
    chain
      chain
        chain
          leaf
  red
  green
    leaf
  blue
    red
    green
      leaf
  is_even
    is_odd
      is_even
        is_odd
          is_even
  early
    leaf
    leaf
  early
  early
    leaf
  early
  twice
    twice
      twice
        twice
        twice
      twice
    twice
      twice
      twice
  leap
    leaf
"""
WAKE = """\
  wake_other
"""
AFTER = ''.join('  ' * depth + 'deep\n' for depth in range(1, 1024)) + """\
  leaf
"""
OTHER = """\
run_other
  chain
    chain
      chain
        leaf
  is_even
    is_odd
      is_even
        is_odd
  twice
    twice
    twice
"""
ALIASES = """\
run_aliases
  known
  seldom
    known
    known
  seldom
    known
    known
"""


def starts(lines):
    """What the program begins with: recorded where something jumps there, to a function that is known."""
    return list(itertools.takewhile(lambda line: line in STARTS, lines))


def check_tree(trace, tid, expected, known=False):
    """`known`: the functions were while the machine ran."""
    lines = trace.tree(tid)
    if known:
        expected = expected.replace('  leap\n', '  leap\n  landed\n')
    wanted = expected.splitlines()
    if known and starts(lines):
        wanted = [*starts(lines),
                  *('  ' + line for line in wanted if not line.startswith('  ' * (DEPTH - 1)))]
    same_lines(lines, wanted, f'task {tid}: the calls')


def check_counters(trace, known=False, allowed=()):
    """No anomalies; the recursion goes deeper than is recorded. What jumped on does not return."""
    for key, value in trace.stats.items():
        if key.startswith(('anomaly.', 'count.')) and key.partition('.')[2] not in (*allowed, 'beyond-depth'):
            need(value == 0, f'{key} is {value}')
    left = known
    for tid in trace.tids():
        left += len(starts(trace.tree(tid)))
    need(trace.stats['calls_tracked'] == trace.stats['matched'] + left, 'calls that were followed and matched returns:', trace.stats)


def check_one(machine, qemu, out):
    """One vCPU: symbols after the run; the same bytes in a second run. Returns those."""
    done = record(out, [], machine.command(qemu))
    need(re.search(rb'all [\d,]+ returns matched their calls', done.stderr), 'the summary says', done.stderr)
    bare = uftrace.Trace(out)
    known = machine.elf in machine.command(qemu)  # functions are named from QEMU's command line
    if known:
        check_tree(bare, 1, BEFORE + AFTER, True)
    else:
        need(all(l.strip().startswith('0x') for l in bare.tree(1)),
             'functions without a symbol are not shown by address')
    check_directory(out)
    symbols(out, machine.elf)
    trace = uftrace.Trace(out)
    need(trace.tids() == [1], 'tasks', trace.tids())
    check_tree(trace, 1, BEFORE + AFTER, known)
    check_counters(trace, known)
    check_directory(out)
    first = record_files(out)
    record(out, ['-q', '--clock', 'insn'], machine.command(qemu))
    need(record_files(out) == first, 'a second run recorded other bytes')
    record(out, ['-q', '--symbols', machine.elf], machine.command(qemu))
    check_tree(uftrace.Trace(out), 1, BEFORE + AFTER, True)
    return first


def check_two(machine, qemu, out):
    record(out, ['--symbols', machine.elf], machine.command(qemu, '-smp', '2'))
    trace = uftrace.Trace(out)
    need(trace.tids() == [1, 2], 'tasks', trace.tids())
    check_tree(trace, 1, BEFORE + WAKE + AFTER, True)
    check_tree(trace, 2, OTHER, True)
    check_counters(trace, True)
    check_directory(out)


def check_aliases(machine, qemu, out):
    """QEMU 8.0 and later share blocks: their code belongs to where its page was first seen."""
    record(out, ['-q'], machine.command(qemu))
    symbols(out, machine.elf, f'{machine.elf}:{ALIAS:#x}')
    trace = uftrace.Trace(out)
    check_tree(trace, 1, BEFORE + AFTER + ALIASES)
    check_counters(trace)
    places = {call.addr >> 39 for call in trace.records(1)}
    shared = qemus.number_of(qemu) >= (8, 0)
    need(places == ({0} if shared else {0, 1}), 'code ran at', places)
    check_directory(out)


def check_qemu(arch, machines, qemu, folder):
    one, two, aliases = machines
    recorded = check_one(one, qemu, f'{folder}/one')
    check_two(two, qemu, f'{folder}/two')
    if arch == 'x86_64':
        check_aliases(aliases, qemu, f'{folder}/aliases')
    return recorded


def build(arch, folder):
    sources = [paths.source('system', 'tree', f'start_{arch}.S'), paths.source('system', 'tree', 'tree.c')]
    return [boards.build(arch, name, folder, sources, *defines) for name, defines in (
        ('one', ['-DVCPUS=1']), ('two', ['-DVCPUS=2']), ('aliases', ['-DALIASES']))]


def check(arch, before, version, qemu, folder, machines):
    recorded = check_qemu(arch, machines, qemu, folder)
    # The last record may be of a call that the power-off ended, some instructions sooner or later.
    before[version] = {tid: data[:-16] for tid, data in recorded.items()}
    first = next(iter(before))
    need(before[version] == before[first], 'not the bytes that', first, 'recorded')


def main():
    arch = sys.argv[1]
    return qemus.on_each(arch, f'tree-{arch}', functools.partial(build, arch),
                         functools.partial(check, arch, {}))


if __name__ == '__main__':
    sys.exit(main())
