#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What exports write is bounded where stacks are deep, and nothing of an export that was interrupted is left."""
import os
import signal
import struct
import sys

from gttest import commands, etrace_write, functions, uftrace_write
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, read_text
from gttest.uftrace import ENTRY, EXIT

DEEP, MANY, CUT, STACK = 20000, 1000000, 1000, 127
DOWN, LEAF = 16, 32
NAMES = {DOWN: 'down', LEAF: 'leaf'}


def deep(t):
    """down() calls itself; each call takes 2 ns on the way down, and the last one calls leaf()."""
    items = [(10 + 2 * i, ENTRY, min(i, 1023), DOWN) for i in range(DEEP)]
    time = 10 + 2 * DEEP
    items += [(time, ENTRY, 1023, LEAF), (time + 5, EXIT, 1023, LEAF)]
    items += [(time + 6, EXIT, min(i, 1023), DOWN) for i in range(DEEP - 1, -1, -1)]
    return uftrace_write.directory(f'{t.folder}/deep', {7: b''.join(uftrace_write.record(*r) for r in words(items))}, NAMES)


def words(items):
    """Depths count modulo 1024."""
    depth = 0
    for time, kind, _, addr in items:
        depth -= kind == EXIT
        yield time, kind, depth % 1024, addr
        depth += kind == ENTRY


def export(t, form, path, *options, status=0):
    """All paths."""
    out = f'{t.folder}/out.{form}'
    every = ['--all'] if form in ('folded', 'speedscope') or (form == 'perf' and '--from' not in options) else []
    done = commands.must([GUESTTRACE, 'export', '--format', form, '-o', out, *options, *every, path], status)
    return out, done.stderr.decode()


def test_deep(t):
    path = deep(t)
    out, said = export(t, 'folded', path)
    need(f'up to {DEEP + 1} deep; paths are cut at {CUT}' in said, said)
    lines = read_text(out).splitlines()
    equal(max(line.count(';') for line in lines), CUT + 1, 'calls of the longest path')
    equal(sum(int(line.rpartition(' ')[2]) for line in lines), 2 * DEEP + 6, 'time of all')
    need('--depth' in said and export(t, 'folded', path, '--depth', '1500')[1] == '', 'a depth that is asked for')
    for form in 'speedscope', 'pprof':
        out, said = export(t, form, path)
        need('paths are cut' in said and os.path.getsize(out) < 10 << 20, form, os.path.getsize(out), said)
    equal(export(t, 'callgrind', path)[1], '', 'callgrind, which has no paths')
    for options in [], ['--from', '1ns']:
        out, said = export(t, 'perf', path, *options)
        need(f'more than {STACK} calls have their innermost {STACK}' in said, said)
        lines = max(stack.count('\n') for stack in read_text(out).split('\n\n'))
        equal(lines, STACK, 'calls of the longest stack of perf', options)
    equal(export(t, 'perf', path, '--depth', str(STACK))[1], '', 'perf, of a depth that it has')


def test_indent(t):
    """A line of replay has at most 100 indents; then it has its depth."""
    text = commands.printed([GUESTTRACE, 'replay', deep(t)])
    lines = text.splitlines()
    need(max(map(len, lines)) < 300, 'a line of', max(map(len, lines)))
    need(any(line.endswith(f'| {"  " * 100}[{DEEP}] leaf();') for line in lines), lines[DEEP:DEEP + 3])


def test_graph(t):
    """Of each call the nearest callers; a line has as many branches as can be seen."""
    path = deep(t)
    done = commands.must([GUESTTRACE, 'graph', '--callers', '--function', 'down', path])
    lines = done.stdout.decode().splitlines()
    need(f'the nearest {CUT} callers' in done.stderr.decode(), done.stderr)
    calls = [int(line.rpartition('(')[2].partition(')')[0]) for line in lines if '(' in line]
    equal(calls, [DEEP - n for n in range(CUT)], 'calls with at least so many callers')
    need(len(done.stdout) < 1 << 20, len(done.stdout))
    small = uftrace_write.directory(f'{t.folder}/branches', {7: b''.join(uftrace_write.record(*r) for r in words(branches()))}, NAMES)
    lines = commands.printed([GUESTTRACE, 'graph', small]).splitlines()
    need(max(map(len, lines)) < 500 and any(line.endswith('[150] +-(1) leaf') for line in lines), max(map(len, lines)), lines[-1])


def branches():
    """down() calls itself, after leaf()."""
    for i in range(200):
        yield from ((10 * i + at, kind, 0, addr) for at, kind, addr in ((10, ENTRY, DOWN), (12, ENTRY, LEAF), (14, EXIT, LEAF)))
    for i in range(200):
        yield (3000 + i, EXIT, 0, DOWN)


def hidden(folder):
    return [name for name in os.listdir(folder) if name.startswith('.')]


def workers(child):
    """The process that the command works in comes first."""
    try:
        return [int(pid) for pid in read_text(f'/proc/{child.pid}/task/{child.pid}/children').split()]
    except OSError:
        return []


def writes(child, folder):
    """The command has begun to write there: a file that has a hidden name, or none."""
    for pid in workers(child)[:1]:
        try:
            if any(os.readlink(f'/proc/{pid}/fd/{fd}').startswith(f'{folder}/') for fd in os.listdir(f'/proc/{pid}/fd')):
                return True
        except OSError:
            pass
    return bool(hidden(folder))


def interrupted(t, form, source, number, group=False):
    """An export that gets a signal when it has begun to write; `group`: all its processes do, as far as they stay together."""
    child = commands.start([GUESTTRACE, 'export', '--format', form, '-o', f'{t.folder}/out/x', source], start_new_session=group)
    while child.poll() is None and not writes(child, f'{t.folder}/out'):
        pass
    if group:
        os.killpg(child.pid, number)
    else:
        child.send_signal(number)
    return commands.finish(child)


def test_interrupted(t):
    data = b''.join(struct.pack('<QQ', time, kind | 5 << 3 | DOWN << 16) for i in range(MANY)
                    for time, kind in ((10 * i + 10, ENTRY), (10 * i + 15, EXIT)))
    path = uftrace_write.directory(f'{t.folder}/many', {7: data}, NAMES)
    packed = f'{t.folder}/many.gtrace'
    commands.must([GUESTTRACE, 'export', '--format', 'compact', '-o', packed, path])
    os.mkdir(f'{t.folder}/out')
    for form, source in ('chrome', path), ('perfetto', path), ('uftrace', packed), ('compact', path):
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL:
            for group in {False, number == signal.SIGKILL}:
                check_interrupted(t, form, source, number, group)


def check_interrupted(t, form, source, number, group):
    out = f'{t.folder}/out'
    for _ in range(10):
        done = interrupted(t, form, source, number, group)
        if done.returncode:
            break
        commands.must(['rm', '-r', f'{out}/x'])  # the signal came too late
    if number == signal.SIGKILL:  # what outlives it removes what has a name
        while form in ('uftrace', 'compact') and hidden(out):
            pass
    equal((done.returncode, os.listdir(out)), (-number, []), form, number, group, done.stderr)


def catches(child, number):
    """The process that the command works in has a handler for the signal."""
    try:
        worker = workers(child)[0]
        caught = next(line for line in read_text(f'/proc/{worker}/status').splitlines() if line.startswith('SigCgt'))
    except (OSError, IndexError, StopIteration):
        return False
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def test_convert(t):
    """A signal ends the stream, and what came is converted; of a conversion that is killed nothing is left."""
    os.mkdir(f'{t.folder}/converted')
    for number, left in (signal.SIGHUP, ['x']), (signal.SIGKILL, []):
        stream = f'{t.folder}/stream{int(number)}'
        os.mkfifo(stream)
        child = commands.start([GUESTTRACE, 'etrace', 'export', '-o', f'{t.folder}/converted/x', stream])
        with open(stream, 'wb', buffering=0) as writer:
            writer.write(etrace_write.start())
            while child.poll() is None and not (writes(child, f'{t.folder}/converted') and catches(child, signal.SIGHUP)):
                pass
            if number == signal.SIGKILL:
                os.kill(workers(child)[0], number)
            else:
                child.send_signal(number)
            done = commands.finish(child)
        equal((done.returncode, os.listdir(f'{t.folder}/converted')), (-number if number == signal.SIGKILL else 0, left), done.stderr)
        for name in left:
            os.unlink(f'{t.folder}/converted/{name}')


def test_standard_output(t):
    path = uftrace_write.directory(f'{t.folder}/small', {7: uftrace_write.records((1, ENTRY, 0, DOWN), (2, EXIT, 0, DOWN))}, NAMES)
    for form in 'uftrace', 'compact':
        done = commands.must([GUESTTRACE, 'export', '--format', form, '-o', '-', path], 2, cwd=t.folder)
        need(b'cannot be written to standard output' in done.stderr and not os.path.exists(f'{t.folder}/-'), done.stderr)


if __name__ == '__main__':
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the commands have it from here; below nohup it is ignored
    sys.exit(functions.main(globals()))
