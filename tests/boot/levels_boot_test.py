#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records Debian's Linux to power-off with a task for each privilege level.

usage: levels_boot_test.py ARCH SERIES [QEMU'S OPTIONS]

The kernel of aarch64 is a hypervisor's where the machine has virtualization=on and the CPU is max: it
goes down to EL1 at first, and comes back to stay at EL2.
"""
import sys

import boot_test
from gttest import boots, qemus
from gttest.results import in_folder, need

LEVELS = {
    'aarch64': {'NS-EL0': 'user', 'NS-EL1': 'kernel'},
    'riscv64': {'U': 'user', 'S': 'kernel', 'M': 'firmware'},
    'x86_64': {'Ring3': 'user', 'Ring0': 'kernel', 'RealMode': 'firmware'},
}
NUMBERS = {'NS-EL0': 100, 'NS-EL1': 101, 'NS-EL2': 102, 'U': 100, 'S': 101, 'M': 103, 'Ring0': 100,
           'Ring3': 103, 'RealMode': 104}
LEAST = {'user': 1000000, 'kernel': 10000000, 'firmware': 5000, 'hypervisor': 10}  # calls


def tasks_of(boot, name):
    """The tasks that have calls of a function."""
    addrs = {row[0] for row in boots.tool('count', boot.out) if boot.name(int(row[0], 16)) == name}
    return {int(row[0]) for addr in addrs for row in boots.tool('calls', boot.out, addr)}


def check_boot(arch, series, options, folder):
    line = boots.command(arch, qemus.of_series(arch, series), folder, options=options)
    out = f'{folder}/data'
    boots.record(out, line, ['--privilege-levels'])
    boot = boots.Boot(out)
    levels = dict(LEVELS[arch])
    if any('virtualization=on' in word for word in options):  # Linux starts at EL2, and leaves it
        levels |= {'NS-EL1': 'firmware', 'NS-EL2': 'kernel'} if 'max' in options else {'NS-EL2': 'hypervisor'}
    need(boot.comms() >= {f'cpu0 {name}' for name in levels}, 'tasks are named', sorted(boot.comms()))
    need(set(boot.tasks) == {NUMBERS[name] for name in levels}, 'tasks', sorted(boot.tasks))
    for name, what in levels.items():
        calls = boot.tasks[NUMBERS[name]][0]
        need(calls >= LEAST[what], f'only {calls} calls at {name}')
    kernel = {NUMBERS[name] for name, what in levels.items() if what == 'kernel'}
    need(tasks_of(boot, 'kernel_init') == kernel, 'kernel_init is in', tasks_of(boot, 'kernel_init'))
    boot_test.check_counters(boot.stats)
    boot_test.check_matched(boot.stats)
    boot_test.check_files(boot)
    print(f'good: {boot.stats["calls"]} calls in {len(boot.tasks)} tasks')


def main():
    arch, series, *options = sys.argv[1:]
    return in_folder(f'levels-boot-{arch}', lambda folder: check_boot(arch, series, options, folder))


if __name__ == '__main__':
    sys.exit(main())
