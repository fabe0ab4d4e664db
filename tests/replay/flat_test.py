#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`replay --flat` has each record of a recording, as a reader of our own has it; and with a window, the lines of the
whole that are in the window: of directories and of compact files.
"""
import random

from gttest import cases, replay, uftrace, uftrace_write
from gttest.paths import GUESTTRACE

FIRST, FUNCTIONS = 0x1000, 12
NAMES = {FIRST + 16 * i: f'function{i}' for i in range(FUNCTIONS)}
TIDS = [7, 100, 8, 5000000]
EVENTS = {1000000: 'some:event'}


def name(_, addr):
    return NAMES.get(addr) or EVENTS[addr]


def random_records(seed, n, step, deep=30, ends=True):
    """Calls, as deep as that, with events and times at which a task is suspended."""
    number = random.Random(seed)
    out, stack, time = [], [], 1000 + number.randrange(500)
    while len(out) < n or (ends and stack):
        time += step(number)
        chance = number.random()
        if stack and (len(out) >= n or len(stack) > deep or chance < 0.48):
            out.append((time, uftrace.EXIT, len(stack) - 1, stack.pop()))
        elif chance < 0.96:
            stack.append(FIRST + 16 * number.randrange(FUNCTIONS))
            out.append((time, uftrace.ENTRY, len(stack) - 1, stack[-1]))
        elif chance < 0.98:
            out.append((time, uftrace.EVENT, len(stack), 1000000))
        else:
            out += [(time, uftrace.EVENT, len(stack), 200002), (time + 3, uftrace.EVENT, len(stack), 200001)]
            time += 3
    return uftrace_write.records(*out)


class Flat(cases.ScratchCase):
    def make(self, path, n=2000, step=lambda number: number.randrange(40), **how):
        console = ''.join(f'{0}.{time:09} line {time}\n' for time in range(900, 30000, 777))
        data = {tid: random_records(seed, n, step, **how) for seed, tid in enumerate(TIDS)}
        uftrace_write.directory(self.path(path), data, NAMES, console=console, events=EVENTS)
        self.must(GUESTTRACE, 'export', '-f', 'compact', '-o', f'{path}.gtrace', path)
        tasks = [replay.of_task(uftrace.read_records(data[tid]), tid, name) for tid in TIDS]
        return replay.merged(tasks, replay.console(console))

    def flat(self, path, *words):
        return replay.read(self.must(GUESTTRACE, 'replay', '--flat', *words, path).stdout)

    def check(self, path, expected, *words):
        for recording in path, f'{path}.gtrace':
            found = self.flat(recording, *words)
            for a, b in zip(found, expected):
                self.assertEqual(a, b, (recording, words))
            self.assertEqual(len(found), len(expected), (recording, words))

    def first(self, lines):
        """When the first record was: times of windows are counted from there."""
        return next(line.time for line in lines if line.tid is not None)

    def test_whole(self):
        self.check('made', self.make('made'))

    def test_open_at_the_end(self):
        lines = self.make('cut', ends=False)
        self.assertTrue([line for line in lines if line.event == 'open'])
        self.check('cut', lines)

    def test_same_times(self):
        """Of records of one time the task that is first in task.txt is first."""
        self.check('same', self.make('same', step=lambda number: number.random() < 0.2))

    def test_windows(self):
        lines = self.make('made')
        first, last = self.first(lines), max(line.time for line in lines)
        number = random.Random(1)
        for _ in range(30):
            begin, end = sorted(number.sample(range(last - first), 2))
            expected = replay.window(lines, first + begin, first + end)
            self.check('made', expected, '--from', f'{begin}ns', '--to', f'{end}ns')
        self.check('made', replay.window(lines, first + 5000), '--from', '5us')
        self.check('made', replay.window(lines, last=first + 5000), '--to', '5us')

    def test_chosen(self):
        lines = self.make('made')
        self.check('made', replay.window(lines, tids=[100]), '--task', '100')
        self.check('made', replay.window(lines, tids=[8, 7]), '--task', '7', '--task', '8')
        for depth in 1, 2, 5:
            self.check('made', replay.window(lines, depth=depth), '--depth', str(depth))
        for least in 1, 50, 400, 5000:
            self.check('made', replay.window(lines, min_time=least), '--time-filter', f'{least}ns')
        first = self.first(lines)
        self.check('made', replay.window(lines, first + 3000, first + 9000, [7, 8], 4, 100), '--from', '3us', '--to', '9us',
                   '--task', '7', '--task', '8', '-D', '4', '-t', '100ns')

    def test_functions(self):
        """A function and what it calls: brute force over the lines."""
        lines = self.make('made')
        inside, expected = {}, []
        for line in lines:
            if line.event in ('event', 'console'):
                if line.tid is None:
                    expected.append(line)
                elif inside.get(line.tid) is not None:
                    expected.append(line._replace(depth=line.depth - inside[line.tid]))
                continue
            if line.event == 'enter' and inside.get(line.tid) is None and line.name == 'function3':
                inside[line.tid] = line.depth
            if inside.get(line.tid) is not None:
                expected.append(line._replace(depth=line.depth - inside[line.tid]))
                if line.event == 'leave' and inside[line.tid] == line.depth:
                    inside[line.tid] = None
        self.check('made', expected, '-F', 'function3')


cases.main()
