#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""babeltrace2 reads every event of an exported CTF trace back: times, functions, tasks, values."""
import collections
import os
import re
import signal
import sys

import programs
from formats_test import FULL, clean, command
from gttest import commands, functions, made, uftrace
from gttest.results import need, read_bytes, same, write

LINE = re.compile(r'timestamp = (\d{20}), delta = \S+, name = (\w+), stream.packet.context = \{ pid = (\d+), tid = (\d+), '
                  r'comm = "(.*)" \}, event.fields = \{ (.*) \}')
FUNCTION = re.compile(r'function = \( "(.*)" : container = \d+ \)(?:, slept = (\d+), open = (\d+))?, values = "(.*)"')


def events_of(path):
    """[(time, name, tid, fields)], as babeltrace2 prints them."""
    text = commands.must([commands.tool('babeltrace2'), '--clock-cycles', '--names=all', path]).stdout
    for line in text.decode().splitlines():
        match = LINE.fullmatch(line)
        need(match, repr(line[:300]))
        yield int(match[1]), match[2], int(match[4]), match[6]


def shown(name):
    """As babeltrace2 escapes a name."""
    return re.sub(r'([\\"?])', r'\\\1', name)


def calls_of(path):
    """{tid: [(time, event, function)]}"""
    found = collections.defaultdict(list)
    for time, name, tid, fields in events_of(path):
        call = FUNCTION.fullmatch(fields)
        if name.startswith('func_'):
            need(call, fields)
            found[tid].append((time, name, call[1]))
    return found


def check(path, data, name):
    """`data`: {tid: records}; name(addr) is what a function is called."""
    found = calls_of(path)
    need(set(found) == set(data), sorted(found), sorted(data))
    kinds = {uftrace.ENTRY: 'func_entry', uftrace.EXIT: 'func_exit'}
    for tid, records in data.items():
        want = [f'{time} {kinds[kind]} {shown(clean(name(tid, addr)))}' for time, kind, _, addr, _ in records if kind in kinds]
        same('\n'.join(f'{time} {kind} {text}' for time, kind, text in found[tid]), '\n'.join(want), f'task {tid}:')


def check_made(t, recording):
    commands.must(command('ctf', recording.path, out=f'{t.folder}/ctf'))
    check(f'{t.folder}/ctf', {tid: list(uftrace.read_records(recording.data[tid])) for tid in recording.tids},
          lambda _, addr: recording.name(addr))


def test_made(t):
    """More than a packet each; a trace of that name is replaced."""
    check_made(t, made.Made(f'{t.folder}/data', n=5000))
    check_made(t, made.Made(f'{t.folder}/other', n=500))
    need(not [n for n in os.listdir(t.folder) if 'tmp' in n], os.listdir(t.folder))


def test_hostile_names(t):
    check_made(t, made.Made(f'{t.folder}/data', [n for n in made.HOSTILE if len(n) < 100], n=90, deep=3))


def test_threads(t):
    """A program; its calls that are open at the end."""
    directory, out = programs.recorded(t.folder, 'threads', '--clock', 'host'), f'{t.folder}/ctf'
    commands.must(command('ctf', directory, out=out))
    trace, found = uftrace.Trace(directory), calls_of(out)
    for tid in trace.tids():
        records = list(uftrace.read_records(trace.data(tid)))
        entered = [f'{r[0]} {clean(trace.name(tid, uftrace.LAST, r[3])[1])}' for r in records if r[1] == uftrace.ENTRY]
        same('\n'.join(f'{at} {name}' for at, kind, name in found[tid] if kind == 'func_entry'), '\n'.join(entered), tid)
        exits = sum(kind == 'func_exit' for _, kind, _ in found[tid])
        need(exits == len(entered), exits, len(entered))


def test_window(t):
    """A part of one task."""
    recording, out = made.Made(f'{t.folder}/data'), f'{t.folder}/ctf'
    commands.must(command('ctf', recording.path, '--task', '8', '--depth', '2', out=out))
    found = calls_of(out)
    want = [r[0] for r in uftrace.read_records(recording.data[8]) if r[2] < 2 and r[1] in (uftrace.ENTRY, uftrace.EXIT)]
    need(list(found) == [8] and [time for time, _, _ in found[8]] == want, found)


def test_refused(t):
    """Nothing else is replaced, and nothing half written stays."""
    recording, out = made.Made(f'{t.folder}/data', n=30000), f'{t.folder}/out'
    os.mkdir(out)
    write(f'{out}/mine', 'mine')
    done = commands.must(command('ctf', recording.path, out=out), 1)
    need(b'exists and is not a CTF trace' in done.stderr and read_bytes(f'{out}/mine') == b'mine', done.stderr)
    done = commands.must(command('ctf', recording.path), 2)
    need(b'cannot be written to standard output' in done.stderr, done.stderr)
    done = commands.must(command('ctf', recording.path, out=f'{t.folder}/full'), 1, preexec_fn=limited)
    need(b'/full: cannot be written: File too large' in done.stderr, done.stderr)
    done = commands.must(command('ctf', recording.path, '--time-filter', '1s', out=f'{t.folder}/none'), 1)
    need(b'no call is left by --time-filter 1s' in done.stderr, done.stderr)
    need(sorted(os.listdir(t.folder)) == ['data', 'out'], os.listdir(t.folder))


def limited():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    commands.limit_files(FULL)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
