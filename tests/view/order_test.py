#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The order of tracks on the page of guesttrace view, and how wide their names are."""
import json
import sys

from gttest import commands, functions, uftrace, uftrace_write
from gttest.paths import GUESTTRACE
from gttest.results import equal, need
from page_test import Page
from viewing import Viewing

TASKS = 'guesttrace.layout.items.filter(i => i.track).map(i => guesttrace.recording.info.tasks[i.track.task].id)'
HEAD = 'Number(document.querySelector(".divider").getAttribute("aria-valuenow"))'


def recording(t):
    """{task: begin, how long it ran}: numbers, first calls and times that ran have other orders. 9 sleeps most of its time."""
    enter, leave, event = uftrace.ENTRY, uftrace.EXIT, uftrace.EVENT
    data = {10: uftrace_write.records((1000, enter, 0, 16), (3000, leave, 0, 16)), 9: uftrace_write.records((500, enter, 0, 16), (600, event, 1, 200002), (8000, event, 1, 200001), (8100, leave, 0, 16)),
            11: uftrace_write.records((2000, enter, 0, 16), (7000, leave, 0, 16))}
    path = f'{t.folder}/order'
    uftrace_write.directory(path, data, {16: 'work'})
    return path


def choose(p, order):
    p.ask(f'(() => {{ const s = document.querySelector("select.order"); s.value = "{order}"; s.dispatchEvent(new Event("change")); }})()')
    p.idle()


def test_order(t):
    """As chosen; by the time that ran it is that of report; a link has it."""
    path = recording(t)
    rows = json.loads(commands.printed([GUESTTRACE, 'report', '--by', 'task', '--json', path]))['rows']
    ran = [row['tid'] for row in sorted(rows, key=lambda row: -row['total_ns'])]
    equal(ran, [11, 10, 9], 'report')
    with Viewing(path) as v:
        with Page(t, v.url) as p:
            made = p.ask(TASKS)
            for order, tasks in ('name', [9, 10, 11]), ('first', [9, 10, 11]), ('ran', ran), ('', made):
                choose(p, order)
                p.browser.wait(f'JSON.stringify({TASKS}) === "{json.dumps(tasks, separators=(",", ":"))}"')
            choose(p, 'ran')
            p.browser.wait('location.hash.includes("order=ran")')
            link = p.ask('location.hash')
        with Page(t, v.url + link) as p:
            p.browser.wait(f'JSON.stringify({TASKS}) === "[11,10,9]"')
            equal(p.ask('document.querySelector("select.order").value'), 'ran', 'the choice')
            p.ask('guesttrace.setState({ pinned: [guesttrace.recording.info.tasks.findIndex(t => t.id === 9)] })')
            p.idle()
            equal(p.ask(TASKS), [9, 11, 10], 'the pinned one is on top')


def test_width(t):
    """Dragged, or moved by keys; calls are then where they are drawn; a link has it."""
    with Viewing(recording(t)) as v:
        with Page(t, v.url) as p:
            left, top, width, _ = p.where('.divider')
            plot = p.where('canvas.tracks')[0]
            p.drag(left + width / 2, top + 200, plot + 320, top + 200)
            equal(p.ask(HEAD), 320, 'dragged')
            p.picture('wide')
            canvas = p.where('canvas.tracks')
            x = canvas[0] + 320 + (canvas[2] - 320) * 1500 / (p.state('to') - p.state('from'))
            item = p.ask('guesttrace.layout.items.find(i => i.track && guesttrace.recording.info.tasks[i.track.task].id === 10).y')
            p.click(x, canvas[1] + 26 + item + 6)
            equal(p.ask('guesttrace.recording.info.tasks[guesttrace.state.call.task].id'), 10, 'the call at its place')
            p.ask('document.querySelector(".divider").focus()')
            p.press('ArrowRight', 'ArrowLeft', 'ArrowLeft')
            equal(p.ask(HEAD), 304, 'arrows')
            p.press('Home')
            equal(p.ask(HEAD), 120, 'Home')
            p.press('ArrowLeft')
            equal(p.ask(HEAD), 120, 'the least')
            p.press('End')
            need(120 < p.ask(HEAD) <= p.ask('guesttrace.view.canvas.clientWidth') / 2 + 1, 'End:', p.ask(HEAD))
            p.press('Home', 'ArrowRight')
            p.browser.wait('location.hash.includes("names=136")')
            link = p.ask('location.hash')
        with Page(t, v.url + link) as p:
            equal(p.ask(HEAD), 136, link)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
