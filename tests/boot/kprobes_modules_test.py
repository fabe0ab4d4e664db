#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments of functions of a stock kernel's modules, by the modules' BTF on top of the kernel's, are those that kprobe events
inside the guest print; structs of the kernel have what names them.

usage: kprobes_modules_test.py ARCH SERIES
"""
import collections
import re
import sys

import modules_test
import values_test
from gttest.recordings import record
from gttest.results import in_folder, need

COMMANDS = '''busybox mount -t devtmpfs dev /dev
busybox insmod /modules/brd.ko rd_nr=1 rd_size=4096
busybox insmod /modules/dummy.ko numdummies=1
busybox mkdir -p /t
busybox mount -t tracefs t /t
echo 'p:sends dummy:dummy_xmit skb=$arg1 dev=$arg2 name=+0($arg2):string' > /t/kprobe_events
echo 'p:submits brd:brd_submit_bio bio=$arg1' >> /t/kprobe_events
echo 1 > /t/events/kprobes/enable
busybox ip link set dummy0 up
busybox ifconfig dummy0 10.0.0.1
for i in 2 3 4; do busybox ping -c 1 -W 1 10.0.0.$i >/dev/null; done
busybox dd if=/dev/ram0 of=/dev/null bs=4k count=40 2>/dev/null
busybox dd if=/dev/zero of=/dev/ram0 bs=4k count=40 2>/dev/null
busybox sync
busybox ip link set dummy0 down
echo 0 > /t/events/kprobes/enable
busybox sed -n -E 's/.* (sends|submits): .*\\) /PROBE \\1 /p' /t/trace'''
FUNCTIONS = '^(dummy_xmit|brd_submit_bio)$'


def check(arch, series, folder):
    line, paths = modules_test.prepare(arch, series, folder, COMMANDS)
    symbols = [word for name in ('brd', 'dummy') for word in ('--symbols', paths[name])]
    done = record(f'{folder}/data', ['-q', *symbols, '-A', f'{FUNCTIONS}@auto-args', '-F', FUNCTIONS, '-D', '1'], line)
    said = done.stdout.decode(errors='replace')
    probed = collections.Counter(('dummy_xmit', skb, dev, name) for skb, dev, name in re.findall(
        r'PROBE sends skb=(0x\w+) dev=(0x\w+) name="(\w+)"', said))
    probed.update(('brd_submit_bio', bio) for bio in re.findall(r'PROBE submits bio=(0x\w+)', said))
    kinds = collections.Counter(key[0] for key in probed.elements())
    need(kinds['dummy_xmit'] > 3 and kinds['brd_submit_bio'] > 3, 'the guest says', said[-2000:], done.stderr)
    recorded = collections.Counter()
    for name, arguments, _ in values_test.calls(f'{folder}/data'):
        sends = re.match(r'skb=(0x\w+)\{len=[1-9]\d*\}, dev=(0x\w+)\{name="(\w+)"\}$', arguments)
        submits = re.match(r'bio=(0x\w+)', arguments)
        if sends:
            recorded[name, sends[1], sends[2], sends[3]] += 1
        elif submits:
            recorded[name, submits[1]] += 1
    lost = probed - recorded
    need(not lost, f'{sum(lost.values())} of {sum(probed.values())} calls are not recorded so:', list(lost)[:5], 'but',
         list(recorded)[:5])
    print('good:', ', '.join(f'{n} calls of {name}' for name, n in sorted(kinds.items())))


def main():
    arch, series = sys.argv[1:]
    return in_folder(f'kprobes-modules-{arch}', lambda folder: check(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
