#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments and results of a stock kernel's functions are those that kprobe and kretprobe events inside the guest print.

usage: kprobes_test.py ARCH SERIES

The position of vfs_read is an address on a stack whose place is random at each system call: so calls are told apart.
i386's kernel has no types of its functions: there the arguments are asked for, by its convention (regparm),
and results are not compared: its threads are not all told apart.
The results are those of their callers, which return them: a kretprobe makes its function return elsewhere, and such a return
has no value.
"""
import collections
import re
import sys

import values_test
from gttest import boots, qemus
from gttest.recordings import record
from gttest.results import in_folder, need

COMMANDS = '''mkdir -p /t
mount -t tracefs t /t
echo 'p:reads vfs_read file=$arg1 count=$arg3 pos=$arg4' > /t/kprobe_events
echo 'r:opened SYS_openat ret=$retval:SIGNED' >> /t/kprobe_events
echo 'r:got ksys_read ret=$retval:SIGNED' >> /t/kprobe_events
echo 1 > /t/events/kprobes/enable
cat /proc/version > /dev/null
head -c 777 /proc/kallsyms > /dev/null
wc -c < /bin/busybox
cat /no/such/file /
for i in 1 2 3; do test -r /proc/$i/stat && head -c $((i * 5)) /proc/$i/stat > /dev/null; done
echo 0 > /t/events/kprobes/enable
sed -n -E 's/.* (opened|got): .*ret=/RET \\1 /p' /t/trace
sed -n 's/.*reads: .*file=/PROBE file=/p' /t/trace'''
ENTRIES = {'aarch64': '__arm64_sys_', 'x86_64': '__x64_sys_', 'i386': '__ia32_sys_'}
OTHERS_MOST = 16  # calls of a function between two system calls'
FUNCTIONS = '^(vfs_read|do_sys_openat2)$'
BY_TYPES = ['-A', f'{FUNCTIONS}@auto-args', '-F', FUNCTIONS, '-D', '1']
ASKED = ['-A', 'vfs_read@arg1/x,arg3/u,arg4/x', '-R', f'{FUNCTIONS}@retval/d', '-F', FUNCTIONS, '-D', '1']


def check(arch, series, folder):
    commands = COMMANDS.replace('SYS_', ENTRIES[arch]).replace('SIGNED', 's32' if arch == 'i386' else 's64')
    line = boots.command(arch, qemus.of_series(arch, series), folder, commands)
    done = record(f'{folder}/data', ['-q', *(ASKED if arch == 'i386' else BY_TYPES)], line)
    said = done.stdout.decode(errors='replace')
    probed = collections.Counter(tuple(int(n, 16) for n in found) for found in re.findall(
        r'PROBE file=(0x[0-9a-f]+) count=(0x[0-9a-f]+) pos=(0x[0-9a-f]+)', said))
    need(sum(probed.values()) > 50, 'the guest says', said[-2000:], done.stderr)
    found = values_test.calls(f'{folder}/data')
    recorded = collections.Counter()
    for _, arguments, _ in found:
        read = re.match(r'(?:file=)?(0x[0-9a-f]+).*, (?:count=)?(\d+), (?:pos=)?(0x[0-9a-f]+|0)$', arguments)
        if read:
            recorded[int(read[1], 16), int(read[2]), int(read[3], 16)] += 1
    lost = probed - recorded
    need(not lost, f'{sum(lost.values())} of {sum(probed.values())} calls are not recorded so:', list(lost)[:5])
    if arch == 'i386':
        print(f'good: {sum(probed.values())} calls')
        return
    opened = check_results(said, 'opened', 'do_sys_openat2', found)
    got = check_results(said, 'got', 'vfs_read', found)
    print(f'good: {sum(probed.values())} calls, {opened} and {got} results')


def lost_from(results, probed):
    """How many of the probed results are missing in those that were recorded, of which some are no system call's; None: the
    others are not there in their order."""
    at = lost = 0
    for result in probed:
        near = results[at:at + OTHERS_MOST]
        if result not in near and None not in near:
            return None
        lost += result not in near
        at += near.index(result if result in near else None) + 1
    return lost


def check_results(said, event, function, found):
    """Those of the events are those that were recorded, in their order, but for calls whose return an interrupt follows at
    once, which have none; how many there are."""
    probed = [int(n) for n in re.findall(rf'RET {event} (-?\d+)', said)]
    need(len(probed) > 10 and len(set(probed)) > 1, f'{event}: the guest says', probed)
    results = [int(result) if result else None for name, _, result in found if name == function]
    lost = [n for n in (lost_from(results[i:], probed) for i in range(len(results))) if n is not None]
    need(lost and min(lost) <= len(probed) // 50, f'{function}: the guest says', probed, 'recorded are', results)
    return len(probed) - min(lost)


def main():
    arch, series = sys.argv[1:]
    return in_folder(f'kprobes-{arch}', lambda folder: check(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
