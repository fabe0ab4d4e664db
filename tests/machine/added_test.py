#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A vCPU is added to a PC that runs (added.c): its calls are not before those that the first one had made then, by either
clock; times are the host's, unless instructions are asked for."""
import sys

from gttest import boards, paths, qemus, uftrace
from gttest.monitors import Machine
from gttest.recordings import check_directory, check_severe
from gttest.results import need


def build(folder):
    return boards.build('x86_64', 'guest', folder, [boards.start_code('x86_64'), paths.source('machine', 'added.c')],
                        '-DSTART_MAIN=begin', '-DSTART_OTHER=other')


def add_vcpu(machine):
    free, = [c for c in machine.execute('query-hotpluggable-cpus') if 'qom-path' not in c]
    machine.execute('device_add', driver=free['type'], id='added', **free['props'])


def times_of(trace, name):
    """(task, time) of each call of it."""
    return [(tid, time) for tid in trace.tids() for kind, time, _, addr in trace.records(tid)
            if kind == 'enter' and trace.name(tid, uftrace.LAST, addr)[1] == name]


def check(version, qemu, folder, guest):
    for clock in 'auto', 'insn':
        out = f'{folder}/{version}-{clock}'
        m = Machine(folder, guest.command_on_stdio(qemu, '-smp', '1,maxcpus=2'), out,
                    ['--symbols', guest.elf, '--clock', clock])
        m.wait(b'r')
        add_vcpu(m)
        m.type(b'x')
        m.finish()
        trace = uftrace.Trace(out)
        (own, first), = times_of(trace, 'begin')
        (tid, time), = times_of(trace, 'other')
        last = [t for task, t in times_of(trace, 'leaf') if task == own][999]
        need(tid != own and time > last > first, clock, 'other is at', time, 'in task', tid, 'after', last)
        need(trace.stats['host_clock'] == (clock == 'auto'), clock, trace.stats)
        check_severe(trace.stats)
        check_directory(out, readers=False)


def main():
    return qemus.on_each('x86_64', 'added', build, check)


if __name__ == '__main__':
    sys.exit(main())
