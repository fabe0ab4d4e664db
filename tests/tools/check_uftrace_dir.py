#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a uftrace data directory as its readers will use it.

usage: check_uftrace_dir.py [--open-ok] [--no-readers] DIR

The files: info's tasks are those of task.txt, every session has its map with a [stack] line and
without overlaps, symbols are sorted, each TID.dat has whole records whose times never fall, and every
EXIT is that of the innermost ENTRY; at the end no call is open (--open-ok: a killed run, calls may be
open and the last record may be cut). The readers: each command of the installed uftrace succeeds and
says nothing on stderr; the Chrome output is JSON with balanced B and E events.

Exit status 0 good, 1 bad (what was wrong is on stdout), 77 files good but no uftrace to try.
"""
import argparse
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys

ENTRY, EXIT, LOST, EVENT = range(4)
PLAIN = 5 << 3 # a record's magic number, and no arguments
PAYLOAD = {100005: 16, 100006: 16, 100011: 8}
COMMANDS = [
    ['replay'], ['report'], ['report', '--task'], ['graph'], ['info'], ['dump'],
    ['dump', '--chrome'], ['dump', '--flame-graph'], ['dump', '--graphviz'],
]
TASK_LINE = re.compile(r'(?:SESS timestamp=(\d+)\.(\d{9}) pid=(\d+) sid=([0-9a-f]{16}) exename="[^"]+"'
                       r'|TASK timestamp=(\d+)\.(\d{9}) tid=(\d+) pid=(\d+)'
                       r'|FORK timestamp=(\d+)\.(\d{9}) pid=(\d+) ppid=(\d+)'
                       r'|DLOP timestamp=(\d+)\.(\d{9}) tid=(\d+) sid=([0-9a-f]{16}) base=([0-9a-f]+)'
                       r' libname="[^"]+")$')


class Bad(Exception):
    pass


def need(good, *words):
    if not good:
        raise Bad(' '.join(str(w) for w in words))


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def info_tids(directory):
    data = read(f'{directory}/info')
    need(data[:8] == b'Ftrace!\0', 'info: bad magic')
    version, size, endian, _, feat, mask, _ = struct.unpack('<IHBBQQH', data[8:34])
    need((version, size, endian) == (4, 40, 1), 'info: bad header', version, size, endian)
    need(feat & 0x62 == 0x62, f'info: feat_mask {feat:#x} lacks some of 0x62')
    lines = data[40:].decode().split('\n')
    for line in lines:
        need(len(line.encode()) < 4095 or line.startswith('taskinfo:tids='), 'info: a line of', len(line))
    values = dict(re.split('[:=]', l[9:], maxsplit=1) for l in lines if l.startswith('taskinfo:'))
    need(mask & 1 and any(l.startswith('exename:') and l != 'exename:' for l in lines),
         'info: no exename')
    need(values.get('tids'), 'info: no tasks')
    tids = [int(t) for t in values['tids'].split(',')]
    need(int(values['nr_tid']) == len(tids), 'info: nr_tid', values['nr_tid'], 'but', len(tids))
    need(bool(feat & 128) == os.path.exists(f'{directory}/events.txt'),
         'info: feat bit of events.txt')
    return tids


def task_txt(directory):
    """The time from which each tid is known, and the session ids."""
    known, sids, sessions = {}, set(), {}
    text = read(f'{directory}/task.txt').decode()
    need(text.endswith('\n'), 'task.txt: the last line is cut')
    for number, line in enumerate(text.splitlines(), 1):
        m = TASK_LINE.match(line)
        need(m, f'task.txt line {number}: {line!r}')
        field = [g for g in m.groups() if g is not None]
        time = int(field[0]) * 10**9 + int(field[1])
        if line.startswith('SESS'):
            sids.add(field[3])
            sessions.setdefault(int(field[2]), time)
        elif line.startswith('DLOP'):
            need(field[3] in sids, f'task.txt line {number}: no such session')
        else:
            tid, pid = int(field[2]), int(field[3])
            need(pid in sessions or pid in known, f'task.txt line {number}: no session for {pid}')
            known.setdefault(tid, time)
    return known, sids


def check_map(path):
    ranges, stack = [], False
    for number, line in enumerate(read(path).decode().splitlines(), 1):
        m = re.match(r'([0-9a-f]+)-([0-9a-f]+) .{4} [0-9a-f]+ \S+ \d+ (\S+)( build-id:[0-9a-f]*)?$',
                     line)
        need(m, f'{path} line {number}: {line!r}')
        start, end = int(m[1], 16), int(m[2], 16)
        if m[3] == '[stack]':
            stack = start == 0xffffffffffff
            continue
        need(start < end <= 0xffffffffffff, f'{path} line {number}: bad range')
        for s, e in ranges:
            need(end <= s or start >= e, f'{path} line {number}: overlaps {s:x}-{e:x}')
        ranges.append((start, end))
    need(stack, f'{path}: no [stack] line at ffffffffffff')


def check_symbols(path):
    last, count = -1, 0
    for number, line in enumerate(read(path).decode().splitlines(), 1):
        if line.startswith('#'):
            continue
        m = re.match(r'([0-9a-f]{16}) (\S) (.+)$', line)
        need(m, f'{path} line {number}: {line!r}')
        need(int(m[1], 16) > last, f'{path} line {number}: not after the one before')
        last = int(m[1], 16)
        count += m[2] != '?'
    need(count > 0, f'{path}: no symbol')


def is_plain(data, first, open_ok):
    """Nothing but entries and exits, none of them wrong: most recordings, looked at in one sweep."""
    last, stack = max(first, 1), []
    if len(data) % 16 and not open_ok:
        return False
    for time, word in struct.iter_unpack('<QQ', data[:len(data) & ~15]):
        low = word & 63
        if low == PLAIN | ENTRY and word >> 6 & 1023 == len(stack) & 1023 and time >= last:
            stack.append(word)
        elif low != PLAIN | EXIT or not stack or stack.pop() | EXIT != word or time < last:
            return False
        last = time
    return open_ok or not stack


def check_records(path, known, open_ok):
    data, at, last, stack = read(path), 0, 0, []
    if is_plain(data, known or 1, open_ok):
        return
    while at + 16 <= len(data):
        time, word = struct.unpack_from('<QQ', data, at)
        kind, more, magic = word & 3, word >> 2 & 1, word >> 3 & 7
        here = f'{path} offset {at}:'
        need(magic == 5, here, 'magic', magic)
        need(time >= 1 and time >= last, here, 'time', time, 'after', last)
        need(known is None or time >= known, here, 'time', time, 'before its task, at', known)
        last, key = time, word >> 6
        if kind == ENTRY:
            need(key & 1023 == len(stack) & 1023, here, 'depth', key & 1023, 'of', len(stack))
            stack.append(key)
        elif kind == EXIT:
            need(stack and stack.pop() == key, here, 'EXIT of no open ENTRY')
        need(kind != LOST, here, 'a LOST record')
        at += 16
        if more:
            need(kind == EVENT and word >> 16 in PAYLOAD, here, 'arguments')
            at += PAYLOAD[word >> 16]
    need(open_ok or at == len(data), f'{path}: the last record is cut')
    need(open_ok or not stack, f'{path}: {len(stack)} calls are open at the end')


def check_files(directory, open_ok):
    known, sids = task_txt(directory)
    tids = info_tids(directory)
    need(sorted(tids) == sorted(known), 'info has tasks', tids, 'but task.txt', sorted(known))
    need(sids, 'task.txt: no session')
    for sid in sids:
        check_map(f'{directory}/sid-{sid}.map')
    for path in glob.glob(f'{glob.escape(directory)}/*.sym'):
        check_symbols(path)
    dats = glob.glob(f'{glob.escape(directory)}/*.dat')
    need(dats or open_ok, 'no TID.dat file')
    for path in dats:
        tid = os.path.basename(path)[:-4]
        if tid.isdigit():
            need(int(tid) in known, f'{path}: its task is not in task.txt')
            check_records(path, known[int(tid)], open_ok)


def check_chrome(text, open_ok):
    events, stacks = json.loads(text)['traceEvents'], {}
    if open_ok:
        return  # readers end an open sched-out themselves, under another name
    for event in events:
        stack = stacks.setdefault((event['pid'], event.get('tid')), [])
        if event['ph'] == 'B':
            stack.append(event['name'])
        elif event['ph'] == 'E':
            need(stack and stack.pop() == event['name'], 'dump --chrome: E without B', event)
    for who, stack in stacks.items():
        need(not stack, 'dump --chrome: B without E', who, stack[:5])


def check_readers(directory, open_ok, uftrace='uftrace'):
    for command in COMMANDS:
        said = ' '.join(command)
        run = subprocess.run([uftrace, *command, '--no-pager', '-d', directory],
                             capture_output=True, check=False)
        need(run.returncode == 0, f'{said}: exit status {run.returncode}, {run.stderr!r}')
        need(not run.stderr, f'{said}: {run.stderr.decode(errors="replace")!r}')
        need(run.stdout, f'{said}: no output')
        if command == ['dump', '--chrome']:
            check_chrome(run.stdout, open_ok)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--open-ok', action='store_true')
    parser.add_argument('--no-readers', action='store_true')
    parser.add_argument('dir')
    args = parser.parse_args()
    try:
        check_files(args.dir, args.open_ok)
        if not args.no_readers and not shutil.which('uftrace'):
            print('SKIP: no uftrace to try')
            return 77
        if not args.no_readers:
            check_readers(args.dir, args.open_ok)
    except (Bad, OSError, ValueError, KeyError) as bad:
        print(f'{args.dir}: {bad}')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
