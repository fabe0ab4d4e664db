#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Code that a kernel translates while it runs, also where such code has been before: each call of it is
recorded, in the function that called it.

usage: bpf_test.py ARCH SERIES

The oracle is the guest's program: as many packets as it received were filtered.
"""
import re
import sys

from gttest import boots, qemus
from gttest.results import in_folder, need

CALLER = 'sk_filter_trim_cap'
FEW = 10  # of the whole boot
ENABLED = '/proc/sys/net/core/bpf_jit_enable'


def check(arch, series, folder):
    program = boots.program(arch, folder, 'filters')
    line = boots.command(arch, qemus.of_series(arch, series), folder,
                         f'[ -e {ENABLED} ] && echo JIT $(cat {ENABLED})\n/filters', more=([], {'filters': program}))
    console = boots.record(f'{folder}/data', line)
    need('JIT 1' in console, 'the kernel does not translate:', console)
    packets = int(re.search(r'^FILTERED (\d+)', console, re.M)[1])
    boot = boots.Boot(f'{folder}/data')
    boots.check_returns(arch, boot.stats)
    need(boot.stats['anomaly.missed-return'] <= FEW, boot.stats['anomaly.missed-return'], 'missed returns')
    called = {name: n for (name, caller), n in boot.count_pairs().items() if caller == CALLER}
    known = {name for name in called if re.fullmatch(r'[A-Za-z_][\w.]*', name)}
    calls = sum(n for name, n in called.items() if name not in known)
    need(calls == packets, calls, 'calls of filters, of', packets, called)
    print(f'good: {calls} calls of {len(called) - len(known)} filters')


def main():
    arch, series = sys.argv[1:]
    return in_folder(f'bpf-{arch}', lambda folder: check(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
