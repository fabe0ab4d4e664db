#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`record --tasks cpu`: a task for each vCPU, in which the calls of all threads are, at their times.

usage: vcpu_tasks_test.py ARCH

On one vCPU and the instruction clock what is in it is compared with a recording of a task for each call stack: where
a thread goes on its open calls are entered again, and where it stops they are left; all else is the same.
"""
import collections
import functools
import os
import re
import sys

from gttest import boards, paths, qemus, uftrace
from gttest.commands import printed
from gttest.recordings import check_directory, record
from gttest.results import equal, need
from gttest.uftrace import ENTRY, EVENT, EXIT, SCHED_OUT, VCPU

SWITCHES = 500  # of threads, at least
ON_CPU = re.compile(r'on_cpu(\d)')


def build(arch, folder):
    built = {}
    for name in ('threads', 'vcpus'):
        where = f'{folder}/{name}'
        os.mkdir(where)
        built[name] = boards.build_kernel(arch, where, paths.source('machine', 'cases', f'{name}.c'))
    return built


def recorded(out, machine, qemu, *options, vcpus=1):
    record(out, ['-q', '--format', 'uftrace', '--symbols', machine.elf, *options], machine.command(qemu, '-smp', str(vcpus)))
    check_directory(out, readers=False)
    return uftrace.Trace(out)


def records(trace):
    """{(time, kind, address): how many} of all tasks."""
    return collections.Counter((time, kind, addr) for tid in trace.tids()
                               for time, kind, _, addr, _ in uftrace.read_records(trace.data(tid)) if kind in (ENTRY, EXIT))


def names_of(out):
    lines = printed([paths.GUESTTRACE, 'report', '-q', '--by', 'task', out]).splitlines()[2:]
    return sorted(line.split()[-1] for line in lines)


def check_one(folder, qemu, machine):
    stacks = recorded(f'{folder}/stacks', machine, qemu, '--clock', 'insn')
    vcpu = recorded(f'{folder}/vcpu', machine, qemu, '--clock', 'insn', '--tasks', 'cpu')
    need(len(stacks.tids()) >= 8 and len(vcpu.tids()) == 1, stacks.tids(), vcpu.tids())
    equal(names_of(f'{folder}/vcpu'), ['cpu0'], 'names')
    made, made_again = (t.stats['calls'] - t.stats['calls_again'] for t in (vcpu, stacks))
    equal((made, vcpu.stats['matched']), (made_again, stacks.stats['matched']), 'calls')
    want, got = records(stacks), records(vcpu)
    missing = want - got
    end = max(time for time, _, _ in want)  # calls that are open at the end are left there, or where their thread stopped
    need(all(kind == EXIT and time == end for time, kind, _ in missing), 'missing:', list(missing)[:5])
    again = collections.Counter(time for time, _, _ in (got - want).elements())
    need(SWITCHES <= len(again) <= vcpu.stats['count.switched'] + 1, len(again), 'times of', vcpu.stats['count.switched'], 'switches')
    check_filtered(folder, qemu, machine)


def check_filtered(folder, qemu, machine):
    """With filters of the recorder it is what the reader's filters make of it."""
    options = ['-F', 'walk', '-N', 'leaf', '-D', '6']
    trace = recorded(f'{folder}/filtered', machine, qemu, '--clock', 'insn', '--tasks', 'cpu', *options)
    need(len(trace.tids()) == 1, trace.tids())
    shown = [printed([paths.GUESTTRACE, 'replay', '--no-pager', '-f', 'none', *more, out])
             for out, more in ((f'{folder}/filtered', ()), (f'{folder}/vcpu', options))]
    equal(*shown, 'filtered')
    need(shown[0].count('walk') > 1000, 'walk is not shown')


def check_more(folder, qemu, machine):
    """Threads that move from one of four vCPUs to another one."""
    trace = recorded(f'{folder}/vcpus', machine, qemu, '--tasks', 'cpu', vcpus=4)
    equal(sorted(trace.tids()), [1, 2, 3, 4], 'tasks')
    equal(names_of(f'{folder}/vcpus'), ['cpu0', 'cpu1', 'cpu2', 'cpu3'], 'names')
    need(trace.stats['calls'] > 10000, trace.stats['calls'])


def check_where(out, machine, qemu, *options):
    """A task for each call stack: it says on which vCPU it runs, from its first call on and each time it goes on. The guest
    says so, too, by the functions that it calls."""
    trace = recorded(out, machine, qemu, *options, vcpus=4)
    names = {VCPU + n: n for n in range(4)}
    with open(f'{out}/events.txt', encoding='ascii') as f:
        equal(f.read(), ''.join(f'EVENT: {number} guesttrace:cpu{n}\n' for number, n in names.items()), 'events.txt')
    told_of, places = 0, collections.defaultdict(set)
    for tid in trace.tids():
        on = None
        for time, kind, _, addr, _ in uftrace.read_records(trace.data(tid)):
            if kind == EVENT and addr in names:
                on = names[addr]
                places[tid].add(on)
            elif kind == EVENT and addr == SCHED_OUT:
                on = None
            elif kind in (ENTRY, EXIT):
                need(on is not None or kind == EXIT or options, f'task {tid} at {time}: no vCPU')
                told = ON_CPU.fullmatch(trace.name(tid, time, addr)[1]) if kind == ENTRY else None
                if told and on is not None:
                    equal(on, int(told[1]), f'vCPU of task {tid} at {time}')
                    told_of += 1
    need(told_of > 500 and any(len(of) > 1 for of in places.values()), told_of, 'calls on vCPUs', dict(places))


def check(version, qemu, folder, machines):
    where = f'{folder}/{version}'
    os.mkdir(where)
    check_one(where, qemu, machines['threads'])
    check_more(where, qemu, machines['vcpus'])
    check_where(f'{where}/where', machines['vcpus'], qemu)
    check_where(f'{where}/filtered', machines['vcpus'], qemu, '-N', 'leaf')


def main():
    arch = sys.argv[1]
    return qemus.on_each(arch, f'vcpu-tasks-{arch}', functools.partial(build, arch), check)


if __name__ == '__main__':
    sys.exit(main())
