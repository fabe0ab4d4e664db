# SPDX-License-Identifier: GPL-2.0-or-later
"""`guesttrace replay --flat`: its lines, and what they have to be, made from the records of a directory."""
import collections
import heapq
import re

from gttest import uftrace
from gttest.results import need

# Times are ns. duration: None where the line has none. tid and depth: None of a console line.
Line = collections.namedtuple('Line', 'time tid depth event duration name')

FORM = re.compile(r' *(\d+)\.(\d{9}) +(\d+|-) +(\d+|-) (enter|leave|open|event|name|lost|console|mark) +(?:(\d+)\.(\d{9})|-) (.*)')
SUSPENDED = 'linux:schedule'
SCHED_IN, SCHED_OUT = 200001, 200002


def read(text):
    """[Line]"""
    lines = text.split('\n')
    need(lines[0].startswith('# ') and lines[-1] == '', 'the first or the last line')
    out = []
    for line in lines[1:-1]:
        match = FORM.fullmatch(line)
        need(match, f'{line!r}')
        seconds, part, tid, depth, event, whole, fraction, name = match.groups()
        out.append(Line(int(seconds + part), None if tid == '-' else int(tid), None if depth == '-' else int(depth),
                        event, None if whole is None else int(whole + fraction), name))
    return out


def of_task(records, tid, name):
    """The lines of a task's records, and of what is open at their end. name(time, address) names a function."""
    stack, last = [], 0

    def close(time, event):
        begin, function = stack.pop()
        return Line(time, tid, len(stack), event, time - begin, function)
    for time, kind, _, addr, _ in records:
        last = time
        if kind == uftrace.ENTRY or kind == uftrace.EVENT and addr == SCHED_OUT:
            stack.append((time, name(time, addr) if kind == uftrace.ENTRY else SUSPENDED))
            yield Line(time, tid, len(stack) - 1, 'enter', None, stack[-1][1])
        elif kind == uftrace.EXIT or kind == uftrace.EVENT and addr == SCHED_IN:
            yield close(time, 'leave')
        elif kind == uftrace.LOST:
            yield Line(time, tid, len(stack), 'lost', None, str(addr))
        else:
            yield Line(time, tid, len(stack), 'event', None, name(time, addr))
    while stack:
        yield close(last, 'open')


def console(text):
    """The lines of an extern.dat."""
    for line in text.splitlines():
        seconds, part, what = re.fullmatch(r'(\d+)\.(\d{9}) (.*)', line).groups()
        yield Line(int(seconds + part), None, None, 'console', None, what)


def merged(tasks, marks=()):
    """Lines of several tasks (in task.txt's order) as the command prints them: in order of time, then of tasks; the
    console's after the others of a time; what is open at the end last."""
    tasks = [list(task) for task in tasks]
    ended = [[line for line in task if line.event != 'open'] for task in tasks]
    lines = heapq.merge(*ended, marks, key=lambda line: line.time)
    opened = [line for task in tasks for line in task if line.event == 'open']
    return list(lines) + sorted(opened, key=lambda line: line.time)


def window(lines, first=0, last=uftrace.LAST, tids=None, depth=1 << 30, min_time=0):
    """Those of the lines that a window shows; min_time is of what is in the window of a call. The depth of an event is
    how many calls are shown that are open."""
    calls, stacks = {}, collections.defaultdict(list)
    for i, line in enumerate(lines):
        if line.event == 'enter':
            stacks[line.tid].append(i)
        elif line.event in ('leave', 'open'):
            inside = min(line.time, last) - max(line.time - line.duration, first)
            calls[i] = calls[stacks[line.tid].pop()] = inside >= min_time and line.depth < depth
    shown, opened = [], collections.Counter()
    for i, line in enumerate(lines):
        if i in calls:
            opened[line.tid] += calls[i] * (1 if line.event == 'enter' else -1)
        elif line.tid is not None:
            line = line._replace(depth=opened[line.tid])
        inside = first <= line.time <= last or (line.event == 'open' and last == uftrace.LAST)
        if calls.get(i, True) and inside and (tids is None or line.tid is None or line.tid in tids):
            shown.append(line)
    return shown
