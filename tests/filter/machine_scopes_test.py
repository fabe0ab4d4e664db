#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters of a machine that count for vCPUs, tasks, processes and privilege levels: where each vCPU has one stack it is a task, and
with --privilege-levels a level is one, so that the reader, which knows tasks only, filters the whole recording of the same run.

usage: machine_scopes_test.py ARCH
"""
import os
import re
import sys

from gttest import paths, qemus
from gttest.filters import arguments
from gttest.results import Tally, in_folder, need, same
from machine_record_test import Machine, flat

LEVELS = {'aarch64': (('NS-EL0', 100), ('NS-EL1', 101)), 'riscv64': (('U', 100), ('S', 101)), 'x86_64': (('Ring3', 103), ('Ring0', 100))}
BY_LEVEL = ',trace-privilege-level=on'


class Scopes:
    """A machine, and what it is recorded with by all."""

    def __init__(self, machine, common=''):
        self.machine, self.common, self.whole = machine, common, None

    def filtered(self, *words):
        whole, filtered = self.machine.run(*words, common=self.common)
        self.whole = whole
        return flat(filtered)

    def compare(self, words, options):
        """These arguments of the plugin, and the reader's options that say the same; more than nothing, less than all."""
        got = self.filtered(*words)
        wanted, n = flat(self.whole, *options), flat(self.whole).count(' enter ')
        need(0 < wanted.count(' enter ') < n, options, 'show', wanted.count(' enter '), 'of', n)
        same(got, wanted, f'{words} as {options}:')

    def nothing(self, *words):
        calls = re.findall(r'enter .*', re.sub(r'.*linux:schedule\n', '', self.filtered(*words)))
        need(not calls, words, 'record', calls[:5])


def check_cpus(tally, version, machine):
    """vCPU N is task N + 1."""
    scopes = Scopes(machine)
    for words, options in (['-N', 'a@cpu=0', '-F', 'b@cpu=0', '-F', 'a@cpu=3@pid=1'], ['-N', 'a@task=1', '-F', 'b@task=1', '-F', 'a@task=4']), \
                          (['-H', 'a@cpu=2', '-D', '3'], ['-H', 'a@task=3', '-D', '3']), \
                          (['-C', 'b@task=2'], ['-C', 'b@task=2']):
        tally.run(f'{version}, {" ".join(words)}', scopes.compare, arguments(words), options)
    tally.run(f'{version}, vcpu=', scopes.compare, ['vcpu=1', 'vcpu=3'], ['--task', '2', '--task', '4'])
    tally.run(f'{version}, nothing', scopes.nothing, 'filter=a@cpu=4', 'filter=a@pid=2', 'filter=b@task=nobody', 'filter=b@cpu=1@task=1')


def check_levels(tally, version, machine, arch):
    by_level, plain = Scopes(machine, BY_LEVEL), Scopes(machine)
    (user, user_task), (kernel, kernel_task) = LEVELS[arch]
    for words, options in (['-F', f'^user_leaf@level={user}'], ['-F', f'^user_leaf@task={user_task}']), \
                          (['-F', f'^kernel_@level={kernel}', '-D', '2'], ['-F', f'^kernel_@task={kernel_task}', '-D', '2']):
        tally.run(f'{version}, {" ".join(words)}', by_level.compare, arguments(words), options)
    tally.run(f'{version}, privilege={user}', by_level.compare, [f'privilege={user}'], ['--task', str(user_task)])
    tally.run(f'{version}, plain @level', plain.compare, arguments(['-F', f'^kernel_@level={kernel[0]}*']), ['-F', '^kernel_'])
    tally.run(f'{version}, no @level', plain.nothing, f'filter=^kernel_@level={user}')


def check(folder):
    arch, tally = sys.argv[1], Tally()
    for version, qemu in qemus.find(arch):
        os.mkdir(f'{folder}/{version}')
        machine = Machine(f'{folder}/{version}', paths.source('faults', 'guests', 'vcpus.c'), arch, qemu, ['VCPUS=4'],
                          '-smp', '4')
        check_cpus(tally, f'QEMU {version}', machine)
        if qemus.number_of(qemu) >= qemus.TELLS_REGISTERS:
            os.mkdir(f'{folder}/{version}/levels')
            machine = Machine(f'{folder}/{version}/levels', paths.source('machine', 'cases', 'system_calls.c'), arch, qemu)
            check_levels(tally, f'QEMU {version}', machine, arch)
    print(f'{tally.good} good')
    return tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('filter-scopes', check))
