#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace top --json of recordings that are being made: its sums, read bit by bit, are those that report has of the recording
when it is finished."""
import json
import os
import re
import signal
import sys

from gttest import commands, compilers, functions, qemus, sockets
from gttest.commands import printed
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, write
from recording import Client, RecordingTest, fork, read_line, step
from recording_test import on_all_machines, start_machine

FORMATS = [',format=compact', '']
NAMES = ['self_ns', 'total_ns', 'slept_ns', 'calls']


class Top:
    """guesttrace top, whose tables are read one by one."""

    def __init__(self, t, *options, delay='0.01'):
        self.child = commands.start([GUESTTRACE, 'top', '--json', '--since', 'begin', '-d', delay, *options, f'{t.folder}/control'])

    def table(self):
        """The next one; None: it has ended."""
        line = self.child.stdout.readline()
        return json.loads(line) if line else None

    def rest(self):
        """Tables until the end, the last one's state is the result's."""
        tables = []
        while table := self.table():
            tables.append(table)
        return tables

    def ends(self, status=0):
        """What it said on standard error."""
        done = commands.finish(self.child)
        equal(done.returncode, status, 'exit status of top', done.stderr)
        need(status or not done.stderr, 'top said', done.stderr)
        return done.stderr.decode()


def rows_of(table, prefix=''):
    return {(row['function'], row['module']): [row[prefix + name] for name in NAMES] for row in table['rows']}


def reported(path):
    rows = json.loads(printed([GUESTTRACE, 'report', '--json', path]))['rows']
    sums = {}
    for row in rows:  # an address without a symbol may have one of that name
        name = row['function']
        key = f'0x{name[1:-1]}' if name.startswith('<') else name, row['module']
        sums[key] = [a + row[name] for a, name in zip(sums.get(key, [0] * len(NAMES)), NAMES)]
    return sums


def same_sums(got, want, what):
    wrong = {key: (got.get(key), want.get(key)) for key in {*got, *want} if got.get(key) != want.get(key)}
    need(not wrong, what, 'and of report:', wrong)


def check(path, tables):
    """All that the tables have, added up, and the last one's sums are those of report."""
    want, added = reported(path), {}
    for table in tables:
        for key, sums in rows_of(table).items():
            if key[0].startswith('0x') and not key[1] and key not in want:  # its module was not known yet
                key = next((known for known in want if known[0] == key[0]), key)
            added[key] = [a + b for a, b in zip(added.get(key, [0] * len(NAMES)), sums)]
    last = tables[-1]
    equal(last['state'], 'ended', 'the state at the end')
    same_sums(rows_of(last, 'all_'), want, 'since the recording began')
    same_sums(added, want, 'table by table')
    tasks = json.loads(printed([GUESTTRACE, 'report', '--by', 'task', '--json', path]))['rows']
    equal(last['all_self_ns'], sum(row['total_ns'] for row in tasks), 'self time of all tasks')


def work_of(table):
    return sum(sums[-1] for (name, _), sums in rows_of(table, 'all_').items() if name == 'work')


def end(child):
    child.stdin.write(b'q')
    child.stdin.flush()


def check_program(t, source, drive):
    for kind in FORMATS:
        t.out = f'{t.folder}/{source}{"-compact" if kind else ""}'
        child = t.start(kind, source=source)
        top = Top(t, '-s', 'all-calls')
        tables = [top.table()]
        drive(child, top, tables)
        tables += top.rest()
        top.ends()
        t.end(child)
        check(t.out, tables)


def test_steps(t):
    """One thread, which stops after each step: each table has what it did."""
    def drive(child, top, tables):
        for n in 1, 2, 3:
            step(child, 'w')
            while work_of(tables[-1]) < 100 * n:
                tables.append(top.table())
            equal(work_of(tables[-1]), 100 * n, 'calls of work')
        end(child)
    check_program(t, 'steps.c', drive)


def test_threads(t):
    """Three threads that do not stop."""
    def drive(child, top, tables):
        least = 20000
        for _ in range(4):
            while tables[-1]['all_calls'] < least:
                tables.append(top.table())
            least = tables[-1]['all_calls'] + 20000
        end(child)
    check_program(t, 'threads.c', drive)


def test_processes(t):
    """A child goes on where its parent, and its socket, have ended."""
    for kind in FORMATS:
        t.out = f'{t.folder}/fork{"-compact" if kind else ""}'
        child = t.start(kind)
        top = Top(t, '-s', 'all-calls')
        tables = [top.table()]
        fork(child)
        step(child, 'w')
        step(child, 'e', 'status 5')
        end(child)
        tables += top.rest()
        top.ends()
        t.end(child)
        check(t.out, tables)


def test_programs(t):
    """A child that executes a program, and a process that becomes another: the names are those of each."""
    for kind in FORMATS:
        t.out = f'{t.folder}/exec{"-compact" if kind else ""}'
        *qemu, plugin, program = t.again()
        child = t.start(kind, command=[*qemu, plugin + kind, program])
        top = Top(t, '-s', 'all-calls')
        tables = [top.table()]
        step(child, 'w')
        child.stdin.write(b'x')
        child.stdin.flush()
        read_line(child, 'ready')
        step(child, 'w')
        end(child)
        tables += top.rest()
        top.ends()
        t.end(child)
        check(t.out, tables)


def test_between_programs(t):
    """A process that goes on as another program has no pool for a moment, and no socket: the recording has not ended."""
    for kind in FORMATS:
        t.out = f'{t.folder}/between{"-compact" if kind else ""}'
        child = t.start(kind, control='')
        end(child)
        t.end(child)
        beside = f'{t.out}.parts' if kind else t.out
        if kind:
            printed([GUESTTRACE, 'export', '--format', 'uftrace', '-o', beside, t.out])
        write(f'{beside}/.guesttrace.lock', b'')
        sockets.Control(f'{t.folder}/control', t.out)
        top = Top(t)
        for _ in range(3):
            equal(top.table()['state'], 'disconnected', 'the state without a pool')
        os.unlink(f'{beside}/.guesttrace.lock')
        equal(top.rest()[-1]['state'], 'ended', 'the state without the lock')
        top.ends()


def test_parts(t):
    """A recording in several files."""
    t.out = f'{t.folder}/split'
    child = t.start(',format=compact,split=64K', source='threads.c')
    top = Top(t, '-s', 'all-calls')
    tables = [top.table()]
    while not os.path.exists(f'{t.out}.2'):
        tables.append(top.table())
    end(child)
    tables += top.rest()
    top.ends()
    t.end(child)
    check(t.out, tables)


def test_flight_recorder(t):
    t.out = f'{t.folder}/flight'
    child = t.start(',format=compact,last=1M')
    top = Top(t)
    need('no file before its first snapshot' in top.ends(1), 'a flight recorder')
    end(child)
    t.end(child)


def check_machine(t, qemu):
    out = t.out
    for kind in FORMATS:
        t.out = f'{out}-compact' if kind else out
        child, c = start_machine(t, qemu, 'harts', *([kind[1:]] if kind else []))
        top = Top(t, '-s', 'all-calls')
        tables = [top.table()]
        while tables[-1]['all_calls'] < 50000 or tables[-1]['tasks'] < 2:
            tables.append(top.table())
        c.must('off')
        while tables[-1]['state'] != 'off':
            tables.append(top.table())
        c.must('on')
        c.close()
        child.send_signal(signal.SIGTERM)
        need(t.finish(child).status == 0, 'QEMU has failed')
        tables += top.rest()
        top.ends()
        check(t.out, tables)


def test_machine(t):
    """Four vCPUs, switched off and on."""
    on_all_machines(t, check_machine)


def start_board(t, qemu, kind, *options):
    """The command, whose machine runs until it is told to end."""
    board = compilers.compile_to(f'{t.folder}/board', 'aarch64', f'{t.guests}/board.c', '-O1', '-ffreestanding', '-nostdlib', '-static',
                                 '-mgeneral-regs-only', '-Wl,-Ttext=0x40080000')
    child = commands.start([GUESTTRACE, 'record', '-o', t.out, '--format', kind, '--control', f'{t.folder}/control', *options, '--',
                            qemu, '-M', 'virt', '-cpu', 'cortex-a57', '-m', '64', *qemus.QUIET, '-kernel', board])
    sockets.connected(f'{t.folder}/control', child).close()
    return child


def names_of(table):
    return {row['function'] for row in table['rows'] if row['module'].endswith('/board')}


def check_board(t, qemu, kind, end, *options):
    """Names come while it runs; the machine ends in some way."""
    t.out = f'{t.folder}/board-{os.path.basename(os.path.dirname(qemu))}-{kind}-{end.__name__}'
    child = start_board(t, qemu, kind, *options)
    top = Top(t, '-s', 'all-calls')
    tables = [top.table()]
    while not {'mix', 'halve'} <= names_of(tables[-1]):
        tables.append(top.table())
    equal(tables[-1]['state'], 'on', 'the state when names are known')
    end(child)
    tables += top.rest()
    top.ends()
    commands.finish(child)
    check(t.out, tables)


def stop(child):
    child.send_signal(signal.SIGTERM)


def kill_machine(child):
    """The command completes the recording."""
    os.kill(int(printed(['pgrep', '-P', str(child.pid), 'qemu-system']).split()[0]), signal.SIGKILL)


def test_board(t):
    for _, qemu in qemus.machines('aarch64'):
        check_board(t, qemu, 'compact', stop)
    check_board(t, qemu, 'uftrace', stop)
    check_board(t, qemu, 'compact', kill_machine)
    check_board(t, qemu, 'uftrace', kill_machine)


def test_arguments(t):
    """Records with values: a compact file's are read; a directory's, between whose records they stand, cannot be read in parts."""
    qemu = qemus.machines_from('aarch64', qemus.TELLS_REGISTERS)
    check_board(t, qemu, 'compact', stop, '-A', 'mix@arg1')
    need(re.search(r' mix\(\S*\d', printed([GUESTTRACE, 'replay', '--no-pager', '--to', '1ms', t.out])), 'no values are recorded')
    t.out += '-directory'
    child = start_board(t, qemu, 'uftrace', '-A', 'mix@arg1')
    need('a directory with arguments' in Top(t).ends(1), 'a directory with arguments')
    stop(child)
    commands.finish(child)


def test_killed(t):
    """Nobody completes the recording: the table stays, and says so."""
    for kind in FORMATS:
        t.out = f'{t.folder}/killed{"-compact" if kind else ""}'
        child = t.start(kind)
        top = Top(t)
        top.table()
        child.kill()
        child.wait()
        while top.table()['state'] != 'interrupted':
            pass
        commands.kill(top.child)
        os.unlink(f'{t.folder}/control')


if __name__ == '__main__':
    sys.exit(functions.main(globals(), RecordingTest))
