#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's KVM runs virtual machines: their calls are in tasks of their own, and the program's call of each entry lasts
until the machine is left.

usage: vmm_test.py SERIES CPU

The oracle is the guest's program, vmm.c: how often each of its machines was left.
"""
import re
import sys

from gttest import boots, qemus
from gttest.results import in_folder, need

ARCH = 'aarch64'
PAGE, OUTER, INNER, TURNS = 0x4000, 0x401c, 0x402c, 200
ENTRY = 'kvm_arch_vcpu_ioctl_run'
COMMANDS = 'dmesg | grep -i kvm\n[ -e /dev/kvm ] || mknod /dev/kvm c 10 232\n/vmm '
FEW = 10  # of the whole boot
FUNCTIONS = {PAGE: 'begin', OUTER: 'outer', INNER: 'inner'}


def check_machine(trace, tid):
    """The calls of a machine: each as the code has them."""
    events = [(kind, FUNCTIONS.get(addr)) for kind, _, _, addr in trace.records(tid)]
    own = [event for event in events if event[1]]
    turn = [('enter', 'outer'), ('enter', 'inner'), ('leave', 'inner'), ('leave', 'outer')]
    need(own == [('enter', 'begin'), *turn * TURNS, ('leave', 'begin')], 'task', tid, 'has', len(own), 'events:', own[:12])


def calls_at(boot, addr):
    """(task, entry, exit) of each call of the function at the address."""
    return [tuple(map(int, row)) for row in boots.tool('calls', boot.out, f'{addr:x}')]


def check_program(boot, run, entries):
    """In each call of the program is one of the kernel that enters the machine, and lasts no longer."""
    calls = calls_at(boot, run)
    addrs = {int(row[0], 16) for row in boots.tool('count', boot.out) if boot.name(int(row[0], 16)) == ENTRY}
    kernel = [call for addr in addrs for call in calls_at(boot, addr)]
    need(len(calls) == len(kernel) == entries, len(calls), 'calls of the program and', len(kernel), 'of the kernel, not', entries)
    for (tid, begin, end), inside in zip(sorted(calls), sorted(kernel)):
        need(tid == inside[0] and begin <= inside[1] and inside[2] <= end, 'the entry', inside, 'is not in', (tid, begin, end))


def check(series, cpu, folder):
    n = 1 if series == '7.2' else 2  # it does not tell those apart that one thread runs
    files = {'vmm': boots.program(ARCH, folder, 'vmm')}
    machine = ['-M', 'virt,virtualization=on,gic-version=3', '-cpu', cpu]
    line = boots.command(ARCH, qemus.of_series(ARCH, series), folder, COMMANDS + str(n), options=machine, more=([], files))
    console = boots.record(f'{folder}/data', line)
    run = re.search(r'^RUN (\w+)', console, re.M)
    need(run and re.findall(r'^EXITS (\d+)', console, re.M) == [str(TURNS + 1)] * n, 'the program says', console[-1000:])
    boot = boots.Boot(f'{folder}/data')
    tids = {tid for tid, _, _ in calls_at(boot, INNER)}
    need(len(tids) == n, len(tids), 'tasks have calls of the machines')
    for tid in tids:
        check_machine(boot.trace, tid)
    check_program(boot, int(run[1], 16), n * (TURNS + 1))
    boots.check_returns(ARCH, boot.stats)
    need(boot.stats['anomaly.missed-return'] <= FEW, boot.stats['anomaly.missed-return'], 'missed returns')
    print('good:', boot.stats['count.guests'], 'entries')


def main():
    series, cpu = sys.argv[1:]
    return in_folder(f'vmm-{series}', lambda folder: check(series, cpu, folder))


if __name__ == '__main__':
    sys.exit(main())
