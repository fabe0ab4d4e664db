#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Four vCPUs at once: triggers that all of them set off, as often as they say; snapshots of a flight recorder, several
asked for at once, and where QEMU is killed."""
import os
import random
import signal
import subprocess
import sys

from gttest import commands, compilers, functions, memory, qemus, uftrace
from gttest.commands import printed
from gttest.paths import GUESTTRACE, LONG
from gttest.recordings import check_directory, export
from gttest.results import need, read_text
from recording import Client, RecordingTest
from recording_test import end_machine, on_all_machines, start_machine, until

ROUNDS = 200 if LONG else 8
KILLS = 30 if LONG else 2
COUNT = 100
CALLS = 2000000  # until memory is looked at
BESIDE = 4 << 20  # bytes: two runs of one QEMU differ
WAYS = [f'count={COUNT}', f'after=500,every=3,count={COUNT}', f'count={COUNT},at=return', f'if:took<1s,count={COUNT}']


def marks(path):
    return [line.split(' ', 1)[1] for line in read_text(path).splitlines()] if os.path.exists(path) else []


def address_of(t, name):
    for line in printed(['riscv64-linux-gnu-nm', f'{t.folder}/harts']).splitlines():
        if line.split()[2] == name:
            return '0x' + line.split()[0]
    raise AssertionError(name)


def check_counts(t, qemu):
    child, c = start_machine(t, qemu, 'harts')
    busy = address_of(t, 'busy')
    until(child, c, lambda s: s['vcpus'] == 4 and s['calls_tracked'] > 1000)
    for i in range(ROUNDS):
        c.must(f'filter -T {busy}@mark=round-{i},{WAYS[i % len(WAYS)]}')
        before = c.status()['calls_tracked']
        until(child, c, lambda s, b=before: s['calls_tracked'] >= b + 4000)
    end_machine(t, child, c)
    found = marks(f'{t.out}/extern.dat')
    wrong = {i: found.count(f'round-{i}') for i in range(ROUNDS)}
    wrong = {i: n for i, n in wrong.items() if n != COUNT}
    need(not wrong and len(found) == ROUNDS * COUNT, 'rounds with another number of marks:', wrong, len(found))


def test_counts(t):
    """A trigger of limited count, hit by all vCPUs at the same time, again and again."""
    on_all_machines(t, check_counts)


# ---- flight recorders -------------------------------------------------------------------------------

def start_flight(t, qemu, vcpus=4, last=('--last', '1M')):
    """The command, which the machine is a child of, and a client."""
    guest = compilers.compile_to(f'{t.folder}/harts', 'riscv64', f'{t.guests}/harts_riscv64.S', '-nostdlib', '-march=rv64g',
                                 '-mabi=lp64d', '-Wl,-Ttext=0x80000000', '-static')
    child = commands.start([GUESTTRACE, 'record', '-o', t.out, *last, '--control', f'{t.folder}/control', '--symbols', guest,
                            '--', qemu, '-M', 'virt', '-bios', 'none', '-smp', str(vcpus), '-m', '64', *qemus.QUIET, '-kernel', guest])
    c = Client(t, child)
    until(child, c, lambda s: s['vcpus'] == vcpus and s['calls_tracked'] > 10000)
    return child, c


def check_snapshot(path):
    """Each exit is after its entry. A vCPU may not have run for so long."""
    export(path, path + '.data')
    check_directory(path + '.data', readers=False, open_ok=True)
    trace = uftrace.Trace(path + '.data')
    calls = {tid: sum(r.kind == 'enter' for r in trace.records(tid)) for tid in trace.tids()}
    need(len(calls) <= 4 and sum(calls.values()) > 100, path, 'has calls', calls)


def qemu_of(child):
    return int(printed(['pgrep', '-P', str(child.pid), 'qemu-system']).split()[0])


def check_at_once(t, qemu):
    child, c = start_flight(t, qemu)
    asked = []
    for i in range(2):
        before = c.status()['calls_tracked']
        ways = [subprocess.Popen([GUESTTRACE, 'ctl', f'{t.folder}/control', 'snapshot', *name], stdout=subprocess.PIPE, text=True)
                for name in ([], [f'{os.path.basename(t.out)}-named{i}'], [])]
        child.send_signal(signal.SIGUSR2)
        for way in ways:
            said = way.communicate(timeout=commands.SECONDS)[0]
            need(way.returncode == 0 and said.startswith('ok'), said)
            asked.append(said.split()[-1])
        until(child, c, lambda s, b=before: s['calls_tracked'] >= b + 10000)
    need(len(set(asked)) == len(asked), 'two have one file', asked)
    c.close()
    child.send_signal(signal.SIGTERM)
    done = commands.finish(child)
    need(done.returncode == 0 and all(os.path.exists(path) for path in asked), done, asked)
    there = [f'{t.folder}/{name}' for name in os.listdir(t.folder) if name.startswith(os.path.basename(t.out)) and not name.endswith('.parts')]
    need(len(asked) < len(there), 'SIGUSR2 has made no snapshot', there, asked)
    for path in there:
        check_snapshot(path)


def test_flight_at_once(t):
    """Snapshots that two clients and SIGUSR2 ask for at once."""
    on_all_machines(t, check_at_once)


def check_killed(t, qemu):
    rand, out = random.Random(5), t.out
    for i in range(KILLS):
        t.out = f'{out}-{i}'
        child, c = start_flight(t, qemu)
        if i % 2 == 0:
            child.send_signal(signal.SIGUSR2)
        least = c.status()['calls_tracked'] + rand.randrange(20000)
        until(child, c, lambda s, n=least: s['calls_tracked'] >= n)
        c.close()
        os.kill(qemu_of(child), signal.SIGKILL)
        done = commands.finish(child)
        need(done.returncode == -signal.SIGKILL and b'the recording was completed' in done.stderr, done)
        there = [path for path in (t.out, t.out + '.1', t.out + '.2') if os.path.exists(path)]
        need(there and not os.path.exists(t.out + '.parts'), os.listdir(t.folder), done.stderr)
        for path in there:
            check_snapshot(path)
        os.unlink(f'{t.folder}/control')


def test_flight_killed(t):
    """QEMU is killed at any moment: the command makes the snapshot."""
    on_all_machines(t, check_killed)


# ---- memory -----------------------------------------------------------------------------------------

def most_of(t, qemu, vcpus, last):
    """What QEMU has had in memory at most, when so much has been called."""
    t.out = f'{t.folder}/memory'
    child, c = start_flight(t, qemu, vcpus, last)
    until(child, c, lambda s: s['calls_tracked'] >= CALLS)
    most = memory.most_resident(qemu_of(child))
    if last[0] == '--last':
        memory.check_flight(t.out, qemu_of(child), 1, memory.MIB, vcpus)
    c.close()
    child.send_signal(signal.SIGTERM)
    done = commands.finish(child)
    need(done.returncode == 0, done)
    os.unlink(t.out)
    return most


def check_memory(t, qemu):
    for vcpus in 1, 4:
        without = most_of(t, qemu, vcpus, ['--format', 'compact'])
        most = most_of(t, qemu, vcpus, ['--last', '1M'])
        need(most <= without + BESIDE, vcpus, 'vCPUs: with --last', most, 'bytes, without', without)


def test_flight_memory(t):
    """A flight recorder of 1M has no more, while vCPUs call as fast as they can; not more than a recording that is kept."""
    on_all_machines(t, check_memory)


if __name__ == '__main__':
    sys.exit(functions.main(globals(), RecordingTest))
