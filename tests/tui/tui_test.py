#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace tui in a terminal of tmux: what it shows is what the records say, whatever the terminal's size."""
import sys

from gttest import call_sums, commands, functions, made
from gttest.paths import GUESTTRACE
from gttest.results import equal, need
from gttest.terminal import Terminal


def calls_of(line):
    """Name and number of calls of a line: TOTAL unit SELF unit CALLS [+-] NAME."""
    words = line.split()
    return words[-1], int(words[4].replace(',', '')) if len(words) > 4 and words[4].replace(',', '').isdigit() else None


def titled(text):
    return lambda lines: text in lines[0]


def rows(lines):
    return [calls_of(line) for line in lines[1:-1] if line.strip()]


def shows(title, what, of=rows):
    """The screen has that title, and these rows."""
    return lambda lines: title in lines[0] and of(lines) == what


def calls(sums):
    return [(name, s.calls) for name, s in sums]


def test_graph(t):
    recording = made.Made(f'{t.folder}/data')
    sums = recording.all_paths()
    outer = sorted(((path[0], s) for path, s in sums.items() if len(path) == 1), key=lambda row: -row[1].total)
    first = outer[0][0]
    inner = sorted((path[1], s.calls) for path, s in sums.items() if len(path) == 2 and path[0] == first)
    outer = calls(outer)
    with Terminal(t, 100, 40, GUESTTRACE, 'tui', recording.path) as s:
        s.until(shows('all calls', outer), 'the outermost calls')
        s.press('Enter')
        s.until(shows('all calls', outer, lambda lines: rows(lines)[:1] + rows(lines)[1 + len(inner):]), 'what follows the first one')
        equal(sorted(rows(s.lines())[1:1 + len(inner)]), inner, 'what the first one calls')
        s.press('Left')
        s.until(shows('all calls', outer), 'closed again')
        s.press('E')
        s.until(lambda lines: len(rows(lines)) > len(outer) + len(inner), 'all below it')
        s.press('C')
        s.until(shows('all calls', outer), 'closed with all below it')
        s.press('n', 'e')
        s.until(lambda lines: lines[-1].endswith('guest'), 'the module of the chosen one')
        s.press('h')
        s.until(lambda lines: lines[-1].startswith('arrows'), 'keys')
        s.until(lambda lines: rows(lines)[:2] == outer[:2] and lines[2].split()[5] == '-', 'the next one')
        s.press('l', 'u', 'c', 'p', 'g')
        s.until(titled(f'calls of {outer[0][0]}'), 'the first one again')
        s.press('G')
        s.until(shows('all calls', outer), 'all calls')
        s.press('q')
        equal(s.status(), 0, 'exit status')


def test_report_and_search(t):
    recording = made.Made(f'{t.folder}/data')
    sums = call_sums.functions_of(recording.all_paths())
    orders = {'total': lambda row: -row[1].total, 'self': lambda row: -row[1].self, 'calls': lambda row: -row[1].calls, 'name': lambda row: 0}
    with Terminal(t, 100, 40, GUESTTRACE, 'tui', recording.path) as s:
        s.until(titled('all calls'), 'all calls')
        s.press('R')
        for by, order in orders.items():
            s.until(shows(f'functions by {by}', calls(sorted(sorted(sums.items()), key=order))), f'functions by {by}')
            if by != 'name':
                s.press('s')
        s.press('/')
        s.type('wal')
        s.until(lambda lines: lines[-1].startswith('/wal'), 'what is searched')
        s.press('Enter')
        s.press('N', 'P')
        s.press('b')
        s.until(shows('callers of walk', ('walk', sums['walk'].calls), lambda lines: calls_of(lines[1])), 'callers')
        s.press('BSpace')
        s.until(titled('functions by name'), 'back')
        s.press('g')
        s.until(titled('calls of walk'), 'what it calls')
        s.press('/')
        s.type('nothing')
        s.press('Enter')
        s.until(lambda lines: 'no other function' in lines[-1], 'nothing is found')


def test_sizes(t):
    recording = made.Made(f'{t.folder}/data')
    with Terminal(t, 20, 6, GUESTTRACE, 'tui', recording.path) as s:
        lines = s.until(lambda lines: lines[0] == 'all calls' and all(line.startswith('+ ') for line in lines[1:5]), 'twenty columns')
        need(all(len(line) <= 20 for line in lines), lines)
        s.press('End')
        for columns, height in (8, 3), (45, 10), (60, 2), (3, 1), (100, 30):
            s.resize(columns, height)
            s.press('Down')
            s.until(lambda lines, height=height: len(lines) == height and any(line.strip() for line in lines), f'{columns} columns, {height} lines')
        s.until(titled('all calls'), 'large again')
        need(not s.has_ended(), 'it has ended')


def test_hostile_names(t):
    recording = made.Made(f'{t.folder}/data', [*made.HOSTILE, b'\xe2\x80\xaeturned', b'\x1b[2J\x1b]0;title\x07'], n=400, deep=6)
    with Terminal(t, 100, 40, GUESTTRACE, 'tui', recording.path) as s:
        s.until(titled('all calls'), 'all calls')
        s.press('R')
        lines = s.until(lambda lines: all(any(name in line for line in lines) for name in ('turned', 'xxxxxxxx', '[2J')), 'functions')
        text = '\n'.join(lines)
        need('\u202e' not in text and '\x1b' not in text, 'what turns the direction of text', text)
        title = s.run('display-message', '-p', '#{pane_title}')
        need(title != ['title'], 'a name has set the title')


def test_no_terminal(t):
    recording = made.Made(f'{t.folder}/data', n=50)
    done = commands.run([GUESTTRACE, 'tui', recording.path])
    need(done.returncode == 1 and b'terminal' in done.stderr and not done.stdout, done)
    with Terminal(t, 100, 10, 'env', 'TERM=unknown-terminal', GUESTTRACE, 'tui', recording.path) as s:
        equal(s.status(), 1, 'exit status')
        s.until(lambda lines: 'unknown-terminal' in lines[0], 'an unknown terminal')
    with Terminal(t, 100, 10, GUESTTRACE, 'tui', f'{t.folder}/none') as s:
        equal(s.status(), 1, 'exit status')
        s.until(lambda lines: '/none' in lines[0], 'no recording')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
