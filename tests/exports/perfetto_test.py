#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`export --format perfetto`: the calls of a recording, as a reader of our own has them, and as protoc decodes them by
Perfetto's field numbers."""
import os
import re
import sys

import slices
from gttest import commands, functions, made, perfetto, uftrace_write
from gttest.paths import GUESTTRACE, source
from gttest.results import need, read_bytes, same
from gttest.uftrace import ENTRY, EVENT, EXIT, LOST

STATE = 8 << 20  # bytes after which the sequences begin anew


def export(recording, *options):
    return commands.must([GUESTTRACE, 'export', '--format', 'perfetto', '-o', '-', *options, recording]).stdout


def same_calls(got, want):
    need(set(got) == set(want), 'tasks', sorted(got), 'not', sorted(want))
    for tid, calls in want.items():
        same('\n'.join(map(repr, got[tid])), '\n'.join(map(repr, calls)), f'task {tid}:')


def check(recording, options=(), **window):
    trace = perfetto.Trace(export(recording, *options))
    same_calls(trace.calls(), slices.clipped(slices.lines(recording), **window))
    return trace


def test_calls(t):
    recording = made.Made(f'{t.folder}/data')
    trace = check(recording.path)
    need(sorted(trace.thread(track)[1] for track in trace.tracks if trace.thread(track)) == sorted(made.TIDS), 'tracks')
    compact = f'{t.folder}/file'
    commands.must([GUESTTRACE, 'export', '-f', 'compact', '-o', compact, recording.path])
    need(export(compact) == export(recording.path), 'of a compact file differs')


def test_order(t):
    """Of all sequences together times do not fall: a reader needs to keep little."""
    recording = made.Made(f'{t.folder}/data')
    times = [e.time for e in perfetto.Trace(export(recording.path)).events]
    need(times == sorted(times), 'out of order')


def test_windows(t):
    recording = made.Made(f'{t.folder}/data', step=lambda number: number.randrange(1, 1000))
    first = slices.lines(recording.path)[0].time
    check(recording.path, ['--task', '8', '--task', '7'], tids=[7, 8])
    check(recording.path, ['--depth', '3'], depth=3)
    check(recording.path, ['--time-filter', '20us'], min_time=20000)
    check(recording.path, ['--from', '100us', '--to', '300us'], first=first + 100000, last=first + 300000)
    check(recording.path, ['--from', '50us', '--to', '90us', '-D', '4', '-t', '500ns', '--task', '7'], first=first + 50000,
          last=first + 90000, depth=4, min_time=500, tids=[7])


def test_hostile_names(t):
    check(made.Made(f'{t.folder}/data', made.HOSTILE, n=300, deep=5).path)


def test_many_names(t):
    check(made.Made(f'{t.folder}/data', [f'function{i}' for i in range(700)], n=3000).path)


def odd_recording(t):
    """Events, a suspended task, losses, the console, what is open at the end."""
    data = {7: uftrace_write.records((100, ENTRY, 0, 16), (200, EVENT, 1, 200002), (300, EVENT, 1, 200001),
                                     (350, EVENT, 1, 1000001), (400, LOST, 0, 5), (410, LOST, 0, 0), (450, ENTRY, 1, 32)),
            2000000000: uftrace_write.records((250, ENTRY, 0, 32), (500, EXIT, 0, 32))}
    return uftrace_write.directory(f'{t.folder}/odd', data, {16: 'main', 32: 'f'},
                                   console='0.000000010 first\n0.000000350 a\x1b"b\n0.000009000 \n',
                                   events={1000001: 'my:event'})


def test_instants(t):
    trace = check(odd_recording(t))
    need(('enter', 200, 1, 'linux:schedule') in trace.calls()[7], 'the suspended task', trace.calls())
    want = [(10, 'console', 'first'), (350, 7, 'my:event'), (350, 'console', 'a\x1b"b'), (400, 7, '5 records were lost'),
            (410, 7, 'records were lost'), (9000, 'console', '')]
    need(trace.instants() == want, 'instants:', trace.instants())
    part = perfetto.Trace(export(f'{t.folder}/odd', '--from', '250ns', '--to', '260ns'))
    need([i[0] for i in part.instants()] == [350, 350], 'instants of a part:', part.instants())


# ---- protoc ------------------------------------------------------------------------------------------

LINE = re.compile(r' *(?:(\w+) \{|(\w+): (\d+|"(?:[^"\\]|\\.)*")|(\}))')
ESCAPE = re.compile(rb'\\([0-7]{3}|.)')
LETTERS = {b'n': b'\n', b't': b'\t', b'r': b'\r'}


def value_of(text):
    if text[0] != '"':
        return int(text)
    data = ESCAPE.sub(lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else LETTERS.get(m[1], m[1]), text[1:-1].encode())
    return data.decode()


def parse(text):
    """[packet] of what protoc prints."""
    stack = [{}]
    found = []
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        need(match, f'{line!r}')
        opened, key, value, closed = match.groups()
        if opened:
            stack.append({'': opened})
        elif closed:
            item = stack.pop()
            key = item.pop('')
            if key in perfetto.REPEATED:
                stack[-1].setdefault(key, []).append(item)
            elif key == 'packet':
                found.append(item)
            else:
                stack[-1][key] = item
        else:
            stack[-1][key] = value_of(value)
    return found


def test_protoc(t):
    protoc = commands.tool('protoc')
    for path in odd_recording(t), made.Made(f'{t.folder}/data', made.HOSTILE, n=300, deep=5).path:
        data = export(path)
        text = commands.printed([protoc, '--decode=Trace', f'--proto_path={source("exports")}', 'perfetto.proto'], input=data)
        packets = [packet for _, packet in perfetto.packets(data)]
        need(not re.search(r'(?m)^ *\d+[:{ ]', text), 'fields that the schema does not have')
        need(parse(text) == packets, 'protoc and the reader differ')


# ---- large files -------------------------------------------------------------------------------------

def test_parts(t):
    """A file that is cut at its beginning opens: from the next states on all is there, names too."""
    recording = made.Made(f'{t.folder}/data', n=220000, tids=[7, 8, 9, 10])
    data = export(recording.path)
    need(len(data) > STATE * 5 // 4, 'the recording is too small:', len(data))
    begin, at = STATE * 15 // 16, 0
    while at < begin:
        _, (_, at), _ = next(perfetto.fields(data, at, len(data)))
    trace = perfetto.Trace(data, at)
    need(trace.skipped and trace.states == 4, 'states:', trace.states, 'skipped:', trace.skipped)
    flat = slices.clipped(slices.lines(recording.path))
    for tid, calls in trace.calls(ends_ok=True).items():
        tail = [call for call in flat[tid] if call[1] >= calls[0][1]]
        kept = [(kind, time, what) for kind, time, _, what in calls]
        need(kept[-1000:] == [(kind, time, what) for kind, time, _, what in tail][-1000:], f'task {tid}')


def test_size(t):
    recording = made.Made(f'{t.folder}/data', n=20000)
    size, calls = len(export(recording.path)), 10000 * len(made.TIDS)
    need(size < 27 * calls, f'{size / calls:.2f} bytes a call')


def test_where_it_goes(t):
    recording = made.Made(f'{t.folder}/data')
    out, want = f'{t.folder}/trace', export(recording.path)
    commands.must([GUESTTRACE, 'export', '-f', 'perfetto', '-o', out, recording.path])
    need(read_bytes(out) == want, 'a file is another')
    need(os.listdir(t.folder).count('trace') == 1 and len(os.listdir(t.folder)) == 2, os.listdir(t.folder))
    compact = f'{t.folder}/file'
    commands.must([GUESTTRACE, 'export', '-f', 'compact', '-o', compact, recording.path])
    before = read_bytes(compact)
    done = commands.must([GUESTTRACE, 'export', '-f', 'perfetto', '-o', compact, compact], 2)
    need(b'is the recording itself' in done.stderr and read_bytes(compact) == before, done.stderr)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
