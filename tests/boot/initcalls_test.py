#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`guesttrace report --by initcall` has what the kernel itself prints with initcall_debug, of the same boot: the same functions
in the same order, with their results; with -icount the guest's clock counts instructions, as the recording's, so the times
are equal as well.

usage: initcalls_test.py KERNEL SERIES

KERNEL: as for scripts/kernels. SERIES of QEMU: 10.0, 11.1.
"""
import json
import re
import sys

from gttest import boots, paths, qemus
from gttest.commands import printed
from gttest.results import equal, in_folder, need

LINE = re.compile(r'initcall (\S+?)\+0x\S+(?: \[\w+\])? returned (-?\d+)(?: with [\w ]+)? after (\d+) usecs')
# Until then the kernel's clock has steps of some ms.
CLOCK = 'Switched to clocksource'
STEP = 1000, 300  # ns: the kernel prints whole microseconds; what it calls before it reads its clock, and after
EXACT, NEAR = 0.9, 0.1  # so many are as near as that; the others, which access devices, within so much of their time


def check(kernel, series, folder):
    arch = boots.arch_of(kernel)
    line = boots.command(kernel, qemus.of_series(arch, series), folder, 'true', append='initcall_debug loglevel=8 log_buf_len=2M',
                         options=['-icount', 'shift=0,sleep=off'])
    out = f'{folder}/boot.gtrace'
    said = boots.record(out, line, ['-R', 'do_one_initcall@retval/i32'])
    rows = json.loads(printed([paths.GUESTTRACE, 'report', '--no-pager', '--by', 'initcall', '-s', 'begin', '--json', out]))['rows']
    told = LINE.findall(said)
    need(len(told) > 300, 'the guest prints only', len(told), 'initcalls')
    equal([row['initcall'] for row in rows], [name for name, _, _ in told], 'initcalls')
    results = [(row['initcall'], row['result']) for row in rows if 'result' in row]
    equal(results, [(name, result) for name, result, _ in told[len(rows) - len(results):]], 'results')
    need(len(rows) - len(results) < 8, 'there are results of', len(results), 'of', len(rows))  # console_init has none
    fine = LINE.findall(said[said.index(CLOCK):])[1:]  # the first one is the initcall that switches
    need(len(fine) > 200, len(fine), 'initcalls after', CLOCK)
    exact = 0
    for row, (name, _, usecs) in zip(rows[-len(fine):], fine):
        off = int(usecs) * 1000 - row['wall_ns']
        exact += -STEP[0] < off < STEP[1]
        need(-STEP[0] - NEAR * row['wall_ns'] < off < STEP[1] + NEAR * row['wall_ns'], name, 'took', usecs, 'us, but', row)
        equal(row['wall_ns'], row['total_ns'] + row['slept_ns'], name)
    need(exact > EXACT * len(fine), 'only', exact, 'of', len(fine), 'times are equal')
    need(sum(row['slept_ns'] > 0 for row in rows) > 5, 'no initcall has slept')
    print(f'good: {len(rows)} initcalls, {len(fine)} of them with their times, {exact} equal')


def main():
    kernel, series = sys.argv[1:]
    return in_folder(f'initcalls-{kernel}', lambda folder: check(kernel, series, folder))


if __name__ == '__main__':
    sys.exit(main())
