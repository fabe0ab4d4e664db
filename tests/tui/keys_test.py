#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The keys of guesttrace tui and top: the help fits the screen, each key that it names does something, and no other one does."""
import re
import sys

from gttest import functions, made
from gttest.paths import GUESTTRACE
from gttest.results import equal, need
from gttest.terminal import Terminal
from top_test import Recording, names, start

NAMES = {'Backspace': 'BSpace', 'PageDown': 'NPage', 'PageUp': 'PPage'}  # tmux has other names
KEYS_WIDTH = 16
CHOSEN = re.compile(r'\x1b\[(?:1m\x1b\[4m|1;4m|0;1;4m)')


def cells_of(lines, head):
    """The rows of the help, of one column or of two."""
    cells = [line.rstrip() for line in lines[head:] if line.strip()]
    return [cell[:39].rstrip() for cell in cells] + [cell[40:] for cell in cells if cell[40:]]


def keys_of(cells):
    return [key for cell in cells if len(cell) > KEYS_WIDTH and cell[KEYS_WIDTH] == ' ' for key in cell[:KEYS_WIDTH].split()]


def send(s, *keys):
    """By the help's names of them; several at once."""
    for key in keys:
        if len(key) == 1:
            s.run('send-keys', '-H', f'{ord(key):02x}')
        else:
            s.press(NAMES.get(key, key))


def chosen(s):
    """The line that is chosen, from 1."""
    return next((i for i, line in enumerate(s.run('capture-pane', '-p', '-e')) if CHOSEN.search(line)), None)


def check_help(s, head, ask):
    """At 80 columns and 24 lines all is there at once; where it is not, pages have the same."""
    s.resize(60, 60)
    ask()
    lines = s.until(lambda lines: any(line.startswith('q ') for line in lines), 'the help in one column')
    all_cells = [line.rstrip() for line in lines[head:] if line.strip()]
    s.resize(80, 24)
    lines = s.until(lambda lines: len(lines) == 24 and any('q                end' in line[40:] for line in lines), 'the help in two columns')
    equal(cells_of(lines, head), all_cells, 'the help in two columns')
    s.resize(40, 10)
    lines = s.until(lambda lines: len(lines) == 10 and ' of ' in lines[-1] and all(line.strip() for line in lines[head:]), 'the help in pages')
    found = cells_of(lines[:-1], head)
    first = 1
    while not lines[-1].split(' of ')[0].endswith(f'to {len(all_cells)}'):
        first += 1
        send(s, 'Down')  # the last line is drawn last
        lines = s.until(lambda lines, first=first: lines[-1].startswith(f'{first} to '), 'the next line')
        found.append(lines[-2].rstrip())
    equal(found, all_cells, 'the help in pages')
    s.resize(80, 24)
    s.until(lambda lines: len(lines) == 24 and any('q                end' in line[40:] for line in lines), 'the help in two columns again')
    return keys_of(all_cells)


def unnamed(keys):
    return [chr(c) for c in range(0x21, 0x7f) if chr(c) not in keys]


# ---- tui -------------------------------------------------------------------------------------------------

def is_titled(text):
    return lambda s, lines: text in lines[0]


def is_at(line):
    return lambda s, lines: chosen(s) == line


def says(text):
    return lambda s, lines: text in lines[-1]


def is_open(line, mark):
    return lambda s, lines: f' {mark} ' in lines[line]


# Key, keys before it, and what is then to be seen, of a tree of 12 lines whose first one is chosen and closed.
TUI = [
    ('Down', [], is_at(2)), ('j', [], is_at(2)), ('Up', ['Down', 'Down'], is_at(2)), ('k', ['Down'], is_at(1)),
    ('PageDown', [], is_at(12)), ('Space', [], is_at(12)), ('PageUp', ['End'], is_at(1)), ('Home', ['End'], is_at(1)), ('End', [], is_at(12)),
    ('Enter', [], is_open(1, '-')), ('Right', ['Right'], is_at(2)), ('Left', ['e'], is_open(1, '+')), ('e', [], is_open(1, '-')),
    ('c', ['e'], is_open(1, '+')), ('E', [], lambda s, lines: len(lines[22].split()) > 6), ('C', ['E'], lambda s, lines: not lines[14].strip()),
    ('n', [], is_at(2)), ('p', ['n', 'n'], is_at(2)), ('l', [], is_at(2)), ('u', ['l'], is_at(1)), ('z', ['E', *['Down'] * 15], is_at(12)),
    ('g', [], is_titled('calls of ')), ('b', [], is_titled('callers of ')), ('r', [], is_titled('functions below ')),
    ('R', [], is_titled('functions by total')), ('s', ['R'], is_titled('functions by self')), ('G', ['R'], is_titled('all calls')),
    ('S', [], is_titled('tasks')), ('I', [], is_titled('info')), ('f', [], is_titled('fields')), ('O', [], says('source line')),
    ('/', [], says('/')), ('H', [], is_titled('calls found by')), ('a', ['/', 'f', 'Enter'], says('a: the exact name alone')),
    ('N', ['R', '/', '?', 'Enter', 'Home'], is_at(3)), ('>', ['R', '/', '?', 'Enter', 'Home'], is_at(3)),
    ('P', ['R', '/', '?', 'Enter', 'End'], is_at(7)), ('<', ['R', '/', '?', 'Enter', 'End'], is_at(7)),
    ('?', [], is_titled('keys')), ('h', [], is_titled('keys')), ('Backspace', ['R'], is_titled('all calls')),
    ('Escape', ['R'], is_titled('all calls'))]


def test_tui(t):
    recording = made.Made(f'{t.folder}/data')
    with Terminal(t, 80, 24, GUESTTRACE, 'tui', recording.path) as s:
        s.until(lambda lines: 'all calls' in lines[0] and '? shows all keys' in lines[-1], 'all calls')
        keys = check_help(s, 1, lambda: send(s, '?'))
        equal(sorted(keys), sorted([*(key for key, *_ in TUI), 'q']), 'the keys of the help, and those tested here')
        start_of = None
        for key, before, holds in TUI:
            send(s, 'Escape', 'G', 'Home', 'C')
            start_of = start_of or s.until(lambda lines: 'all calls' in lines[0] and chosen(s) == 1 and not lines[13].strip(), 'the tree')
            s.until(lambda lines: lines[:13] == start_of[:13] and chosen(s) == 1, f'the tree before {key}')
            send(s, *before)
            send(s, key)
            s.until(lambda lines, holds=holds: holds(s, lines), f'after {before} {key}')
        send(s, 'Escape', 'G', 'Home', 'C', *unnamed(keys))
        equal(s.until(lambda lines: chosen(s) == 1 and lines[:13] == start_of[:13], 'keys that the help does not name')[-1], 'guest', 'the last line')
        send(s, 'j')
        s.until(is_at_of(s, 2), 'only the named key has moved')
        send(s, 'q')
        equal(s.status(), 0, 'exit status')


def is_at_of(s, line):
    return lambda lines: chosen(s) == line


# ---- top -------------------------------------------------------------------------------------------------

def test_top(t):
    recording = Recording(f'{t.folder}/data', 1)
    with start(t, 80, 24, recording) as s:
        rows = names(s.until(lambda lines: len(names(lines)) == 12 and not recording.step < 2, 'functions'))
        calls = {key: sums[2] for key, sums in recording.sums(1).items()}
        s.until(lambda lines: names(lines) == sorted(calls, key=lambda name: (-calls[name], name)), 'all of them')
        rows = names(s.lines())
        keys = check_help(s, 2, lambda: send(s, 'h'))
        send(s, 'h')
        s.until(lambda lines: names(lines) == rows, 'the table again')

        def shows(*want):
            return lambda lines: names(lines) == list(want)

        def heads(text):
            return lambda lines: text in lines[1]

        tests = [
            ('Down', [], shows(*rows[1:])), ('j', [], shows(*rows[1:])), ('Up', ['j', 'j'], shows(*rows[1:])), ('k', ['j'], shows(*rows)),
            ('PageDown', [], shows(rows[-1])), ('PageUp', ['j'], shows(*rows)), ('Home', ['End'], shows(*rows)), ('End', [], shows(rows[-1])),
            ('s', [], heads('by name')), ('>', [], heads('by name')), ('<', [], heads('by all-total')), ('t', [], heads('RAN%')),
            ('T', [], lambda lines: lines[0] == 'task: _'), ('Space', [], heads('paused')), ('d', [], lambda lines: lines[0] == 'seconds: _'),
            ('/', [], lambda lines: lines[0] == '/_'), ('a', ['/', 'f', 'Enter'], heads('f: 2 by')),
            ('Enter', ['/', 'f'], heads(' f: 1 of 2 by')), ('Escape', ['/', 'f'], lambda lines: lines[0].startswith('on:')),
            ('Backspace', ['/', 'f', 'i'], lambda lines: lines[0] == '/f_'),
            ('?', [], lambda lines: lines[2].startswith('MOVE')), ('h', [], lambda lines: lines[2].startswith('MOVE'))]
        equal(sorted(keys), sorted([*(key for key, *_ in tests), 'q']), 'the keys of the help, and those tested here')
        for key, before, holds in tests:
            back = {'t': ['t'], 'Space': ['Space'], 's': ['<'], '>': ['<'], '<': ['s']}.get(key, [])
            send(s, *before, key)
            s.until(holds, f'after {before} {key}')
            send(s, *([] if key in ('Escape', *rows) else ['Escape']), *back, '/', 'Enter', 'Home')
            s.until(shows(*rows), f'all rows after {key}')
        send(s, *unnamed(keys), 'j')
        s.until(shows(*rows[1:]), 'only the named key does something')
        send(s, 'q')
        equal(s.status(), 0, 'exit status')


# ---- small screens ---------------------------------------------------------------------------------------

HOSTILE = [*made.HOSTILE, b'\xe6\xbc\xa2' * 60]  # wide letters, too


def check_lines(lines, columns, what):
    """What is too long is cut, not continued in the next line."""
    need(all(len(line) <= columns for line in lines), f'{what}: a line is too long', *lines)
    need(not any(re.match(r'[x\u6f22]{3}', line) for line in lines), f'{what}: a line goes on in the next one', *lines)


def test_small_tui(t):
    recording = made.Made(f'{t.folder}/data', HOSTILE, n=300, deep=6)
    for columns, height in (80, 24), (40, 10):
        with Terminal(t, columns, height, GUESTTRACE, 'tui', recording.path) as s:
            s.until(is_titled_of('all calls'), 'all calls')
            send(s, 'E')
            check_lines(s.until(lambda lines: len([line for line in lines if line.strip()]) == height, 'a tree'), columns, 'all calls')
            for key, title in [('R', 'functions by'), ('S', 'tasks'), ('I', 'info'), ('f', 'fields'), ('G', 'all calls'), ('H', 'calls found by'),
                               ('g', 'calls of'), ('?', 'keys')]:
                send(s, key)
                check_lines(s.until(is_titled_of(title), title), columns, title)
            send(s, 'G', '/', 'x', 'Enter', 'H', 's', 'End')
            lines = s.until(is_titled_of('by duration'), 'calls')
            check_lines(lines, columns, 'hits')
            need(all(re.match(r' +[\d.]+ ', line) for line in lines[1:-1] if line.strip()), *lines)


def test_long_names(t):
    """The line below the last one is where a name would go on."""
    recording = made.Made(f'{t.folder}/data', [b'x' * (100 + i) for i in range(30)])
    for columns, height in (80, 24), (40, 10):
        with Terminal(t, columns, height, GUESTTRACE, 'tui', recording.path) as s:
            for key, title, foot in [('k', 'all calls', 'guest'), ('R', 'functions by', 'guest'), ('H', 'calls found by', '1 of ')]:
                send(s, key)
                lines = s.until(lambda lines, title=title, foot=foot: title in lines[0] and lines[-1].startswith(foot) and 'xxx' in lines[-2], title)
                need('xxx' not in lines[-1], f'{title}: a name goes on in the last line', *lines)


def is_titled_of(text):
    return lambda lines: text in lines[0]


def test_small_top(t):
    recording = Recording(f'{t.folder}/data', 1, HOSTILE, n=300, deep=6)
    with start(t, 80, 24, recording) as s:
        for columns, height in (80, 24), (40, 10):
            s.resize(columns, height)
            lines = s.until(lambda lines: len(lines) == height and 'by all-calls' in lines[1], 'functions')
            check_lines(lines, columns, 'functions')
            need(all(re.match(r' *(?:[\d.]+|-) ', line) for line in lines[2:] if line.strip()), *lines)
            send(s, 't')
            check_lines(s.until(lambda lines: 'RAN%' in lines[1], 'tasks'), columns, 'tasks')
            send(s, 't', '?')
            check_lines(s.until(lambda lines: lines[2].startswith('MOVE'), 'keys'), columns, 'keys')
            send(s, '?')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
