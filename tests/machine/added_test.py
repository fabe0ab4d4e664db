#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A vCPU is added to a PC that runs (added.c): its calls are not before those that the first one had made then, by either
clock; times are the host's, unless instructions are asked for. The other tools say which vCPU it was, in the right order."""
import re
import sys

from gttest import boards, elf, etrace, paths, qemus, uftrace
from gttest.commands import printed
from gttest.monitors import Machine
from gttest.recordings import check_directory, check_severe
from gttest.results import need, read_text, write


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


def play(folder, guest, qemu, tool, *options):
    """Records with another tool; where."""
    out = f'{folder}/{tool}'
    command = guest.command_on_stdio(qemu, '-smp', '1,maxcpus=2')
    m = Machine(folder, [paths.GUESTTRACE, 'record', '--tool', tool, '-o', out, *options, '--', *command])
    m.wait(b'r')
    add_vcpu(m)
    m.type(b'x')
    m.finish()
    return out


def check_etrace(folder, qemu, guest):
    at = elf.symbols(guest.elf)
    entries = etrace.read(play(folder, guest, qemu, 'etrace')).of('exec')
    first = {unit: min(e.time for e in entries if e.unit == unit) for unit in {e.unit for e in entries}}
    start = min(e.time for e in entries if e.start <= at['added'] < e.end)
    need(set(first) == {0, 1} and first[1] > start > first[0], 'unit 1 is at', first, 'not after', start)
    need({e.unit for e in entries if e.start <= at['other'] < e.end} == {1}, 'the unit of other()')


def check_execlog(folder, qemu, guest):
    leaf = elf.symbols(guest.elf)['leaf']
    text = read_text(play(folder, guest, qemu, 'execlog', '--afilter', f'{leaf:x}'))
    vcpus = [line.split(',')[0] for line in text.splitlines() if f' {leaf:#x},' in line]
    need(vcpus == ['0'] * 2000 + ['1'] * 10, {v: vcpus.count(v) for v in vcpus})


def check_events(folder, qemu, guest):
    write(f'{folder}/declared', 'leaf(void) ""\nother(void) ""\n')
    out = play(folder, guest, qemu, 'events', '--guest-events', f'{folder}/declared', '--symbols', guest.elf)
    names = re.findall('^[a-z]+', printed([paths.GUESTTRACE, 'events', 'simpletrace', f'{out}.events', out]), re.M)
    need(names == ['leaf'] * 2000 + ['other'] + ['leaf'] * 10, {n: names.count(n) for n in names})


def check_tools(version, qemu, folder, guest):
    check_etrace(folder, qemu, guest)
    check_execlog(folder, qemu, guest)
    if qemus.number(version) >= (9, 0):  # older ones refuse them
        check_events(folder, qemu, guest)


def main():
    calls = qemus.on_each('x86_64', 'added', build, check)
    return qemus.on_each('x86_64', 'added-tools', build, check_tools) or calls


if __name__ == '__main__':
    sys.exit(main())
