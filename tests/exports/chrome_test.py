#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`export --format chrome`: JSON with the calls of a recording; of real ones, equal to `uftrace dump --chrome`."""
import collections
import json
import sys

import slices
from gttest import boards, commands, functions, made, paths, qemus, uftrace_write
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.recordings import record, symbols
from gttest.results import need, same
from gttest.uftrace import ENTRY, EVENT, EXIT, LOST
from gttest.uftrace_text import bare

PROGRAMS = ['threads.c', 'fork.c', 'coroutines.c', 'exceptions.cc']


def export(recording, *options):
    return json.loads(commands.printed([GUESTTRACE, 'export', '--format', 'chrome', '-o', '-', *options, recording]))


def ns(us):
    """Of a time in microseconds with three decimals."""
    return round(us * 1000)


def calls_of(file):
    """{tid: [(kind, time, depth, name)]}"""
    out, stacks = collections.defaultdict(list), collections.defaultdict(list)
    for e in file['traceEvents']:
        stack = stacks[e['tid']]
        if e['ph'] == 'B':
            out[e['tid']].append(('enter', ns(e['ts']), len(stack), e['name']))
            stack.append(e['name'])
        elif e['ph'] == 'E':
            need(stack, 'an end without a begin')
            need(e.get('name', stack[-1]) == stack[-1], 'an end of another slice', e)
            out[e['tid']].append(('leave', ns(e['ts']), len(stack) - 1, stack.pop()))
    need(not any(stacks.values()), 'begins without an end')
    return dict(out)


def same_calls(got, want):
    need(set(got) == set(want), 'tasks', sorted(got), 'not', sorted(want))
    for tid, calls in want.items():
        same('\n'.join(map(repr, got[tid])), '\n'.join(map(repr, calls)), f'task {tid}:')


def test_calls(t):
    recording = made.Made(f'{t.folder}/data')
    whole = export(recording.path)
    need(all('name' in e for e in whole['traceEvents'] if e['ph'] == 'E'), 'ends have no names')
    same_calls(calls_of(whole), slices.clipped(slices.lines(recording.path)))
    first = slices.lines(recording.path)[0].time
    same_calls(calls_of(export(recording.path, '--from', '2us', '--to', '4us', '--task', '7', '-D', '5')),
               slices.clipped(slices.lines(recording.path), first + 2000, first + 4000, [7], 5))


def test_hostile_names(t):
    recording = made.Made(f'{t.folder}/data', made.HOSTILE, n=300, deep=5)
    want = slices.clipped(slices.lines(recording.path))
    for calls in want.values():
        calls[:] = [(*call[:3], ''.join('?' if c < ' ' or c == '\x7f' else c for c in call[3])) for call in calls]
    same_calls(calls_of(export(recording.path)), want)


def test_others(t):
    """Names of processes and tasks; events, losses, the console."""
    data = {7: uftrace_write.records((100, ENTRY, 0, 16), (350, EVENT, 1, 1000001), (400, LOST, 0, 5), (450, EXIT, 0, 16)),
            8: uftrace_write.records((250, ENTRY, 0, 16), (500, EXIT, 0, 16))}
    path = uftrace_write.directory(f'{t.folder}/data', data, {16: 'main'}, console='0.000000010 a\x1b"b\n',
                                   events={1000001: 'my:event'})
    events = export(path)['traceEvents']
    need([e for e in events if e['ph'] == 'M'] == [
        {'ph': 'M', 'pid': 1, 'tid': 1, 'ts': 0, 'name': 'process_name', 'args': {'name': 'guest'}},
        {'ph': 'M', 'pid': 1, 'tid': 7, 'ts': 0, 'name': 'thread_name', 'args': {'name': 'guest'}},
        {'ph': 'M', 'pid': 1, 'tid': 8, 'ts': 0, 'name': 'thread_name', 'args': {'name': 'guest'}}], events)
    need([e for e in events if e['ph'] == 'i'] == [
        {'ph': 'i', 'pid': 0, 'tid': 0, 'ts': 0.01, 's': 'g', 'name': 'a?"b'},
        {'ph': 'i', 'pid': 1, 'tid': 7, 'ts': 0.35, 's': 't', 'name': 'my:event'},
        {'ph': 'i', 'pid': 1, 'tid': 7, 'ts': 0.4, 's': 't', 'name': '5 records were lost'}], events)


# ---- beside uftrace ----------------------------------------------------------------------------------

def beside_uftrace(recording):
    """uftrace has a process a forked child, like us, and names of functions as symbols have them, but for parentheses."""
    text = commands.printed([commands.tool('uftrace'), 'dump', '--chrome', '--demangle=no', '-d', recording])
    theirs = json.loads(text)
    for e in theirs['traceEvents']:
        e.setdefault('tid', e['pid'])
        e['name'] = bare(e['name'])
    mine = export(recording)
    if any(name.startswith('_Z') for calls in calls_of(theirs).values() for _, _, _, name in calls):
        same_calls(*[{tid: [call[:3] for call in calls] for tid, calls in calls_of(file).items()}
                     for file in (mine, theirs)])
    else:
        same_calls(calls_of(mine), calls_of(theirs))
    print(f'{recording}: {len(mine["traceEvents"])} events')


def test_programs(t):
    qemus.user('x86_64')
    for name in PROGRAMS:
        out = f'{t.folder}/{name}.data'
        compile_to(f'{t.folder}/{name}.exe', 'x86_64', paths.source('guest', 'cases', name), '-O1', '-g', '-pthread',
                   '-D_GNU_SOURCE', f'-I{paths.source("guest")}')
        record(out, [], [f'{t.folder}/{name}.exe'])
        beside_uftrace(out)


def test_machine(t):
    machine = boards.build_kernel('aarch64', t.folder, paths.source('machine', 'cases', 'threads.c'))
    _, qemu = qemus.find('aarch64')[0]
    out = f'{t.folder}/machine'
    record(out, [], machine.command(qemu))
    symbols(out, machine.elf)
    beside_uftrace(out)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
