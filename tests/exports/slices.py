# SPDX-License-Identifier: GPL-2.0-or-later
"""What exports of each call have to have, made from the lines of `replay --flat`, which tests/replay checks."""
import collections
import re

from gttest import commands, replay, uftrace
from gttest.paths import GUESTTRACE

REPLACED = re.compile('[\udc80-\udcff]')
ESCAPED = re.compile(r'\\x([0-9a-f]{2})')
TREE = {'enter', 'leave', 'open'}


def lines(recording, *options):
    return replay.read(commands.printed([GUESTTRACE, 'replay', '--flat', *options, recording]))


def name(shown):
    """A name in UTF-8, as exports have it: with its control characters, U+FFFD for bytes that are none."""
    data = ESCAPED.sub(lambda m: chr(int(m[1], 16)) if int(m[1], 16) < 0x80 else '\ufffd', shown)
    return REPLACED.sub('\ufffd', data)


def clipped(flat, first=0, last=uftrace.LAST, tids=None, depth=1 << 30, min_time=0):
    """{tid: [(kind, time, depth, name)]} of the lines of a whole recording: calls end at the window's borders, or where
    the recording ends."""
    stacks, out = collections.defaultdict(list), collections.defaultdict(list)
    for line in flat:
        if line.event == 'enter':
            stacks[line.tid].append([line, None])
        elif line.event in TREE:
            stacks[line.tid].append([None, line])
    for tid, items in stacks.items():
        if tids is None or tid in tids:
            out[tid] = of_task(items, first, last, depth, min_time)
    return {tid: calls for tid, calls in out.items() if calls}


def of_task(items, first, last, depth, min_time):
    opened, calls = [], []
    for enter, leave in items:
        if enter:
            opened.append((len(calls), enter))
            calls.append(None)
        else:
            index, begin = opened.pop()
            calls[index] = (max(begin.time, first), min(leave.time, last), begin.depth, name(begin.name))
    out, stack = [], []

    def close(level):
        while len(stack) > level:
            _, end, at, what = stack.pop()
            out.append(('leave', end, at, what))
    for call in calls:
        begin, end, level, what = call
        if begin > end or level >= depth or end - begin < min_time:
            continue
        close(level)
        out.append(('enter', begin, level, what))
        stack.append(call)
    close(0)
    return out


def instants(flat):
    """[(time, tid, text)]; tid None: of the console."""
    return [(line.time, line.tid, name(line.name)) for line in flat if line.event in ('event', 'console', 'mark')]
