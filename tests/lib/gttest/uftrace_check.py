#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a uftrace data directory as its readers will use it.

usage: python3 -m gttest.uftrace_check [--open-ok] [--no-readers] DIR

The files: info's tasks are those of task.txt, every session has its map with a [stack] line and
without overlaps, symbols are sorted, each TID.dat has whole records whose times never fall, and every
EXIT is that of the innermost ENTRY; at the end no call is open (--open-ok: a killed run, calls may be
open and the last record may be cut). The readers: each command of the installed uftrace succeeds and
prints nothing on stderr (those that print each record, where they are not many); the Chrome output is
JSON with balanced B and E events.

Exit status 0 good, 1 bad (what was wrong is on stdout), 77 files good but no uftrace to try.
"""
import argparse
import glob
import json
import os
import shutil
import struct
import sys

from gttest import uftrace
from gttest.commands import run
from gttest.paths import LONG
from gttest.results import FAILED, GOOD, SKIPPED, Failure, need, read_bytes, read_text, skip
from gttest.uftrace import DEPTHS, ENTRY, EXIT, LOST, MAGIC

CHROME = ['dump', '--chrome']
SUMS = [['report'], ['report', '--task'], ['graph'], ['info'], ['dump', '--flame-graph'], ['dump', '--graphviz']]
TEXTS = [['replay'], ['dump'], CHROME]  # a line or more for each record
MANY = 4 << 20  # bytes of records: of more, only LONG tests make texts
FEATURES = 0x62  # that info has to say: sessions, relative addresses, the deepest stack
EVENTS_TXT = 128
TOP = 0xffffffffffff


def info_tids(directory):
    features, mask, lines = uftrace.read_info(read_bytes(f'{directory}/info'))
    need(features & FEATURES == FEATURES, f'info: feat_mask {features:#x} lacks some of {FEATURES:#x}')
    for line in lines:
        need(len(line.encode()) < 4095 or line.startswith('taskinfo:tids='), 'info: a line of', len(line))
    values = uftrace.task_info(lines)
    need(mask & 1 and any(l.startswith('exename:') and l != 'exename:' for l in lines),
         'info: no exename')
    need(values.get('tids'), 'info: no tasks')
    tids = [int(t) for t in values['tids'].split(',')]
    need(int(values['nr_tid']) == len(tids), 'info: nr_tid', values['nr_tid'], 'but', len(tids))
    need(bool(features & EVENTS_TXT) == os.path.exists(f'{directory}/events.txt'),
         'info: feat bit of events.txt')
    return tids


def task_txt(directory):
    """The time from which each tid is known, and the session ids."""
    known, sids, sessions = {}, set(), set()
    text = read_text(f'{directory}/task.txt')
    need(text.endswith('\n'), 'task.txt: the last line is cut')
    for number, (kind, time, word) in enumerate(uftrace.read_task_text(text), 1):
        if kind == 'SESS':
            sids.add(word['sid'])
            sessions.add(word['pid'])
        elif kind == 'DLOP':
            need(word['sid'] in sids, f'task.txt line {number}: no such session')
        else:
            tid, pid = (word['tid'], word['pid']) if kind == 'TASK' else (word['pid'], word['ppid'])
            need(pid in sessions or pid in known, f'task.txt line {number}: no session for {pid}')
            known.setdefault(tid, time)
    return known, sids


def check_map(path):
    ranges, stack = [], False
    for number, (start, end, name) in enumerate(uftrace.read_map_text(read_text(path), path), 1):
        if name == '[stack]':
            stack = start == TOP
            continue
        need(start < end <= TOP, f'{path} line {number}: bad range')
        for s, e in ranges:
            need(end <= s or start >= e, f'{path} line {number}: overlaps {s:x}-{e:x}')
        ranges.append((start, end))
    need(stack, f'{path}: no [stack] line at {TOP:x}')


def check_symbols(path):
    need(uftrace.read_symbols(path).functions(), f'{path}: no symbol')


def is_plain(data, first, open_ok):
    """Nothing but entries and exits, none of them wrong: most recordings, looked at in one sweep."""
    last, stack, plain = max(first, 1), [], MAGIC << 3
    if len(data) % 16 and not open_ok:
        return False
    for time, word in struct.iter_unpack('<QQ', data[:len(data) & ~15]):
        low = word & 63
        if low == plain | ENTRY and word >> 6 & DEPTHS == len(stack) & DEPTHS and time >= last:
            stack.append(word)
        elif low != plain | EXIT or not stack or stack.pop() | EXIT != word or time < last:
            return False
        last = time
    return open_ok or not stack


def check_records(path, known, open_ok):
    data, last, stack = read_bytes(path), 0, []
    if is_plain(data, known or 1, open_ok):
        return

    def bad(at, *words):
        need(False, f'{path} offset {at}:', *words)
    for time, kind, depth, addr, at in uftrace.read_records(data, path, open_ok):
        if time < max(1, last):
            bad(at, 'time', time, 'after', last)
        if known is not None and time < known:
            bad(at, 'time', time, 'before its task, at', known)
        last = time
        if kind == ENTRY:
            if depth != len(stack) & DEPTHS:
                bad(at, 'depth', depth, 'of', len(stack))
            stack.append((depth, addr))
        elif kind == EXIT:
            if not stack or stack.pop() != (depth, addr):
                bad(at, 'EXIT of no open ENTRY')
        elif kind == LOST:
            bad(at, 'a LOST record')
    need(open_ok or not stack, f'{path}: {len(stack)} calls are open at the end')


def check_texts(directory, running=False):
    """All files but records; the time from which each tid is known. running: tasks were added meanwhile."""
    known, sids = task_txt(directory)
    tids = info_tids(directory)
    need(set(tids) <= set(known) if running else sorted(tids) == sorted(known), 'info has tasks', tids, 'but task.txt', sorted(known))
    need(sids, 'task.txt: no session')
    for sid in sids:
        check_map(f'{directory}/sid-{sid}.map')
    for path in glob.glob(f'{glob.escape(directory)}/*.sym'):
        check_symbols(path)
    return known


def check_files(directory, open_ok=False, running=False):
    try:
        known = check_texts(directory, running)
        dats = glob.glob(f'{glob.escape(directory)}/*.dat')
        need(dats or open_ok, 'no TID.dat file')
        for tid in uftrace.tids_of(directory):
            path = f'{directory}/{tid}.dat'
            need(tid in known, f'{path}: its task is not in task.txt')
            check_records(path, known[tid], open_ok)
    except (OSError, ValueError, KeyError) as bad:
        raise Failure(f'{directory}: {type(bad).__name__}: {bad}') from bad


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


def reader():
    """The installed uftrace, or None."""
    return shutil.which('uftrace')


def commands_for(directory):
    size = sum(os.path.getsize(path) for path in glob.glob(f'{glob.escape(directory)}/*.dat'))
    return SUMS if size > MANY and not LONG else [*TEXTS, *SUMS]


def check_readers(directory, open_ok=False, program='uftrace'):
    for command in commands_for(directory):
        said = ' '.join(command)
        done = run([program, *command, '--no-pager', '-d', directory], timeout=None)
        need(done.returncode == 0, f'{said}: exit status {done.returncode}, {done.stderr!r}')
        need(not done.stderr, f'{said}: {done.stderr.decode(errors="replace")!r}')
        need(done.stdout, f'{said}: no output')
        if command == CHROME:
            check_chrome(done.stdout, open_ok)


def main():
    parser = argparse.ArgumentParser(prog='gttest.uftrace_check')
    parser.add_argument('--open-ok', action='store_true')
    parser.add_argument('--no-readers', action='store_true')
    parser.add_argument('dir')
    args = parser.parse_args()
    try:
        check_files(args.dir, args.open_ok)
        if not args.no_readers and not reader():
            skip('no uftrace to try')
            return SKIPPED
        if not args.no_readers:
            check_readers(args.dir, args.open_ok)
    except Failure as bad:
        print(f'{args.dir}: {bad}')
        return FAILED
    return GOOD


if __name__ == '__main__':
    sys.exit(main())
