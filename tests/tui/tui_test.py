#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace tui in a terminal of tmux: what it shows is what the records say, whatever the terminal's size."""
import collections
import os
import sys

from gttest import call_sums, commands, functions, made
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, read_text
from gttest.terminal import Terminal


def calls_of(line):
    """Name and number of calls of a line: TOTAL unit TOTAL% SELF unit SELF% CALLS [+-] NAME."""
    words = line.split()
    return words[-1], int(words[6].replace(',', '')) if len(words) > 6 and words[6].replace(',', '').isdigit() else None


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
        s.until(lambda lines: rows(lines)[:2] == outer[:2] and lines[2].split()[7] == '-', 'the next one')
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


def outermost(sums):
    return calls(sorted(((path[0], s) for path, s in sums.items() if len(path) == 1), key=lambda row: -row[1].total))


def test_search_back(t):
    """P comes to the hit before: in a list, around its beginning, and in a tree's closed lines."""
    recording = made.Made(f'{t.folder}/data')
    sums = call_sums.functions_of(recording.all_paths())
    hits = [name for name in sorted(sums) if 'r' in name]
    equal(hits, ['read', 'sort', 'write'], 'hits')
    with Terminal(t, 100, 40, GUESTTRACE, 'tui', recording.path) as s:
        def chosen():
            """What is chosen now: g shows it."""
            s.press('g')
            title = s.until(titled('calls of '), 'what the chosen one calls')[0]
            s.press('BSpace')
            s.until(titled('functions by name'), 'back')
            return title.split()[-1]

        s.until(titled('all calls'), 'all calls')
        s.press('R', 's', 's', 's', '/')
        s.type('r')
        s.press('Enter')
        s.until(titled('functions by name'), 'functions')
        at = hits.index(chosen())
        for key, step in ('P', -1), ('P', -1), ('<', -1), ('N', 1), ('>', 1), ('P', -1):
            s.press(key)
            at = (at + step) % len(hits)
            equal(chosen(), hits[at], f'after {key} at hit {at} of {hits}')
        s.press('G', 'P')
        s.until(lambda lines: len(rows(lines)) > len(outermost(recording.all_paths())), 'a closed line that P has opened')


def below(recording, function):
    """Sums of the functions on paths from the first `function` on."""
    sums = collections.defaultdict(call_sums.Sum)
    for path, s in recording.all_paths().items():
        if function in path:
            sums[path[path.index(function):]].add(*s)
    return call_sums.functions_of(sums)


def test_functions_below(t):
    recording = made.Made(f'{t.folder}/data')
    with Terminal(t, 100, 40, GUESTTRACE, 'tui', recording.path) as s:
        s.until(titled('all calls'), 'all calls')
        first = outermost(recording.all_paths())[0][0]
        want = below(recording, first)
        s.press('r')
        s.until(shows(f'functions below {first} by total', calls(sorted(sorted(want.items()), key=lambda row: -row[1].total))), 'by total')
        s.press('s')
        s.until(shows(f'functions below {first} by self', calls(sorted(sorted(want.items()), key=lambda row: -row[1].self))), 'by self')


def test_tasks(t):
    recording = made.Made(f'{t.folder}/data')
    with Terminal(t, 100, 40, GUESTTRACE, 'tui', recording.path) as s:
        s.until(shows('all calls', outermost(recording.all_paths())), 'all calls')
        s.press('S')
        s.until(lambda lines: lines[1].endswith('* all tasks') and [line.split()[6] for line in lines[2:5]] == ['7', '8', '5000000'], 'tasks')
        s.press('Down', 'Down', 'Enter')
        s.until(shows('calls of task 8', outermost(recording.paths(8))), 'one task')
        s.press('S')
        s.until(lambda lines: ' * 8 ' in lines[3], 'the chosen task')
        s.press('/')
        s.type('5000')
        s.press('Enter', 'Enter')
        s.until(shows('calls of task 5000000', outermost(recording.paths(5000000))), 'another one')
        s.press('S', 'Enter')
        s.until(shows('all calls', outermost(recording.all_paths())), 'all again')
    with Terminal(t, 100, 40, GUESTTRACE, 'tui', '--task', '7', recording.path) as s:
        s.until(shows('all calls', outermost(recording.paths(7))), 'the command\'s task')
        s.press('S', 'Down', 'Down', 'Enter')
        s.until(lambda lines: 'leave this task out' in lines[-1], 'a task that is left out')


def test_info_and_fields(t):
    recording = made.Made(f'{t.folder}/data')
    info = commands.printed([GUESTTRACE, 'info', recording.path]).splitlines()
    sums = call_sums.functions_of(recording.all_paths())
    with Terminal(t, 100, 60, GUESTTRACE, 'tui', recording.path) as s:
        s.until(titled('all calls'), 'all calls')
        s.press('I')
        s.until(lambda lines: [line.rstrip() for line in lines[1:1 + len(info)]] == [line[:99].rstrip() for line in info], 'info')
        s.press('g', 'r', 'O', 'Enter', 'BSpace', 'f')
        s.until(lambda lines: [line[:3] for line in lines[1:9]] == ['[x]'] * 5 + ['[ ]'] * 3, 'fields')
        s.press('Enter', *['Down', 'Enter'] * 3, 'End', 'Up', 'Enter', 'Up', 'Enter')
        s.until(lambda lines: [line[:3] for line in lines[1:9]] == ['[ ]'] * 4 + ['[x]'] * 3 + ['[ ]'], 'other fields')
        s.press('BSpace', 'R')
        rows = [f'{x.calls:,} {x.total // x.calls / 1000:.3f} us 0.000 us {name}'
                for name, x in sorted(sorted(sums.items()), key=lambda row: -row[1].total)]
        s.until(lambda lines: lines[0].split()[:5] == ['CALLS', 'AVERAGE', 'SLEPT', 'functions', 'by'] and
                [' '.join(line.split()) for line in lines[1:1 + len(rows)]] == rows, 'their values')


def test_editor(t):
    recording = made.Made(f'{t.folder}/data')
    first = outermost(recording.all_paths())[0][0]
    source, said = f'{t.folder}/a source.c', f'{t.folder}/said'
    number = made.PLAIN.index(first)
    with open(f'{recording.path}/guest.dbg', 'w', encoding='ascii') as f:
        f.write(f'F: {made.FIRST + 16 * number:x} {first}\nL: 12 {source}\n')
    command = ['env', 'VISUAL=', f'EDITOR=sh -c \'printf "%s\\n" "$@" >{said}; exit "$STATUS"\' sh', GUESTTRACE, 'tui', recording.path]
    with Terminal(t, 100, 10, 'env', 'STATUS=0', *command) as s:
        s.until(titled('all calls'), 'all calls')
        s.press('O')
        s.until(lambda lines: 'not here' in lines[-1], 'no source')
        open(source, 'w', encoding='ascii').close()
        s.press('O')
        s.until(lambda _: os.path.exists(said) and read_text(said) == f'+12\n{source}\n', 'the editor')
        s.until(lambda lines: titled('all calls')(lines) and lines[-1].endswith('source.c:12'), 'the screen after it')
        s.press('j')
        s.until(lambda lines: titled('all calls')(lines) and lines[-1] == 'guest', 'the next function')
        s.press('O')
        s.until(lambda lines: 'source line of this function is not known' in lines[-1], 'another function')
    with Terminal(t, 100, 10, 'env', 'STATUS=3', *command) as s:
        s.until(titled('all calls'), 'all calls')
        s.press('O')
        s.until(lambda lines: 'editor has failed' in lines[-1], 'an editor that fails')


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
