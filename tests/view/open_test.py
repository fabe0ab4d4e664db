#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that have not returned are marked wherever the page shows calls: in its tables, in the flame graph and of a call itself."""
import collections
import itertools
import json
import sys

from file_test import FilePage, export
from gttest import functions, qemus, uftrace, uftrace_write
from gttest.commands import must, printed
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, write
from page_test import Page, cells
from viewing import Viewing, rows

MAIN, F, G = 16, 32, 48
NAMES = {MAIN: 'main', F: 'f', G: 'g'}
CALLS = {'main': 1, 'f': 3, 'g': 2}
OPEN = {'main': 1, 'f': 1, 'g': 0}
TABLE_TIP = '[...document.querySelectorAll(".tip")].find(tip => !tip.hidden && tip.innerText).innerText'

PROGRAM = r'''
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
static volatile int n;
NOINLINE void step(void) { n++; }
NOINLINE void go_on(char **argv) { step(); execv(argv[0], argv + 1); }
NOINLINE void work(int more) { step(); step(); if (more) n++; }
int main(int argc, char **argv)
{
    work(argc);
    if (argc > 1)
        go_on(argv);
    return 0;
}
'''


def made(t, name='data', *more):
    """main and the third f are open; the first f calls g, and so does the third."""
    data = uftrace_write.records((1000, uftrace.ENTRY, 0, MAIN), (1500, uftrace.ENTRY, 1, F), (1600, uftrace.ENTRY, 2, G), (1700, uftrace.EXIT, 2, G),
                                 (2000, uftrace.EXIT, 1, F), (2500, uftrace.ENTRY, 1, F), (3000, uftrace.EXIT, 1, F), (4000, uftrace.ENTRY, 1, F),
                                 (4500, uftrace.ENTRY, 2, G), (5000, uftrace.EXIT, 2, G), *more)
    return uftrace_write.directory(f'{t.folder}/{name}', {7: data}, NAMES)


def test_answers(t):
    with Viewing(made(t)) as v:
        v.ready()
        names = v.names()
        table = {names[r[0]]: (r[1], r[8]) for r in rows(v.ask('report')['rows'], 9)}
        equal(table, {name: (CALLS[name], OPEN[name]) for name in CALLS}, 'report')
        for by in 'tasks', 'modules':
            (_, _, calls, _, _, _, is_open), = rows(v.ask('groups', by=by)['rows'], 7)
            equal((calls, is_open), (6, 2), by)
        for path in {}, {'inverse': 1}, {'by': 'calls'}:
            sums = collections.Counter()
            for depth, function, *_, is_open in rows(v.ask('flame', **path)['nodes'], 7):
                if depth and (depth == 1 or not path.get('inverse')):
                    sums[names[function]] += is_open
            equal({name: sums[name] for name in OPEN}, OPEN, path)
        edges = {(names[a] if a >= 0 else '', names[b]): is_open for a, b, *_, is_open in rows(v.ask('edges')['edges'], 6)}
        equal(edges, {('', 'main'): 1, ('main', 'f'): 1, ('f', 'g'): 0}, 'edges')
        got = v.ask('function', functions=names.index('f'))
        equal([r[4] for r in rows(got['callers'], 5)] + [r[4] for r in rows(got['callees'], 5)], [1, 0], 'callers and callees')
        found = v.ask('find', functions=names.index('f'), time=2700)
        equal([bool(found[which]['flags'] & 20) for which in ('first', 'longest', 'next', 'before')], [False, True, True, False], 'find')


def check_tables(p, has_ranges):
    p.press('3')
    equal({row['Function']: row['Open'] for row in cells(p, 'Functions')}, {name: str(n or '') for name, n in OPEN.items()}, 'functions')
    p.ask('guesttrace.setState({ function: guesttrace.recording.functions.findIndex(f => f.name === "f") })')
    p.idle()
    equal([(row['Calls'], row['Open']) for row in cells(p, 'Callers')], [('3', '1')], 'callers')
    equal([(row['Calls'], row.get('Open')) for row in cells(p, 'Callees')], [('2', None)], 'callees')
    p.press('4')
    equal([row['Open'] for row in cells(p, 'Modules')], ['2'], 'modules')
    p.press('5')
    equal([row['Open'] for row in cells(p, 'Tasks')], ['2'], 'tasks')
    p.press('2')
    left, top, _, _ = p.where('.flame canvas')
    p.mouse('mouseMoved', left + 20, top + 4 + 2 * 18 + 9)
    p.browser.wait(TABLE_TIP)
    tip = p.ask(TABLE_TIP)
    need('f\n' in tip and '3 calls, 1 of them open' in tip, tip)
    p.press('1')
    for time, note in (4100, 'open: the recording ends before it returns'), (2600, ''):
        p.ask(f'guesttrace.setState({{ call: guesttrace.callAt(0, 1, {time - 1000}).call }})')
        p.idle()
        text = p.ask('document.querySelector(".details").innerText')
        need(note in text and bool(note) == ('open' in text), time, text)
    if has_ranges:
        p.ask('guesttrace.setState({ range: [0, 4000] })')
        p.browser.wait('document.querySelector("[aria-label=\\"Functions of the range\\"] .rows .row")')
        equal({row['Function']: row['Open'] for row in cells(p, 'Functions of the range')}, {name: str(n or '') for name, n in OPEN.items()}, 'of a range')


def test_page(t):
    path = made(t)
    with Viewing(path) as v, Page(t, v.url) as p:
        check_tables(p, True)
        p.picture('open')
    with FilePage(t, 'file://' + export(path, f'{t.folder}/page.html')) as p:
        check_tables(p, False)


def check_difference(p):
    p.press('7')
    got = {row['Function']: (row['Calls A'], row['Open A'], row['Calls B'], row.get('Open B', '')) for row in cells(p, 'Difference')}
    equal(got, {'main': ('1', '1', '1', '1'), 'f': ('3', '1', '4', '2'), 'g': ('2', '', '2', '')}, 'difference')


def test_difference(t):
    """Of two recordings, with a call more that is open in the second; in one that has none there is no such column."""
    first, second = made(t), made(t, 'second', (5100, uftrace.ENTRY, 2, F))
    with Viewing(first, second) as v, Page(t, v.url) as p:
        check_difference(p)
        p.picture('open-difference')
    with FilePage(t, 'file://' + export(second, f'{t.folder}/two.html', first)) as p:
        check_difference(p)
    returned = made(t, 'returned', (5100, uftrace.EXIT, 1, F), (5200, uftrace.EXIT, 0, MAIN))
    with Viewing(returned, first) as v, Page(t, v.url) as p:
        p.press('7')
        for row in cells(p, 'Difference'):
            need('Open A' not in row and row['Open B'] == str(OPEN[row['Function']] or ''), row)


def links(p):
    """{link: note} to calls that are open and to one that has returned; what is in sight is elsewhere."""
    found = {}
    for depth, time, note in (1, 3100, 'open: the recording ends'), (0, 100, 'open: the recording ends'), (1, 600, ''):
        p.ask('guesttrace.setState({ from: 0, to: 4000 })')
        p.idle()
        p.ask(f'guesttrace.setState({{ call: guesttrace.callAt(0, {depth}, {time}).call, from: 1600, to: 1700 }})')
        begin = p.state('call.begin')
        p.browser.wait(f'location.hash.includes("at=1600-1700") && location.hash.includes("call=7%2C{depth}%2C{begin}%2C")')
        found[p.ask('location.hash')] = note
    return found


def test_link(t):
    """A call that a link opens is said to be open, too."""
    path = made(t)
    with Viewing(path) as v, Page(t, v.url) as p:
        found = links(p)
    with Viewing(path) as v:
        pages = [(Page, v.url), (FilePage, 'file://' + export(path, f'{t.folder}/page.html'))]
        for (page, url), (link, note) in itertools.product(pages, found.items()):
            with page(t, url + link) as p:
                p.browser.wait('guesttrace.state.call.flags !== undefined')
                p.idle()
                text = p.ask('document.querySelector(".details").innerText')
                need('Ends at' in text and note in text and bool(note) == ('open' in text), link, text)


def test_none(t):
    """Where all calls have returned there is no such column."""
    data = uftrace_write.records((1000, uftrace.ENTRY, 0, MAIN), (1500, uftrace.EXIT, 0, MAIN))
    path = uftrace_write.directory(f'{t.folder}/returned', {7: data}, {MAIN: 'main'})
    with Viewing(path) as v, Page(t, v.url) as p:
        p.press('3')
        row, = cells(p, 'Functions')
        need('Calls' in row and 'Open' not in row, row)


def test_program_goes_on(t):
    """What an execve leaves open: as report has it, and each call of the time line."""
    qemus.user('x86_64')
    program, out = f'{t.folder}/program', f'{t.folder}/out.gtrace'
    write(f'{program}.c', PROGRAM)
    compile_to(program, 'x86_64', f'{program}.c', '-O1')
    must([GUESTTRACE, 'record', '-q', '-o', out, program, program])
    known = {row['function']: row['open'] for row in json.loads(printed([GUESTTRACE, 'report', '--json', out]))['rows'] if row['open']}
    need(known.get('go_on') == 1 and known.get('main') == 1, known)
    with Viewing(out) as v:
        v.ready()
        names = v.names()
        begin = v.ask('find', functions=names.index('go_on'), time=0)['first']['begin']
        task, = v.ask('tiles', exp=0, bin=begin, bins=1, tasks=0)['tasks']
        for number, (_, _, _, f, flags) in enumerate(rows(task['slices'], 5)):
            need((flags & 20 > 0) == (names[f] in known), number, names[f], flags)
        need({'main', 'go_on'} <= {names[f] for _, _, _, f, _ in rows(task['slices'], 5)}, 'no slices')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
