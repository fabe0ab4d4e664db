#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a person does on the page of guesttrace view, with mouse and keys, and what the page then has."""
import json
import re
import sys

import texts
from gttest import call_sums, commands, compilers, functions, made, paths, qemus, recordings, uftrace, uftrace_write, valued
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, write
from page_test import PIXEL, Page, count, first_call, random_steps, report
from source_test import BUILT, LINES, make
from viewing import Viewing

SECTION = 100000, 300000
# Where a time, and a depth of a task's open track, are in the window.
PLACE = '''(() => {
  const { state, view, layout } = guesttrace, box = view.canvas.getBoundingClientRect();
  const item = layout.items.find(i => i.track && i.track.task === %d);
  return [box.left + 200 + (%s - state.from) / (state.to - state.from) * (box.width - 200), box.top + 26 + item.y - view.scroll + (%d + 0.5) * 16];
})()'''
# [[depth, function, calls, total], ...] of the flame graph.
NODES = 'guesttrace.flame.nodes.map(n => [n.depth, n.function >= 0 ? guesttrace.functionOf(n.function).name : "", n.calls, n.total])'
TABLE_CELL = '''(() => {
  const cell = [...document.querySelectorAll('[aria-label="Functions"] %s')].find(c => c.textContent.replace(/ [▾▴]$/, "") === "%s");
  const box = cell.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
})()'''


def shown(t, **more):
    recording = made.Made(f'{t.folder}/data', step=random_steps, **more)
    return recording, Viewing(recording.path)


def index_of(p, name):
    return p.ask(f'guesttrace.recording.functions.findIndex(f => f.name === {json.dumps(name)})')


def details(p):
    return p.ask('document.querySelector(".details").innerText')


def test_click(t):
    """A click shows a call's name, module, source line, times and path; each call of the path can be clicked."""
    recording, folder = make(t)
    depth, name, begin, end = first_call(recording, 8)
    first = min(int.from_bytes(data[:8], 'little') for data in recording.data.values())
    begin, end = begin - first, end - first
    with Viewing('--source', folder, recording.path) as v, Page(t, v.url) as p:
        p.ask(f'guesttrace.setSight({begin - 20}, {end + 20})')
        p.idle()
        p.click(*p.ask(PLACE % (1, (begin + end) / 2, depth)))
        equal([p.state(f'call.{what}') for what in ('task', 'depth', 'begin', 'duration')], [1, depth, begin, end - begin], 'the call')
        text = details(p)
        line = f'{LINES[name][0]}:{LINES[name][1]}' if name in LINES else ''
        for what in name, 'Module\nguest', line, texts.time_text(end - begin), f'{begin / 1e9:.9f} s', f'{end / 1e9:.9f} s':
            need(what in text, what, 'is not in', text)
        p.ask('document.querySelector(".stack li").click()')
        p.idle()
        outer = p.state('call')
        need(outer['depth'] == 0 and outer['begin'] <= begin and outer['begin'] + outer['duration'] >= end, outer)
        p.ask(f'guesttrace.setState({{ call: {{ ...guesttrace.state.call, function: {index_of(p, "fib")} }} }})')
        p.idle()
        need(f'{BUILT}:6' in details(p), details(p))


def test_arguments(t):
    """Those of a recorded machine: what the page shows of a call is what replay prints of it."""
    qemu = qemus.machines_from('aarch64', qemus.TELLS_MEMORY)
    machine, out = f'{t.folder}/machine', f'{t.folder}/machine.gtrace'
    compilers.compile_to(machine, 'aarch64', f'{paths.SCRIPTS}/demo-machine.c', '-O1', '-g', '-ffreestanding',
                         '-nostdlib', '-static', '-mgeneral-regs-only', '-Wl,-Ttext=0x40080000')
    recordings.record(out, ['-q', '--clock', 'insn', '-a', '-F', 'is_prime', '--symbols', machine],
                      [qemu, '-M', 'virt', '-cpu', 'cortex-a57', '-display', 'none', '-serial', 'stdio', '-kernel', machine])
    printed = commands.printed([GUESTTRACE, 'replay', '--no-pager', '-f', 'none', out])
    n, result = re.search(r'is_prime\(n=(\d+)\) = (\d+)', printed).groups()
    with Viewing(out) as v, Page(t, v.url) as p:
        p.press('/')
        p.type('is_prime')
        p.press('Enter', 'Escape')
        p.ask('guesttrace.goTo(guesttrace.state.function, "first")')
        p.browser.wait('document.querySelector(".details").innerText.includes("retval")')
        text = details(p)
        need(f'n\n{n}\n' in text and f'retval\n{result}\n' in text, text)


def test_drag(t):
    _, viewing = shown(t)
    with viewing as v, Page(t, v.url) as p:
        p.press('w', 'w', 'w')
        begin, end = p.state('from'), p.state('to')
        left, top, width, _ = p.where('canvas.tracks')
        p.drag(left + 700, top + 200, left + 500, top + 200)
        by = 200 * (end - begin) / (width - 200)
        need(abs(p.state('from') - begin - by) < by / 50 and abs(p.state('to') - end - by) < by / 50, p.state('from'), begin, by)
        p.press('a')
        need(p.state('from') < begin + by, 'A does not move it back')
        wide = p.state('to') - p.state('from')
        p.press('s')
        need(p.state('to') - p.state('from') > wide, 'S does not zoom out')
        time = p.state('from') + (p.state('to') - p.state('from')) * 300 / (width - 200)
        p.mouse('mouseWheel', left + 500, top + 200, deltaX=0, deltaY=-200)
        p.idle()
        after = p.state('from') + (p.state('to') - p.state('from')) * 300 / (width - 200)
        need(abs(after - time) < wide / 100, 'the wheel zooms at another place:', time, after)


def test_search(t):
    """By a part of a name, a glob, a module: in tables, on the time line and in the flame graph."""
    recording, viewing = shown(t)
    everything = set(report(recording.path))
    with viewing as v, Page(t, v.url) as p:
        p.press('3')
        for text, names in ('ea', {'read'}), ('?et', {'get'}), ('*t', {n for n in everything if n.endswith('t')}), ('guest:w*', {'walk', 'write'}), ('other:w*', set()):
            p.ask(f'guesttrace.setState({{ search: {json.dumps(text)} }})')
            p.idle()
            equal({row[7] for row in p.rows('Functions') if len(row) > 7}, names & everything, text)
        p.ask('guesttrace.setState({ search: "", tab: "timeline" })')
        p.idle()
        call = p.ask('[...Array(100).keys()].map(i => guesttrace.callAt(1, 0, guesttrace.recording.duration * i / 100)).filter(h => h && h.call)[0].call')
        name = p.ask(f'guesttrace.functionOf({call["function"]}).name')
        p.ask(f'guesttrace.setSight({call["begin"]}, {call["begin"] + call["duration"]})')
        p.idle()
        y = p.ask(PLACE % (1, call['begin'], 0))[1] - p.where('canvas.tracks')[1]
        colours = []
        for text in '', name, 'no such name':
            p.ask(f'guesttrace.setState({{ search: {json.dumps(text)} }})')
            p.idle()
            colours.append(p.ask(PIXEL % (call['begin'] + call['duration'] * 0.9, y - 48)))
        need(colours[0] == colours[1] and sum(colours[2]) > sum(colours[0]), 'what is not found is not pale:', colours)
        p.ask('guesttrace.setState({ search: "fib", tab: "flame" })')
        p.browser.wait('document.querySelector(".path .right")')
        need(re.fullmatch(r'search: \d+\.\d+ %', p.ask('document.querySelector(".path .right").innerText')), 'the flame graph does not say what part is found')
        p.ask('guesttrace.setState({ search: "no such name" })')
        p.browser.wait('["search: ", "search: 0.00 %"].includes(document.querySelector(".path .right").textContent)')


def test_flame_of_a_part(t):
    """The flame graph and its inverse, of all, of a range, of a task, have the sums of report."""
    recording, viewing = shown(t)
    with viewing as v, Page(t, v.url) as p:
        for part, options in (({}, []), ({'range': SECTION}, ['--from', '100us', '--to', '300us']),
                              ({'range': SECTION, 'tasks': [1]}, ['--from', '100us', '--to', '300us', '--task', '8'])):
            sums = report(recording.path, *options)
            p.ask(f'guesttrace.setState({json.dumps({"tab": "flame", "inverse": False, **part})})')
            p.browser.wait('guesttrace.flame.ready === guesttrace.flame.key')
            whole = p.ask(NODES)
            equal(sum(n[3] for n in whole if n[0] == 1), sum(s[2] for s in sums.values()), f'all of {part}')
            p.ask('[...document.querySelectorAll(".choice")].find(b => b.textContent === "Inverse").click()')
            p.browser.wait('guesttrace.flame.ready === guesttrace.flame.key')
            equal({n[1]: n[3] for n in p.ask(NODES) if n[0] == 1}, {name: s[2] for name, s in sums.items() if s[2]}, f'inverse of {part}')
        p.picture('inverse')
        p.ask('[...document.querySelectorAll(".choice")].find(b => b.textContent === "Number of calls").click()')
        p.browser.wait('guesttrace.flame.ready === guesttrace.flame.key')
        equal({n[1]: n[2] for n in p.ask(NODES) if n[0] == 1}, {name: s[0] for name, s in sums.items()}, 'numbers of calls')


def test_sort_and_follow(t):
    """A click on a heading sorts; one on a function shows its callers; a double click, and Enter, its longest call."""
    recording, viewing = shown(t)
    sums = report(recording.path)
    with viewing as v, Page(t, v.url) as p:
        p.press('3')
        for heading, key in ('Calls', lambda s: s[0]), ('Self', lambda s: s[2]):
            p.click(*p.ask(TABLE_CELL % ('.head button', heading)))
            order = [key(sums[row[7]]) for row in p.rows('Functions')]
            equal(order, sorted(order, reverse=True), heading)
        p.click(*p.ask(TABLE_CELL % ('.head button', 'Function')))
        equal([row[7] for row in p.rows('Functions')], sorted(sums), 'by name')
        p.click(*p.ask(TABLE_CELL % ('.rows .cell', 'fib')))
        equal(p.state('function'), index_of(p, 'fib'), 'the function')
        callers = sum(s.calls for tid in made.TIDS for path, s in recording.paths(tid).items() if path[-1] == 'fib')
        equal(sum(count(row[0]) for row in p.rows('Callers')), callers, 'calls by callers')
        p.press('Enter')
        p.browser.wait('guesttrace.state.tab === "timeline" && guesttrace.state.call')
        longest = v.ask('find', functions=index_of(p, 'fib'), time=0)['longest']
        equal([p.state('call.begin'), p.state('call.duration')], [longest['begin'], longest['duration']], 'the longest call')


def test_dark(t):
    _, viewing = shown(t, n=50)
    with viewing as v, Page(t, v.url) as p:
        def background():
            return p.ask('[document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]')
        p.browser.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark'}])
        p.browser.wait('document.documentElement.dataset.theme === "dark"')
        p.idle()
        dark, corner = background(), p.ask(PIXEL % (0, 500))
        p.picture('dark')
        p.press('t')
        light = background()
        equal((dark, light), (['dark', 'rgb(20, 24, 29)'], ['light', 'rgb(255, 255, 255)']), 'the page')
        need(max(corner) < 80 < 200 < min(p.ask(PIXEL % (0, 500))), 'the time line:', corner)


def test_link(t):
    """The address that the page has after some steps shows another page the same."""
    _, viewing = shown(t)
    what = 'JSON.stringify([guesttrace.state.tab, guesttrace.state.range, guesttrace.state.tasks, guesttrace.state.call.begin, guesttrace.state.call.depth, guesttrace.state.search, ' \
           'Math.round(guesttrace.state.from), Math.round(guesttrace.state.to)])'
    with viewing as v:
        with Page(t, v.url) as p:
            p.press('/')
            p.type('fib')
            p.press('Enter')
            p.ask('guesttrace.view.canvas.focus()')
            p.press('m', 'w')
            p.browser.wait('location.hash.includes("search=fib") && location.hash.includes("call=") && location.hash.includes("range=")'
                           ' && location.hash.includes(`at=${Math.round(guesttrace.state.from)}-`)')
            link, state = p.ask('location.hash'), p.ask(what)
        with Page(t, v.url + link) as p:
            equal(p.ask(what), state, link)


def two_deep(p):
    """A path of two functions that the flame graph has."""
    return p.ask('guesttrace.flame.nodes.filter(n => n.depth === 2 && n.function >= 0).map(n => [guesttrace.flame.nodes[n.parent].function, n.function])[0]')


NAMES = 'guesttrace.state.path.map(f => guesttrace.functionOf(f).name)'


def test_link_has_names(t):
    """Functions have other numbers in another recording of the same program; a link shows the same ones there."""
    first = made.Made(f'{t.folder}/first', step=random_steps, tids=[8])
    second = made.Made(f'{t.folder}/second', step=random_steps, tids=[8])
    before = [(at, kind, 0, made.FIRST + 16 * i) for i in reversed(range(len(made.PLAIN)))
              for at, kind in ((20 * (20 - i), uftrace.ENTRY), (20 * (20 - i) + 9, uftrace.EXIT))]
    write(f'{second.path}/8.dat', uftrace_write.records(*before) + second.data[8])
    with Viewing(first.path) as v, Page(t, v.url) as p:
        number, name = p.ask('[5, guesttrace.functionOf(5).name]')
        p.ask('guesttrace.setState({ tab: "flame" })')
        p.browser.wait('guesttrace.flame.ready === guesttrace.flame.key')
        p.ask(f'guesttrace.setState({{ path: {two_deep(p)}, function: {number}, tasks: [0],'
              f' call: {{ task: 0, depth: 0, begin: 0, duration: 5, function: {number} }} }})')
        p.browser.wait('location.hash.includes("path=") && location.hash.includes("call=") && location.hash.includes("function=")')
        link, path = p.ask('location.hash'), p.ask(NAMES)
    with Viewing(second.path) as v, Page(t, v.url + link) as p:
        p.browser.wait('guesttrace.state.path.length === 2 && guesttrace.state.call.function >= 0')
        need(p.ask(f'guesttrace.functionOf({number}).name') != name, 'functions have the same numbers')
        equal([p.ask(NAMES), p.state('tasks')], [path, [0]], link)
        for what in 'state.function', 'state.call.function':
            equal(p.ask(f'guesttrace.functionOf(guesttrace.{what}).name'), name, what)
        p.browser.wait('guesttrace.flame.ready === guesttrace.flame.key')
        equal(p.ask('guesttrace.flame.error'), '', 'the flame graph')
        equal(p.ask('[...document.querySelectorAll(".path .link")].map(e => e.textContent)')[1:], path, 'its path')


def calls_found(p):
    """The list when it has been loaded: its title, its rows."""
    p.browser.wait('/^[0-9,]+ calls? of /.test(document.querySelector(".found .name").textContent)')
    p.idle()
    return p.ask('document.querySelector(".found .name").textContent'), p.rows('Calls found')


def test_back(t):
    """Back and Forward go through tabs, selections and zooms."""
    _, viewing = shown(t)
    with viewing as v, Page(t, v.url) as p:
        def there(tab, *more):
            return f'guesttrace.state.tab === "{tab}" && ' + ' && '.join(['true', *more])
        p.browser.wait('location.hash === ""')
        steps = [('guesttrace.setState({ tab: "functions" })', there('functions')),
                 ('guesttrace.setState({ tab: "flame" })', there('flame')),
                 ('guesttrace.setState({ tab: "timeline", call: { task: 1, depth: 0, begin: 100, duration: 50, function: 3 } })', there('timeline', 'guesttrace.state.call')),
                 ('guesttrace.setSight(1000, 3000)', there('timeline', 'guesttrace.state.to === 3000')),
                 ('guesttrace.setState({ tab: "tasks" })', there('tasks'))]
        for step, (action, condition) in enumerate(steps):
            before = p.ask('location.hash')
            p.ask(action)
            p.browser.wait(f'location.hash !== {json.dumps(before)} && {condition}')
        for _, condition in steps[-2::-1]:
            p.ask('history.back()')
            p.browser.wait(condition)
        p.ask('history.back()')
        p.browser.wait(there('timeline', '!guesttrace.state.call'))
        for _, condition in steps:
            p.ask('history.forward()')
            p.browser.wait(condition)


SHOWN_TASKS = 'guesttrace.layout.items.filter(i => i.track).map(i => i.track.task)'


def test_pin_and_hide(t):
    """Tracks are pinned, hidden, and found by name; a link says so."""
    _, viewing = shown(t)
    with viewing as v:
        with Page(t, v.url) as p:
            p.browser.call('Emulation.setDeviceMetricsOverride', width=1200, height=600, deviceScaleFactor=1, mobile=False)
            p.idle()
            equal(p.ask(SHOWN_TASKS), [0, 1, 2], 'all')
            left, top, *_ = p.where('canvas.tracks')
            head = p.ask('guesttrace.layout.items.find(i => i.track && i.track.task === 2).y') - p.ask('guesttrace.view.scroll')
            y = top + 26 + head + 8
            if y > 590:
                p.ask('guesttrace.setState({ open: { 0: false, 1: false, 2: false } })')
                p.idle()
                y = top + 26 + p.ask('guesttrace.layout.items.find(i => i.track && i.track.task === 2).y') + 8
            p.mouse('mouseMoved', left + 100, y)
            p.idle()
            p.click(left + 200 - 34, y)
            equal([p.ask(SHOWN_TASKS), p.state('pinned')], [[2, 0, 1], [2]], 'the last one is on top')
            p.picture('pinned')
            p.ask('guesttrace.setState({ open: { 0: true, 1: true, 2: false } }); guesttrace.view.scroll = 200')
            p.idle()
            y = top + 26 + p.ask('guesttrace.layout.items.find(i => i.track).y') + 8
            p.click(left + 200 - 16, y)
            equal([p.ask(SHOWN_TASKS), p.state('hidden')], [[0, 1], [2]], 'it was on top, and is hidden')
            need('1 track hidden' in p.ask('document.querySelector(".chips").innerText'), 'nothing says that a track is hidden')
            p.ask('document.querySelector("input.filter").focus()')
            p.type('*8')
            equal(p.ask(SHOWN_TASKS), [1], 'by name')
            p.browser.wait('location.hash.includes("hidden=5000000") && location.hash.includes("filter=")')
            link = p.ask('location.hash')
            p.ask('[...document.querySelectorAll(".chip button")].pop().click()')
            p.idle()
            equal(p.ask(SHOWN_TASKS), [2, 0, 1], 'all again')
        with Page(t, v.url + link) as p:
            equal([p.ask(SHOWN_TASKS), p.state('hidden')], [[1], [2]], link)


def test_list(t):
    """The calls that a search finds: exact names first; sorted by a click; of one bar of durations; gone through one by one."""
    recording, viewing = shown(t)
    first = min(int.from_bytes(data[:8], 'little') for data in recording.data.values())
    calls = {name: sorted((begin - first, end - begin, f'guest {tid}') for tid in made.TIDS
                          for _, addr, begin, end in call_sums.calls_of(list(uftrace.read_records(recording.data[tid])))
                          if recording.name(addr) == name) for name in made.PLAIN}
    with viewing as v, Page(t, v.url) as p:
        p.press('/')
        p.type('f')
        p.press('Enter')
        p.ask('guesttrace.view.canvas.focus()')
        p.press('h')
        title, rows = calls_found(p)
        equal((title, rows[0][3]), (f'{len(calls["f"])} calls of f', 'f'), 'the function of this name')
        equal([(row[0], row[1], row[2]) for row in rows[:5]],
              [(f'{begin / 1e9:.9f} s', texts.time_text(n), task) for begin, n, task in calls['f'][:5]], 'in order of time')
        need(p.ask('guesttrace.view.found.reduce((a, b) => a + b)') == len(calls['f']), 'marks')
        p.picture('list')
        p.ask('document.querySelector(".found .doing .choice").click()')
        both = len(calls['f']) + len(calls['fib'])
        equal(calls_found(p)[0], f'{both} calls of 2 functions', 'others that have it in their names')
        p.ask('[...document.querySelectorAll(`[aria-label="Calls found"] .head .cell`)].find(c => c.textContent.startsWith("Duration")).click()')
        longest = max(calls['f'] + calls['fib'], key=lambda c: c[1])
        equal(calls_found(p)[1][0][1], texts.time_text(longest[1]), 'the longest first')
        bar, n = p.ask('(() => { const all = [...document.querySelectorAll(".bin")], i = all.findIndex(b => Number(b.dataset.calls) > 3);'
                       ' all[i].click(); return [i, Number(all[i].dataset.calls)] })()')
        least, most = p.state('durations')
        title, rows = calls_found(p)
        equal((title, len(rows)), (f'{n} calls of 2 functions', min(n, len(rows))), 'of one bar')
        chosen = sorted(c[:2] for name in ('f', 'fib') for c in calls[name] if least <= c[1] <= most)
        equal(len(chosen), n, 'calls of the bar')
        p.ask('guesttrace.setState({ call: null }); guesttrace.setSight(0, guesttrace.recording.duration); guesttrace.view.canvas.focus()')
        gone = []
        for key in [']'] * n + ['['] * (n - 1):
            p.press(key)
            gone.append((p.state('call.begin'), p.state('call.duration')))
        equal(gone, chosen + chosen[-2::-1], 'the next ones, and those before')
        need(p.ask(f'document.querySelectorAll(".bin")[{bar}].getAttribute("aria-pressed")') == 'true', 'the bar is not marked')
        link = p.browser.wait('location.hash.includes("durations=")') or p.ask('location.hash')
    with Viewing(recording.path) as v, Page(t, v.url + link) as p:
        equal(calls_found(p)[0], f'{n} calls of 2 functions', link)
        p.ask('guesttrace.setState({ search: "/^(fib|g)$/" })')
        equal(calls_found(p)[0], f'{len(calls["fib"]) + len(calls["g"])} calls of 2 functions', 'a regular expression')
        p.ask('guesttrace.setState({ search: "/(" })')
        p.browser.wait('document.querySelector(".found .name").textContent.startsWith("Regular expression, at character")')


def test_list_of_values(t):
    """Arguments and results stand in the list."""
    with Viewing(valued.make(f'{t.folder}/values')) as v, Page(t, v.url) as p:
        p.ask('guesttrace.setState({ search: "open", list: true })')
        p.browser.wait('guesttrace.view.found')
        p.browser.wait('[...document.querySelectorAll(`[aria-label="Calls found"] .rows .row`)].every(row => row.children.length === 5 && row.lastChild.textContent)')
        texts_of = [row[4] for row in p.rows('Calls found')]
        need(all('arg2=0x42' in text and ' → ' in text for text in texts_of[:2]), texts_of)


def test_search_goes_to_the_name(t):
    """To the function of that very name, not to the first one that has the text in its name."""
    _, viewing = shown(t)
    with viewing as v, Page(t, v.url) as p:
        p.press('3')
        others = 0
        for name in 'f', 'g', 'guest:f':
            p.ask(f'guesttrace.setState({{ tab: "functions", search: "{name}" }})')
            p.idle()
            others += p.rows('Functions')[0][7] != name[-1]
            p.press('/', 'Enter')
            p.browser.wait('guesttrace.state.tab === "timeline" && guesttrace.state.call')
            equal(p.ask('guesttrace.functionOf(guesttrace.state.call.function).name'), name[-1], name)
            p.ask('guesttrace.view.canvas.focus()')
            p.press('Escape')
        need(others, 'there is no other function that the search finds first')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
