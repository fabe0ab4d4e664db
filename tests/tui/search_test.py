#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What guesttrace tui and top find, and the times that they show of tasks: by the calls of `replay --json`, the sums of `report --json`."""
import fnmatch
import json
import re
import sys

from gttest import functions, made, uftrace, uftrace_write, valued
from gttest.commands import printed
from gttest.paths import GUESTTRACE, ROOT
from gttest.results import equal, need, read_text
from gttest.terminal import Terminal
from top_test import Recording, Server, names, start, top

# What is typed, and which names it finds.
PATTERNS = {
    'wr': lambda name: 'wr' in name,
    'RE': lambda name: 're' in name,
    'f': lambda name: name == 'f',
    'w*': lambda name: fnmatch.fnmatchcase(name, 'w*'),
    '?': lambda name: len(name) == 1,
    'guest:put': lambda name: name == 'put',
    'gue*:g': lambda name: 'g' in name,
    'other:g': lambda name: False,
    '/^(f|g)/': lambda name: re.match('f|g', name),
    '/t$': lambda name: name.endswith('t'),
}


def calls_of(path):
    """(begin, duration, tid, depth, function) of `replay --json`, times from the first record on."""
    calls = [json.loads(line) for line in printed([GUESTTRACE, 'replay', '--json', path]).splitlines()]
    first = min(c['begin_ns'] for c in calls if 'begin_ns' in c)
    return [(c['begin_ns'] - first, c['duration_ns'], c['tid'], c['depth'], c['function']) for c in calls if 'begin_ns' in c]


def ordered(calls, by):
    """Tasks are in the order of their numbers."""
    keys = {'time': lambda c: (), 'duration': lambda c: (-c[1],), 'task': lambda c: (c[2],), 'name': lambda c: (c[4],)}
    return sorted(calls, key=lambda c: (*keys[by](c), c[0], c[2], c[3]))


def in_ns(number, unit):
    return round(float(number) * {'us': 1e3, 'ms': 1e6, 's': 1e9}[unit])


def hits(lines):
    """(begin, duration, tid, function) of the list's lines."""
    rows = [line.split() for line in lines[1:-1]]
    return [(round(float(row[0]) * 1e9), in_ns(row[1], row[2]), int(row[3]), row[4]) for row in rows if len(row) > 4]


def search(s, text):
    s.press('/')
    s.type(text)
    s.press('Enter')


def is_of(text, number):
    return lambda lines: text in lines[0] and lines[-1].startswith(f'1 of {number:,} ')


def test_list(t):
    """Each call, in each order."""
    recording = made.Made(f'{t.folder}/data', n=300)
    calls = calls_of(recording.path)
    with Terminal(t, 100, 60, GUESTTRACE, 'tui', recording.path) as s:
        s.until(lambda lines: 'all calls' in lines[0], 'all calls')
        search(s, 'wr')
        s.press('H')
        want = [c for c in calls if c[4] == 'write']
        for by in 'time', 'duration', 'task', 'name', 'time':
            rows = [(begin, took, tid, name) for begin, took, tid, _, name in ordered(want, by)]
            s.until(lambda lines, by=by, rows=rows: f'found by wr by {by}' in lines[0] and hits(lines) == rows, by)
            s.press('s')


def test_patterns(t):
    recording = made.Made(f'{t.folder}/data')
    calls = calls_of(recording.path)
    with Terminal(t, 100, 30, GUESTTRACE, 'tui', recording.path) as s:
        s.until(lambda lines: 'all calls' in lines[0], 'all calls')
        for text, wants in PATTERNS.items():
            want = ordered([c for c in calls if wants(c[4])], 'time')
            search(s, text)
            found = {c[4] for c in want}
            s.until(lambda lines, n=len(found): re.match(f'{n} function', lines[-1]) or 'no other function' in lines[-1], f'found by {text}')
            s.press('H')
            if want:
                number, full = len(want), min(len(want), 28)
                lines = s.until(lambda lines, text=text, number=number, full=full: is_of(f'calls found by {text} by time', number)(lines) and
                                len(hits(lines)) == full, f'calls found by {text}')
                equal([h[3] for h in hits(lines)], [c[4] for c in want[:28]], text)
            else:
                s.until(lambda lines: 'There are no calls' in lines[1], 'no calls')
        search(s, '/(/')
        s.until(lambda lines: 'regular expression, at character' in lines[-1], 'a wrong expression')
        s.press('q')
        equal(s.status(), 0, 'exit status')


def test_exact_name(t):
    """It is preferred, until the others are asked for."""
    recording = made.Made(f'{t.folder}/data')
    calls = calls_of(recording.path)
    exact, all_of = (len([c for c in calls if fits(c[4])]) for fits in (lambda name: name == 'f', lambda name: 'f' in name))
    with Terminal(t, 100, 30, GUESTTRACE, 'tui', recording.path) as s:
        s.until(lambda lines: 'all calls' in lines[0], 'all calls')
        s.press('R')
        search(s, 'f')
        s.until(lambda lines: '1 function of exactly this name' in lines[-1], 'the exact name')
        s.press('N', 'g')
        s.until(lambda lines: lines[0].endswith('calls of f'), 'the only hit')
        s.press('H')
        s.until(is_of('calls found by f ', exact), 'its calls')
        s.press('a')
        s.until(lambda lines: '2 functions' in lines[-1], 'two functions')
        s.press('Home')
        s.until(is_of('calls found by f ', all_of), 'calls of both')


def test_neighbours(t):
    """N and P go through all calls, further than the list had them at first."""
    recording = made.Made(f'{t.folder}/data', ['main'], n=10000, tids=[7])
    calls = ordered(calls_of(recording.path), 'time')
    with Terminal(t, 100, 10, GUESTTRACE, 'tui', recording.path) as s:
        s.until(lambda lines: 'all calls' in lines[0], 'all calls')
        s.press('H')
        s.until(is_of('calls found by main', len(calls)), 'the calls')
        s.press('End')
        s.until(lambda lines: lines[-1].startswith(f'2,000 of {len(calls):,} '), 'the last one of the first part')
        s.press('N', 'N', 'P')
        lines = s.until(lambda lines: lines[-1].startswith('2,001 of '), 'the one behind it')
        begin, took, tid, _, name = calls[2000]
        need((begin, took, tid, name) in hits(lines), calls[2000], *lines)
        while not lines[-1].startswith(f'{len(calls):,} of '):
            before = lines[-1]
            s.press('End')
            lines = s.until(lambda lines, before=before: lines[-1] != before, 'further')
        equal(hits(lines)[-1], (*calls[-1][:3], 'main'), 'the last one')
        s.press('N')
        s.press('Home', 'P')
        s.until(lambda lines: lines[-1].startswith('1 of '), 'the first one again')


def test_values(t):
    """Arguments and results, where they were recorded."""
    path = valued.make(f'{t.folder}/values')
    want = [f'open({c["arguments"]}) = {c["result"]}'.replace(' 0x42', ' arg2=0x42')  # replay leaves out names that are not known
            for line in printed([GUESTTRACE, 'replay', '--json', path]).splitlines() for c in [json.loads(line)] if c.get('function') == 'open']
    equal(len(want), 2, 'calls')
    with Terminal(t, 120, 10, GUESTTRACE, 'tui', path) as s:
        s.until(lambda lines: 'all calls' in lines[0], 'all calls')
        search(s, 'open')
        s.press('H')
        lines = s.until(is_of('calls found by open', 2), 'calls')
        equal([line.split(None, 4)[4] for line in lines[1:3]], want, 'values')


# ---- times -----------------------------------------------------------------------------------------------

def sleeping(path):
    """Two tasks that sleep in calls: 7 for 4000 ns of 6000, 8 for 1000 of 1500."""
    def sleep(time, until, depth):
        return [(time, uftrace.EVENT, depth, uftrace.SCHED_OUT), (until, uftrace.EVENT, depth, uftrace.SCHED_IN)]

    work, read = 0x1000, 0x2000
    seven = [(1000, uftrace.ENTRY, 0, work), (1500, uftrace.ENTRY, 1, read), *sleep(2000, 5000, 2), (5500, uftrace.EXIT, 1, read),
             *sleep(5600, 6600, 1), (7000, uftrace.EXIT, 0, work)]
    eight = [(1200, uftrace.ENTRY, 0, read), *sleep(1300, 2300, 1), (2700, uftrace.EXIT, 0, read)]
    uftrace_write.directory(path, {7: uftrace_write.records(*seven), 8: uftrace_write.records(*eight)}, {work: 'work', read: 'read'})
    return path


def report(path, *options):
    return json.loads(printed([GUESTTRACE, 'report', '--json', *options, path]))['rows']


def check_tasks(lines, rows, what):
    """RAN, its percent, CALLS and SLEPT of each task, the first line is of all."""
    whole = sum(row['total_ns'] for row in rows)
    all_of = {'tid': 'all', 'total_ns': whole, 'calls': sum(row['calls'] for row in rows), 'slept_ns': sum(row['slept_ns'] for row in rows)}
    got = [line.replace('*', ' ').split() for line in lines[1:] if line.strip()]
    equal([(row[6], in_ns(row[0], row[1]), row[2], int(row[3].replace(',', '')), in_ns(row[4], row[5])) for row in got],
          [(str(row['tid']), row['total_ns'], f'{row["total_ns"] * 1000 // whole / 10:.1f}', row['calls'], row['slept_ns']) for row in [all_of, *rows]],
          what)


def test_task_times(t):
    path = sleeping(f'{t.folder}/sleeping')
    rows = report(path, '--by', 'task')
    equal({row['tid']: (row['total_ns'], row['slept_ns']) for row in rows}, {7: (2000, 4000), 8: (500, 1000)}, 'report')
    orders = {'number': lambda r: r['tid'], 'time': lambda r: -r['total_ns'], 'calls': lambda r: -r['calls'], 'slept': lambda r: -r['slept_ns']}
    with Terminal(t, 80, 24, GUESTTRACE, 'tui', path) as s:
        s.until(lambda lines: 'all calls' in lines[0], 'all calls')
        s.press('S')
        for by, order in orders.items():
            want = [str(row['tid']) for row in sorted(rows, key=order)]
            lines = s.until(lambda lines, by=by, want=want: lines[0].split()[:4] == ['RAN', 'RAN%', 'CALLS', 'SLEPT'] and
                            lines[0].endswith(f'by {by}') and [line.split()[6:7] for line in lines[2:4]] == [[tid] for tid in want], by)
            check_tasks(lines, sorted(rows, key=order), f'tasks by {by}')
            s.press('s')
    with Terminal(t, 80, 24, GUESTTRACE, 'tui', '--wall', path) as s:
        s.until(lambda lines: 'all calls' in lines[0], 'all calls')
        s.press('S')
        s.until(lambda lines: lines[0].split()[:2] == ['TIME', 'TIME%'] and '6.000 us' in lines[2], 'with the time suspended')


def test_percents(t):
    """Of the time that ran in all calls, in each page."""
    recording = made.Made(f'{t.folder}/data')
    rows = report(recording.path)
    whole = sum(row['self_ns'] for row in rows)
    want = {row['function']: tuple(f'{row[f"{key}_ns"] * 1000 // whole / 10:.1f}' for key in ('total', 'self')) for row in rows}
    with Terminal(t, 80, 24, GUESTTRACE, 'tui', recording.path) as s:
        s.until(lambda lines: 'all calls' in lines[0], 'all calls')
        s.press('R')
        lines = s.until(lambda lines: 'functions by total' in lines[0] and lines[12].split()[6:7] and '+' not in ''.join(lines[1:-1]), 'functions')
        got = {line.split()[7]: (line.split()[2], line.split()[5]) for line in lines[1:-1] if line.strip()}
        equal(got, want, 'percents')
        s.press('g')
        first = s.until(lambda lines: 'calls of ' in lines[0] and ' - ' in lines[1], 'calls of the first one')
        equal((first[1].split()[2], first[0].split()[-1]), (want[first[0].split()[-1]][0], lines[1].split()[7]), 'of the same time')


def test_docs(t):
    """The screens that docs/readers.md shows."""
    blocks = re.findall(r'```\n(.*?)```', read_text(f'{ROOT}/docs/readers.md'), re.S)

    def shown(text, lines):
        """What the page shows is that screen, empty lines left out."""
        want = next(block for block in blocks if text in block).splitlines()
        equal([line.rstrip() for line in lines if line.strip()], want, text)

    with Terminal(t, 80, 24, GUESTTRACE, 'tui', sleeping(f'{t.folder}/sleeping')) as s:
        s.until(lambda lines: 'all calls' in lines[0], 'all calls')
        s.press('S')
        shown('tasks: Enter', s.until(lambda lines: 'tasks' in lines[0] and lines[3].strip(), 'tasks'))
    path = valued.make(f'{t.folder}/values')
    with Terminal(t, 80, 24, GUESTTRACE, 'tui', path) as s:
        s.until(lambda lines: 'all calls' in lines[0], 'all calls')
        search(s, 'open')
        s.press('H')
        lines = s.until(is_of('calls found by open', 2), 'calls')
        shown('calls found by', [line.replace(valued.PATH.replace('"', '\\"'), '/tmp/x') for line in lines])


# ---- top -------------------------------------------------------------------------------------------------

def test_top(t):
    recording = Recording(f'{t.folder}/data', 1)
    with start(t, 200, 30, recording) as s:
        sums = {name: row[2] for name, row in recording.sums(1).items()}
        by_calls = sorted(sums, key=lambda name: (-sums[name], name))
        s.until(lambda lines: names(lines) == by_calls, 'functions by calls')
        for text, wants in PATTERNS.items():
            want = [name for name in by_calls if wants(name)]
            search(s, text)
            number = {'f': '1 of 2', 'guest:put': '1 of 1'}.get(text, len(want))
            s.until(lambda lines, text=text, want=want, number=number: names(lines) == want and f' {text}: {number} by ' in lines[1], f'found by {text}')
        search(s, 'f')
        s.press('a')
        s.until(lambda lines: names(lines) == [name for name in by_calls if 'f' in name] and ' f: 2 by' in lines[1], 'the others, too')
        search(s, '/(/')
        s.until(lambda lines: 'regular expression, at character' in lines[0] and ' f: 2 by' in lines[1], 'a wrong expression')
        s.press('Space')  # while it is read nothing is written
        s.until(lambda lines: 'paused' in lines[1], 'paused')
        rows = {row['function']: row for row in report(recording.path)}
        whole = sum(row['self_ns'] for row in rows.values())
        search(s, 'write')
        lines = s.until(lambda lines: names(lines) == ['write'], 'a function')
        at = lines[1].index('ALL SELF%')
        equal(lines[2][at:at + 9].strip(), f'{100 * rows["write"]["self_ns"] / whole:.1f}', 'ALL SELF%')
        s.press('t', '/', 'Enter')
        tasks = report(recording.path, '--by', 'task')
        lines = s.until(lambda lines: 'ALL RAN%' in lines[1] and len([line for line in lines[2:] if line.strip()]) == 3, 'tasks')
        at = lines[1].index('ALL RAN%')
        equal(sorted(line[at:at + 8].strip() for line in lines[2:5]), sorted(f'{100 * row["total_ns"] / whole:.1f}' for row in tasks), 'ALL RAN%')


class Whole:
    """A recording that has nothing more to come."""

    def __init__(self, path):
        self.path = path

    def grow(self):
        pass

    def is_whole(self):
        return True


def test_top_tasks(t):
    """Times that tasks ran, and that they were suspended, are those of report."""
    path = sleeping(f'{t.folder}/sleeping')
    Server(t, Whole(path))
    table = json.loads(top(t, '--json', '--tasks', '-d', '0.01', '-s', 'all-self').stdout.splitlines()[-1])
    equal({row['tid']: (row['all_self_ns'], row['all_slept_ns'], row['all_calls']) for row in table['rows']},
          {row['tid']: (row['total_ns'], row['slept_ns'], row['calls']) for row in report(path, '--by', 'task')}, 'tasks')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
