#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot on the page of guesttrace view: its stages and lines as ranges above the time line, its initcalls as a table."""
import json
import sys

import texts
from gttest import commands, functions, uftrace, uftrace_write
from gttest.paths import GUESTTRACE
from gttest.results import equal, need
from page_test import Page, report
from viewing import Viewing

NAMES = {16: 'start_kernel', 32: 'do_one_initcall', 48: 'a_init', 64: 'b_init', 80: 'jumped_to', 96: 'kernel_init'}
# begin of a line, its text
LINES = [(1000, 'OpenSBI v1.3'), (2000, '  | | <b>logo</b>'), (3000, '[    0.000000] Linux version 6.1.0'), (3100, '[    0.000000] Booting Linux on physical CPU'),
         (5000, '[    0.001000] second line'), (6000, '[    0.002000] Run /init as init process'), (8000, '\u202ehidden')]
FIRST = 1000
STAGES = [('OpenSBI v1.3', 1000, 3000), ('Linux', 3000, 6000), ('init', 6000, 9000)]
PHASES = '[...document.querySelectorAll(".phase")].sort((a, b) => parseFloat(a.style.left) - parseFloat(b.style.left)).map(b => b.textContent)'


def click(p, text):
    p.ask(f'[...document.querySelectorAll(".phase")].find(b => b.textContent === {json.dumps(text)}).click()')
    p.idle()


def recording(t, console=True):
    """From 1000 to 9000; a_init sleeps, b_init jumps into another function."""
    enter, leave, event = uftrace.ENTRY, uftrace.EXIT, uftrace.EVENT
    data = uftrace_write.records((1000, enter, 0, 16), (3100, enter, 1, 32), (3200, enter, 2, 48), (3300, event, 3, 200002), (4300, event, 3, 200001),
                                 (4400, leave, 2, 48), (4500, leave, 1, 32), (5000, enter, 1, 32), (5100, enter, 2, 64), (5200, leave, 2, 64), (5200, enter, 2, 80),
                                 (5600, leave, 2, 80), (5900, leave, 1, 32), (6500, enter, 1, 96), (8500, leave, 1, 96), (9000, leave, 0, 16))
    path = f'{t.folder}/boot'
    lines = ''.join(f'0.{time:09} {text}\n' for time, text in LINES) if console else ''
    uftrace_write.directory(path, {7: data}, NAMES, console=lines)
    return path


def test_stages(t):
    """Named by what they print first; a click zooms to one, with the sums that report has; in one its lines are ranges."""
    path = recording(t)
    with Viewing(path) as v, Page(t, v.url) as p:
        p.browser.wait('document.querySelectorAll(".phase").length === 3')
        equal(p.ask(PHASES), [name for name, _, _ in STAGES], 'stages')
        p.picture('stages')
        for name, begin, end in STAGES:
            p.press('0')
            click(p, name)
            equal([p.state(what) for what in ('range', 'from', 'to')], [[begin - FIRST, end - FIRST], begin - FIRST, end - FIRST], name)
            p.press('3')
            sums = report(path, '--from', f'{begin - FIRST}ns', '--to', f'{end - FIRST}ns')
            shown = {row[-3]: row[:2] for row in p.rows('Functions')}
            equal({f: shown[f] for f in sums}, {f: [texts.time_text(total), texts.time_text(own)] for f, (_, total, own) in sums.items()}, name)
            p.press('1')
        equal(p.ask(PHASES), ['Run /init as init process', '\\u202ehidden'], 'lines of the last stage')
        click(p, '\\u202ehidden')
        equal(p.state('range'), [8000 - FIRST, 9000 - FIRST], 'a line')
        p.press('0')
        click(p, 'OpenSBI v1.3')
        equal(p.ask(PHASES), ['OpenSBI v1.3', '  | | <b>logo</b>'], 'lines of the first stage')
        equal(p.ask('document.querySelectorAll(".phases b").length'), 0, 'elements that lines made')


def test_marks(t):
    """Without stages each mark begins a range; many are summed up where they are too narrow."""
    path = recording(t, console=False)
    with open(f'{path}/extern.dat', 'w', encoding='utf-8') as f:
        f.write(''.join(f'0.00000{time:04} mark {time}\n' for time in range(1000, 9000, 10)))
    with Viewing(path) as v, Page(t, v.url) as p:
        p.browser.wait('document.querySelectorAll(".phase").length > 3')
        names = p.ask(PHASES)
        need(len(names) < 40 and names[0] == 'mark 1000', names)
        p.ask('guesttrace.setSight(1000, 1020)')
        p.idle()
        equal(p.ask(PHASES), ['mark 2000', 'mark 2010'], 'marks in sight')


def test_initcalls(t):
    """What report has of them; a click goes to the call."""
    path = recording(t)
    rows = json.loads(commands.printed([GUESTTRACE, 'report', '--by', 'initcall', '-s', 'begin', '--json', path]))['rows']
    equal([(row['initcall'], row['total_ns'], row['slept_ns']) for row in rows], [('a_init', 200, 1000), ('b_init', 500, 0)], 'report')
    with Viewing(path) as v, Page(t, v.url) as p:
        equal(p.ask('[...document.querySelectorAll("[role=tab]")].filter(b => !b.hidden).map(b => b.textContent)')[-1], 'Initcalls', 'the last tab')
        p.press('8')
        p.browser.wait('document.querySelector("[aria-label=Initcalls] .rows .row")')
        shown = [tuple(row[:6]) for row in p.rows('Initcalls')]
        equal(shown, [(f'{row["begin_ns"] / 1e9:.9f} s', *(texts.time_text(row[what]) if row[what] else '0' for what in ('total_ns', 'slept_ns', 'wall_ns')),
                       row['initcall'], 'guest') for row in rows], 'rows')
        p.picture('initcalls')
        p.ask('[...document.querySelectorAll("[aria-label=Initcalls] .head button")].find(b => b.textContent === "Ran").click()')
        p.idle()
        equal([row[4] for row in p.rows('Initcalls')], ['b_init', 'a_init'], 'by the time that ran')
        p.ask('document.querySelector("[aria-label=Initcalls] .rows .row").click()')
        p.idle()
        equal([p.state('tab'), p.state('call.begin'), p.state('call.duration'), p.ask('guesttrace.functionOf(guesttrace.state.call.function).name')],
              ['timeline', 5100 - FIRST, 100, 'b_init'], 'the call')
        p.ask(f'guesttrace.setState({{ tab: "boot", range: [{4000 - FIRST}, {6000 - FIRST}] }})')
        p.browser.wait('document.querySelectorAll("[aria-label=Initcalls] .rows .row").length === 2')
        equal([row[3] for row in p.rows('Initcalls')], ['500 ns', '400 ns'], 'of a range')
    out = f'{t.folder}/boot.html'
    commands.must([GUESTTRACE, 'export', '-f', 'html', '-o', out, path])
    with Page(t, f'file://{out}#tab=boot') as p:
        p.browser.wait('document.querySelector("[aria-label=Initcalls] .rows .row")')
        equal([tuple(row[:6]) for row in p.rows('Initcalls')], shown, 'in the file')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
