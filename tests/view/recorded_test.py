#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What guesttrace has recorded of a running program, on the page and in the page as a file: parts, marks of triggers."""
import json
import re
import sys

import texts
from gttest import boards, commands, compilers, functions, paths, qemus, recordings, splits
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, read_bytes
from file_test import FilePage, export
from page_test import PIXEL, Page, cells, count
from use_test import PLACE
from viewing import Viewing

NAMES, TRACKS = 'functions.map(f => f.name).sort()', 'tracks.tasks'
# Whether the time line's strip of marks has, at a time, a mark, and a little before it none.
MARKED = '''(() => {
  const c = guesttrace.view.canvas, r = c.getBoundingClientRect(), per = (guesttrace.state.to - guesttrace.state.from) / (r.width - 200);
  const x = 200 + (%d - guesttrace.state.from) / per;
  const at = dx => [...c.getContext("2d").getImageData(Math.round((x + dx) * devicePixelRatio), Math.round((26 + 8) * devicePixelRatio), 1, 1).data].join();
  return at(0.5) !== at(-3) || at(1) !== at(-3);
})()'''


def check_rows(p, recording):
    """What is in sight of the table of functions is what report says of them."""
    known = json.loads(commands.printed([GUESTTRACE, 'report', '--json', recording]))['rows']
    known = {(r['function'], r['calls'], texts.time_text(r['total_ns']), texts.time_text(r['self_ns'])) for r in known}
    p.press('3')
    seen = [(row['Function'], count(row['Calls']), row['Total'], row['Self']) for row in cells(p, 'Functions')]
    need(len(seen) > 10 and known.issuperset(seen), 'not in the report:', set(seen) - known)
    return seen


def test_parts(t):
    """A set of parts gives the file that the same run in one file gives."""
    both = splits.Both(t.folder, '64K')
    both.record(qemus.user('x86_64'), splits.build(t.folder), '200', 'fork')
    parts = splits.parts(both.set)
    need(len(parts) >= 2, 'parts:', parts)
    for which in 'one', 'set':
        both.read(which, 'export', '--format', 'html', '-o', f'../{which}.html')
    with FilePage(t, f'file://{t.folder}/set.html') as p:
        seen = check_rows(p, both.set)
        names, tracks = (p.ask(f'guesttrace.recording.{what}') for what in (NAMES, TRACKS))
    with FilePage(t, f'file://{t.folder}/one.html') as p:
        equal([p.ask(f'guesttrace.recording.{what}') for what in (NAMES, TRACKS)], [names, tracks], 'functions and tracks of one file')
        equal(check_rows(p, both.one), seen, 'sums of one file')
    with FilePage(t, 'file://' + export(parts[1], f'{t.folder}/part.html')) as p:
        need(check_rows(p, parts[1]) != seen, 'a part has all')


HANDLERS = 'functions.filter(f => f.handler).map(f => f.name).sort()'
COLOR = """(() => { const c = document.createElement('canvas').getContext('2d');
  c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--handler'); c.fillRect(0, 0, 1, 1);
  return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3); })()"""


def test_handlers(t):
    """Handlers of a machine's interrupts have their color, in dark as well, and a line that says what they are."""
    machine = boards.build_kernel('aarch64', t.folder, paths.source('machine', 'cases', 'interrupts.c'))
    out = f'{t.folder}/machine.gtrace'
    recordings.record(out, ['-q', '--clock', 'insn', '--symbols', machine.elf], machine.command(qemus.find('aarch64')[0][1]))
    known = {r['function'] for r in json.loads(commands.printed([GUESTTRACE, 'report', '--json', out]))['rows']}
    with Viewing(out) as v, Page(t, v.url) as p:
        names = p.ask(f'guesttrace.recording.{HANDLERS}')
        need('vector_irq' in names and known.issuperset(names) and known - set(names), 'handlers:', names)
        p.press('/')
        p.type('vector_irq')
        p.press('Enter', 'Escape')
        p.ask('guesttrace.goTo(guesttrace.state.function, "longest")')
        p.press('Enter')
        p.browser.wait('document.querySelector(".details").innerText.includes("handler of an interrupt")')
        p.idle()
        call = p.state('call')
        p.ask('guesttrace.setState({ search: "" })')
        for _ in 'light', 'dark':
            p.press('t')
            p.idle()
            y = p.ask(PLACE % (call['task'], call['begin'], call['depth']))[1] - p.where('canvas.tracks')[1]
            seen, want = p.ask(PIXEL % (call['begin'] + call['duration'] * 0.97, y - 48)), p.ask(COLOR)
            need(max(abs(a - b) for a, b in zip(seen, want)) < 8, 'the color is', seen, 'not', want)
            dot = p.ask('getComputedStyle(document.querySelector(".stack .on .dot")).backgroundColor')
            equal([int(n) for n in re.findall(r'\d+', dot)], want, 'the color in the path')


def events(recording):
    """{kind of line: [(time in ns, the rest)]} of the replay."""
    found = {}
    for line in commands.printed([GUESTTRACE, 'replay', '--no-pager', '--flat', recording]).splitlines()[1:]:
        seconds, fraction, kind, text = re.match(r' *(\d+)\.(\d{9}) +\S+ +\S+ (\w+) +\S+ (.*)$', line).groups()
        found.setdefault(kind, []).append((int(seconds + fraction), text))
    return found


def check_marks(p, marks):
    """The page has them at these times, in the strip above the tracks, and their texts are texts."""
    p.browser.wait(f'guesttrace.view.marks.console.length === {len(marks)}')
    equal(p.ask('guesttrace.view.marks.console.map(m => [m.time, m.text])'), [list(m) for m in marks], 'marks')
    for time, text in marks[:1] + marks[-1:]:
        p.ask(f'guesttrace.setState({{ from: {time - 40}, to: {time + 40} }})')
        p.idle()
        need(p.ask(MARKED % time), text, 'is not drawn at', time)
    equal(p.ask('document.querySelectorAll("b").length'), 0, 'elements that marks made')


def test_marks(t):
    """Those of mark= triggers stand where the functions were called, on the page and in its file."""
    qemu = qemus.user('x86_64')
    program = compilers.compile_to(f'{t.folder}/queens', 'x86_64', f'{paths.SCRIPTS}/demo.c', '-O1', '-static')
    out = f'{t.folder}/marks.gtrace'
    recordings.record(out, ['-q', '--clock', 'insn', '-T', 'place_queen@mark="<b>bold</b>, 3 times",count=3', '-T', 'compare@mark=sort,count=1'],
                      [qemu, program])
    found = events(out)
    begin = found['enter'][0][0]
    at = {name: [time - begin for time, f in found['enter'] if f == name] for name in ('place_queen', 'compare')}
    marks = [(time, '<b>bold</b>, 3 times') for time in at['place_queen'][:3]] + [(at['compare'][0], 'sort')]
    equal([(time - begin, text) for time, text in found['mark']], marks, 'what replay has')
    with Viewing(out) as v, Page(t, v.url) as p:
        check_marks(p, marks)
        p.picture('marks')
    with FilePage(t, 'file://' + export(out, f'{t.folder}/page.html')) as p:
        check_marks(p, marks)
    need(b'<b>bold' not in read_bytes(f'{t.folder}/page.html'), 'a mark is HTML in the file')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
