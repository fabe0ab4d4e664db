#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments of a stock kernel's function are those that a kprobe event inside the guest prints.

usage: kprobes_test.py ARCH SERIES

The position of vfs_read is an address on a stack whose place is random at each system call: so calls are told apart.
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
echo 1 > /t/events/kprobes/reads/enable
cat /proc/version > /dev/null
head -c 777 /proc/kallsyms > /dev/null
wc -c < /bin/busybox
echo 0 > /t/events/kprobes/reads/enable
sed -n 's/.*reads: .*file=/PROBE file=/p' /t/trace'''
FUNCTION = '^vfs_read$'


def check(arch, series, folder):
    line = boots.command(arch, qemus.of_series(arch, series), folder, COMMANDS)
    done = record(f'{folder}/data', ['-q', '-A', f'{FUNCTION}@auto-args', '-F', FUNCTION, '-D', '1'], line)
    said = done.stdout.decode(errors='replace')
    probed = collections.Counter(tuple(int(n, 16) for n in found) for found in re.findall(
        r'PROBE file=(0x[0-9a-f]+) count=(0x[0-9a-f]+) pos=(0x[0-9a-f]+)', said))
    need(sum(probed.values()) > 50, 'the guest says', said[-2000:], done.stderr)
    recorded = collections.Counter()
    for _, arguments, _ in values_test.calls(f'{folder}/data'):
        found = re.match(r'file=(0x[0-9a-f]+).*, count=(\d+), pos=(0x[0-9a-f]+)$', arguments)
        if found:
            recorded[int(found[1], 16), int(found[2]), int(found[3], 16)] += 1
    lost = probed - recorded
    need(not lost, f'{sum(lost.values())} of {sum(probed.values())} calls are not recorded so:', list(lost)[:5])
    print(f'good: {sum(probed.values())} calls')


def main():
    arch, series = sys.argv[1:]
    return in_folder(f'kprobes-{arch}', lambda folder: check(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
