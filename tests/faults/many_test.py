#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Many threads, at once and one after the other; recursion deeper than what is recorded or followed."""
import resource
import shutil

from gttest.paths import LONG
from gttest.results import need
from runs import COMPACT, calls_of, expect, main, trace_of


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


def check_threads(t, mode, n):
    run = t.both(t.guest('many'), [mode, str(n)], status=4, preexec_fn=few_files)
    need(run.out == b'%d calls\n' % (4 * n), run.out)
    expect(run)
    t.check(t.out, readers=False)
    stats = trace_of(t.out).stats
    need(stats['lost_records'] == 0 and stats['tasks'] == n + 1, stats)
    need(calls_of(t.out, 'leaf') == 4 * n, 'calls of leaf')
    need('nothing to repair' in t.repair(t.out), 'it needed a repair')


def test_together(t):
    check_threads(t, 'together', 4000 if LONG else 1000)


def test_sequence(t):
    check_threads(t, 'sequence', 20000 if LONG else 1000)


BEYOND = r'(\d+) calls deeper than depth= records: followed, not recorded'
TOO_DEEP = r'(\d+) calls deeper than can be followed: not recorded'


def check_depth(t, depth, plugin, recorded, *said):
    """Every call is recorded or told."""
    out = f'{t.out}-{depth}-{recorded}'
    run = t.both(t.guest('deep'), [str(depth)], status=8, plugin=plugin, out=out)
    expect(run, *said)
    t.check(out, readers=depth <= 100000)
    trace = trace_of(out)
    depths = [(d, n) for tid in trace.tids() for (kind, d, _), n in trace.counts(tid).items()
              if kind == 'enter']
    entered, deepest = sum(n for _, n in depths), max(d for d, _ in depths)
    need(deepest == recorded - 1, 'deepest', deepest)
    told = {pattern: int(line.split()[0]) for pattern, line in zip(said, run.said)}
    need(entered + told.get(BEYOND, 0) == trace.stats['calls_tracked'], entered, told, trace.stats)
    need(entered + sum(told.values()) > 2 * (depth + 1), entered, told)
    if not COMPACT:
        shutil.rmtree(out)


def test_depth(t):
    check_depth(t, 100000, [], 1024, BEYOND)
    check_depth(t, 100000, ['depth=10'], 10, BEYOND)
    check_depth(t, 500, ['depth=600'], 503)


def test_too_deep(t):
    check_depth(t, 1100000, [], 1024, TOO_DEEP, BEYOND)
    if LONG:
        check_depth(t, 1100000, ['depth=1048576'], 1024, TOO_DEEP)


if __name__ == '__main__':
    main(globals())
