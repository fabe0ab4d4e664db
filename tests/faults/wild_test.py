#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Code that no compiler makes: smashed stacks, jumps into instructions, code that writes itself, random
bytes. The guest runs as without the plugin, every stack is whole, and anomalies are counted and reported."""
import re
import resource
import shutil

from gttest import uftrace
from gttest.paths import LONG
from gttest.results import Failure, Skip, need
from runs import calls_of, main, sanitizers

SEEDS = range(1, 31 if LONG else 3)
ANOMALY = re.compile(r'(\d+) [a-z].*')


def both(t, args, tries=3):
    """What wild code does depends on where things lie, which is chance: now and then it tears the
    guest's own net, with the plugin or without it. Not twice in a row."""
    for left in reversed(range(tries)):
        try:
            return t.both(t.guest('wild'), args, status=3)
        except Failure as bad:
            if not left:
                raise
            print(f'{args}, once more: {bad}')
            shutil.rmtree(t.out, ignore_errors=True)


def wild(t, mode, n, seed=1):
    t.out = f'{t.folder}/{mode}-{seed}'
    run = both(t, [mode, str(n), str(seed)])
    need(all(ANOMALY.fullmatch(line) for line in run.said), run.said)
    t.check_all(readers=seed == 1)
    stats = uftrace.Trace(t.out).stats
    told = sorted(int(ANOMALY.fullmatch(line)[1]) for line in run.said)
    counted = sorted(v for k, v in stats.items() if k.startswith('anomaly.') and v)
    need(told == counted, told, stats)
    leaves = calls_of(t.out, 'leaf')
    need(leaves >= n, f'{leaves} calls of leaf, {n} made')
    shutil.rmtree(t.out)
    return told


def test_smash(t):
    wild(t, 'smash', 300)


def test_astray(t):
    """A return to where nobody called from, 300 times."""
    need(wild(t, 'astray', 300) == [300], 'anomalies')


def test_middle(t):
    wild(t, 'middle', 300)


def test_modify(t):
    wild(t, 'modify', 300)


def test_garbage(t):
    wild(t, 'garbage', 300)


def test_random(t):
    for seed in SEEDS:
        wild(t, 'random', 100, seed)


def test_calls(t):
    for seed in SEEDS:
        wild(t, 'calls', 40, seed)


def test_address_space(t):
    """Where addresses are limited (RLIMIT_AS) the plugin leaves enough of them for QEMU: 24 MiB over
    the least that runs without it."""
    if sanitizers():
        raise Skip('a plugin with sanitizers needs terabytes of addresses')

    def limited(size):
        return {'preexec_fn': lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))}
    guest = t.guest('deep')
    least = next(size for size in range(100 << 20, 1 << 30, 4 << 20)
                 if t.plain(guest, ['3'], **limited(size)).status == 8)
    print(f'least: {least >> 20} MiB')
    t.both(guest, ['3'], status=8, **limited(least + (24 << 20)))
    t.check_all()
    out = f'{t.folder}/no-guest'
    t.traced(guest, ['3'], out=out, **limited(least + (4 << 20)))
    t.traced(guest, ['3'], out=out)
    need(calls_of(out, 'down') == 8, 'the next recording is refused')


if __name__ == '__main__':
    main(globals())
