#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One boot, recorded with QEMU's word for each interrupt and exception, and without: on a clock that
counts instructions both are the same boot, and must be the same recording.

usage: same_test.py ARCH SERIES      SERIES of QEMU: 11.1, the first that tells

"The same" means: as many tasks, the same calls and returns in each in the same order and depth, the
same times but for few that an idle machine's clock moves by some instructions. Different may be only

- x86_64, until the kernel has its final vectors: those of the BIOS and Linux's first ones may stand
  anywhere, and are not recognised without being told. There few calls may differ (FEW), and what is
  left open then makes all that follows deeper or less deep;
- the last moment: QEMU runs on for some instructions after the machine was told to power off.

QEMU itself is not always on time: where the two differ they are recorded again.
"""
import collections
import os
import shutil
import sys

from gttest import boots, paths, qemus
from gttest.paths import GUESTTRACE
from gttest.recordings import converse
from gttest.results import Failure, in_folder, need, read_bytes, write

FIXED = ['-smp', '1', '-icount', 'shift=3,sleep=off', '-rtc', 'base=2020-01-01,clock=vm',
         '-seed', '1']
TRIES = 3
LAST_MOMENT = 10000  # instructions
LATER = 0.01         # of all records
FEW = 0.0001         # of all calls


def run(line, folder):
    write(f'{folder}/console', b'')
    done = converse(line)
    said = read_bytes(f'{folder}/console')
    need(done.returncode == 0 and b'GUEST ENDS' in said, 'status', done.returncode, said[-1000:],
         done.stderr)


def record_both(arch, series, folder):
    """Folders of the two; the map of code is the same."""
    told, untold = f'{folder}/told', f'{folder}/untold'
    for out in told, untold:
        shutil.rmtree(out, ignore_errors=True)
    line = boots.command(arch, qemus.of_series(arch, series), folder, options=FIXED)
    line[line.index('stdio')] = f'file:{folder}/console'
    run([GUESTTRACE, 'record', '-q', '--format', 'uftrace', '-o', told, '--', *line], folder)
    plugin = f'{paths.plugin("uftrace")},output={untold},discontinuities=off'
    if os.path.exists(f'{told}/code.map'):
        plugin += f',code={told}/code.map'
    run([line[0], '-plugin', plugin, *line[1:]], folder)
    return told, untold


def count(out, end):
    """{address: calls before a time}"""
    found = collections.Counter()
    for addr, calls, _ in boots.tool('count', out, '0', str(end)):
        found[addr] += int(calls)
    return found


def early(boot, untold, end):
    calls = count(boot.out, end)
    total = sum(calls.values())
    calls.subtract(count(untold, end))
    differ = {boot.name(int(addr, 16)): n for addr, n in calls.items() if n}
    print(f'{total} calls before {end}, other numbers of', dict(list(differ.items())[:20]))
    wrong = sum(map(abs, differ.values())) > FEW * total
    return ['too many calls differ before that'] if wrong else []


def differences(arch, told, untold):
    boot = boots.Boot(told)
    other = boots.Boot(untold)
    need(boot.tasks.keys() == other.tasks.keys(), 'tasks',
         sorted(boot.tasks.keys() ^ other.tasks.keys()), 'are only in one of the two')
    begin = boot.calls_of('rest_init')[0][0] if arch == 'x86_64' else 0
    end = max(last for _, _, last, _ in boot.tasks.values()) - LAST_MOMENT
    found, total, moved = early(boot, untold, begin), 0, 0
    for tid, *numbers in boots.tool('same', told, untold, str(begin)):
        n, m, same, time, later, most = map(int, numbers)
        total, moved = total + same, moved + later
        if time and time < end:
            found.append(f'task {tid}: of {n} and {m} records {same} are the same, to {time}')
        if most > LAST_MOMENT:
            found.append(f'task {tid}: a record is {most} instructions later')
    if moved > LATER * total:
        found.append(f'{moved} of {total} records have other times')
    if not found:
        print(f'good: {total} records of {len(boot.tasks)} tasks, {moved} at other times')
        anomalies = {k: (v, other.stats[k]) for k, v in boot.stats.items() if v != other.stats[k]}
        print('told and untold:', anomalies)
    return found


def check(arch, series, folder):
    for attempt in range(TRIES):
        found = differences(arch, *record_both(arch, series, folder))
        if not found:
            return
        print(f'attempt {attempt}:', *found[:10], sep='\n  ')
    raise Failure('the two are different')


def main():
    arch, series = sys.argv[1:]
    return in_folder(f'same-{arch}', lambda folder: check(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
