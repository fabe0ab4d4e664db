#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of guesttrace view in a headless Chromium: what it shows is what guesttrace report and the records say."""
import base64
import json
import struct
import sys

import texts
from gttest import browser, call_sums, commands, functions, made, screenshots, uftrace, uftrace_write, valued
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, write
from viewing import Viewing

READY = 'window.guesttrace && guesttrace.recording.tracks && guesttrace.recording.tracks.progress === 1000 && ' \
        'document.querySelector("header") && !guesttrace.source.busy && guesttrace.recording.functions.length > 0'
IDLE = '!guesttrace.source.busy && !guesttrace.view.waits'
# Texts of the rows of a table that are in the page.
ROWS = '[...document.querySelectorAll(`[aria-label="%s"] .rows .row`)].map(row => [...row.children].map(cell => cell.textContent))'

HEADS = '[...document.querySelectorAll(`[aria-label="%s"] .head .cell`)].map(cell => cell.textContent)'


class Page:
    """`with Page(t, url) as p`: the page is there."""
    ready = READY

    def __init__(self, t, url):
        self.browser = browser.Browser()
        self.url = url

    def __enter__(self):
        self.browser.__enter__()
        self.browser.call('Log.enable')
        self.browser.open(self.url)
        self.browser.wait(self.ready)
        return self

    def __exit__(self, *why):
        self.browser.__exit__(*why)

    def ask(self, expression):
        return self.browser.ask(expression)

    def idle(self):
        """Until nothing is under way, and what has come is drawn."""
        self.browser.wait(IDLE)
        self.browser.ask('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')
        self.browser.wait(IDLE)

    def press(self, *keys):
        for key in keys:
            self.browser.press(key)
        self.idle()

    def type(self, text):
        self.browser.call('Input.insertText', text=text)
        self.idle()

    def mouse(self, kind, x, y, **more):
        self.browser.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def click(self, x, y, **more):
        for kind in 'mousePressed', 'mouseReleased':
            self.mouse(kind, x, y, button='left', clickCount=1, **more)
        self.idle()

    def drag(self, x0, y0, x1, y1, **more):
        self.mouse('mousePressed', x0, y0, button='left', buttons=1, clickCount=1, **more)
        for part in 0.5, 1:
            self.mouse('mouseMoved', x0 + (x1 - x0) * part, y0 + (y1 - y0) * part, buttons=1, **more)
        self.mouse('mouseReleased', x1, y1, button='left', clickCount=1, **more)
        self.idle()

    def rows(self, label):
        return self.ask(ROWS % label)

    def state(self, name):
        return self.ask(f'guesttrace.state.{name}')

    def where(self, selector):
        """left, top, width and height of an element."""
        return self.ask(f'(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();'
                        ' return [b.left, b.top, b.width, b.height] })()')

    def picture(self, name):
        screenshots.keep(name, base64.b64decode(self.browser.call('Page.captureScreenshot')['data']))


def cells(p, label):
    """The rows of a table, each {heading: text}: which columns there are depends on the recording."""
    heads = [head.rstrip(' ▾▴') for head in p.ask(HEADS % label)]
    return [dict(zip(heads, row)) for row in p.rows(label)]


def count(text):
    return int(text.replace(',', ''))


def random_steps(number):
    return number.randrange(1, 1000)


def report(path, *options):
    """{function: (calls, total, self)}"""
    done = json.loads(commands.printed([GUESTTRACE, 'report', '--json', *options, path]))
    return {row['function']: (row['calls'], row['total_ns'], row['self_ns']) for row in done['rows']}


def check_table(p, sums):
    """The table of functions has each function with its number of calls, and times as the page writes them."""
    table = {row['Function']: row for row in cells(p, 'Functions')}
    equal(set(table), set(sums), 'functions')
    for name, (calls, total, own) in sums.items():
        equal(count(table[name]['Calls']), calls, f'calls of {name}')
        equal([table[name]['Total'], table[name]['Self']], [texts.time_text(total), texts.time_text(own)], f'times of {name}')


def test_tables(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        p.press('3')
        check_table(p, report(recording.path))
        p.picture('functions')
        p.press('5')
        equal({row[5]: count(row[2]) for row in p.rows('Tasks')},
             {f'guest {tid}': sum(s.calls for s in recording.paths(tid).values()) for tid in made.TIDS}, 'tasks')
        p.press('4')
        equal([count(row[2]) for row in p.rows('Modules')], [sum(s.calls for tid in made.TIDS for s in recording.paths(tid).values())], 'modules')


def test_range(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        p.ask('guesttrace.setState({ range: [100000, 300000], tasks: [1] })')
        p.press('3')
        check_table(p, report(recording.path, '--from', '100us', '--to', '300us', '--task', '8'))
        p.press('Escape', '1')
        left, top, width, _ = p.where('canvas.tracks')
        p.drag(left + 400, top + 10, left + 700, top + 10)
        begin, end = p.state('range')
        whole = p.ask('guesttrace.recording.duration')
        need(abs(begin - whole * 200 / (width - 200)) < whole / 200 and abs(end - whole * 500 / (width - 200)) < whole / 200, begin, end, whole)
        p.picture('range')
        need(p.rows('Functions of the range'), 'there are no sums of the range')


def first_call(recording, tid):
    """(depth, name, begin, end) of the task's call that ends first."""
    depth, addr, begin, end = next(call_sums.calls_of(list(uftrace.read_records(recording.data[tid]))))
    return depth, recording.name(addr), begin, end


def test_zoom(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    depth, name, begin, end = first_call(recording, 8)
    first = min(int.from_bytes(data[:8], 'little') for data in recording.data.values())
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        p.ask(f'guesttrace.setSight({begin - first - 20}, {end - first + 20})')
        p.idle()
        hit = p.ask(f'guesttrace.callAt(1, {depth}, {(begin + end) / 2 - first}).call')
        equal((p.ask(f'guesttrace.functionOf({hit["function"]}).name'), hit['begin'], hit['duration']), (name, begin - first, end - begin), 'the call')
        p.ask(f'guesttrace.setState({{ call: guesttrace.callAt(1, {depth}, {(begin + end) / 2 - first}).call }})')
        p.idle()
        text = p.ask('document.querySelector(".details").innerText')
        need(name in text and texts.time_text(end - begin) in text, text)
        equal(p.ask('document.querySelectorAll(".stack li").length'), depth + 1, 'calls in its path')
        p.picture('call')


def test_values(t):
    with Viewing(valued.make(f'{t.folder}/data')) as v, Page(t, v.url) as p:
        p.ask('guesttrace.setState({ call: guesttrace.callAt(0, 1, 750).call })')
        p.idle()
        text = p.ask('document.querySelector(".details").innerText')
        need('path\n"/tmp/<b>&' in text and 'arg2\n0x42' in text and 'retval\n-2' in text, text)
        equal(p.ask('document.querySelectorAll(".details b").length'), 0, 'elements that values made')


def test_pinch(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        left, top, width, _ = p.where('canvas.tracks')
        def touch(kind, *xs):
            p.browser.call('Input.dispatchTouchEvent', type=kind, touchPoints=[{'x': left + x, 'y': top + 150, 'id': i} for i, x in enumerate(xs)])
        whole, per = p.state('to'), p.state('to') / (width - 200)
        touch('touchStart', 500)
        touch('touchStart', 500, 600)
        touch('touchMove', 400, 700)
        touch('touchEnd')
        p.idle()
        begin, end = p.state('from'), p.state('to')
        need(abs((end - begin) - whole / 3) < whole / 100 and abs(begin + (400 - 200) * (end - begin) / (width - 200) - 300 * per) < whole / 100, begin, end, whole)
        equal(p.state('call'), None, 'what a pinch selects')
        p.drag(left + 700, top + 300, left + 600, top + 300)
        need(p.state('from') > begin, 'the mouse does not move it after a pinch')


def test_levels(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps, tids=[100, 101, 201, 203])
    names = dict(zip(recording.tids, ('cpu0 NS-EL0', 'cpu0 NS-EL1', 'cpu1 NS-EL1', 'cpu1 EL3')))
    write(f'{recording.path}/task.txt', 'SESS timestamp=0.000000001 pid=1 sid=%s exename="guest"\n' % made.SID + ''.join(
        f'TASK timestamp=0.000000001 tid={tid} pid={tid}\n' for tid in names))
    write(f'{recording.path}/perf-cpu0.dat', b''.join(
        struct.pack('<IHHII16s16x', 3, 0, 48, tid, tid, name.encode()) for tid, name in names.items()))
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        titles = 'guesttrace.layout.items.filter(i => i.title).map(i => i.title)'
        equal(p.ask(titles), ['vCPU 0', 'vCPU 1'], 'groups')
        equal(p.ask('guesttrace.recording.info.tasks.map((_, task) => guesttrace.levelOf(task).kind)'), ['user', 'kernel', 'kernel', 'above'], 'levels')
        p.picture('levels')
        p.press('g')
        equal(len(p.ask(titles)), 4, 'processes')


def test_keys(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        whole = p.state('to')
        p.press('w', 'w', 'w')
        need(p.state('to') - p.state('from') < whole / 4, p.state('from'), p.state('to'))
        before = p.state('from')
        p.press('d')
        need(p.state('from') > before, 'it did not move')
        p.press('0')
        equal([p.state('from'), p.state('to')], [0, whole], 'all of the time')
        left, top, *_ = p.where('canvas.tracks')
        p.mouse('mouseWheel', left + 600, top + 200, deltaX=0, deltaY=-500)
        p.idle()
        need(p.state('to') - p.state('from') < whole / 2, 'the wheel does nothing')
        p.press('/')
        p.type('fib')
        equal(p.state('search'), 'fib', 'what is typed is searched')
        p.press('Enter')
        equal(p.ask('guesttrace.functionOf(guesttrace.state.call.function).name'), 'fib', 'the call that was found')
        found = p.state('call.begin')
        p.press('Escape', 'n')
        need(p.state('call.begin') > found, 'the next one begins later')
        p.press('ArrowUp', 'm')
        equal(p.state('range'), [p.state('call.begin'), p.state('call.begin') + p.state('call.duration')], 'the call is summed up')
        p.press('0', 'f')
        sight = p.state('from') <= p.state('call.begin') and p.state('to') < whole / 2
        need(sight, 'it does not zoom to the call', p.state('from'), p.state('to'))
        p.press('2')
        equal(p.state('tab'), 'flame', 'tab')
        p.press('?')
        need(p.ask('document.querySelector("dialog").open'), 'there is no list of keys')
        need(p.ask('[...document.querySelectorAll(".legend .swatch")].every(s => { const c = getComputedStyle(s); return c.backgroundImage !== "none" || c.backgroundColor !== "rgba(0, 0, 0, 0)" })'), 'a colour is not shown')
        p.picture('keys')


def test_address(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path) as v:
        with Page(t, v.url + '#tab=functions&range=100000-300000&tasks=8&search=f*&function=fib%0Aguest') as p:
            equal([p.state(s) for s in ('tab', 'range', 'tasks', 'search')], ['functions', [100000, 300000], [1], 'f*'], 'state')
            equal(p.ask('guesttrace.functionOf(guesttrace.state.function).name'), 'fib', 'the function')
            equal({row[7] for row in p.rows('Functions')}, {'f', 'fib'}, 'functions')
        with Page(t, v.url + '#tab=nothing&range=9-1&tasks=99,x&at=5-2&call=1&path=77&function=-5') as p:
            equal([p.state(s) for s in ('tab', 'range', 'tasks', 'call', 'path')], ['timeline', None, [], None, []], 'what makes no sense is left out')
            p.browser.wait('document.querySelector(".chips").innerText.includes("-5 is not in this recording")')


# The answers about tiles wait until window.go is called.
HOLD = '''(() => {
  const get = guesttrace.source.get.bind(guesttrace.source), wait = new Promise(done => { window.go = done; });
  guesttrace.source.get = (name, ...more) => (name === "tiles" ? wait.then(() => get(name, ...more)) : get(name, ...more));
})()'''
PATH = '[...document.querySelectorAll(".stack li .name")].map(e => e.textContent)'


def test_path_grows(t):
    """The calls around the selected one are shown as soon as their tiles are there; also where it is not in sight."""
    recording = made.Made(f'{t.folder}/data', step=random_steps, tids=[8], n=6000)
    records = list(uftrace.read_records(recording.data[8]))
    first = int.from_bytes(recording.data[8][:8], 'little')
    calls = list(call_sums.calls_of(records))
    def around(call):
        return sorted(c for c in calls if c[0] <= call[0] and c[2] <= call[2] and c[3] >= call[3])
    # The call that most short calls are around: where all is in sight, they are summed up.
    depth, addr, begin, end = call = max(calls, key=lambda call: sum(c[3] - c[2] < 600 for c in around(call)))
    for sight in f'guesttrace.setSight({begin - first - 20}, {end - first + 20})', '':
        with Viewing(recording.path) as v, Page(t, v.url) as p:
            p.idle()
            p.ask(HOLD)
            p.ask(f'{sight}; guesttrace.setState({{ call: {{ task: 0, depth: {depth}, begin: {begin - first}, duration: {end - begin},'
                  f' function: guesttrace.recording.functions.findIndex(f => f.name === "{recording.name(addr)}") }} }})')
            before = p.ask(PATH)
            p.ask('window.go()')
            p.browser.wait(f'{PATH}.length === {depth + 1}')
            equal(p.ask(PATH), [recording.name(c[1]) for c in around(call)], 'the path')
            need(len(before) < depth + 1, 'there was nothing to wait for:', before)


def test_range_is_cleared(t):
    """At once, before its sums are there."""
    recording = made.Made(f'{t.folder}/data', n=50)
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        p.ask('guesttrace.setState({ range: [100, 300] }); guesttrace.setState({ tab: "functions" })')
        p.ask('guesttrace.setState({ tab: "timeline" }); guesttrace.setState({ range: null })')
        p.idle()
        need(p.ask('document.querySelector(".details").hidden'), 'the sums of a range that is none are shown')
        for tab in '1234':  # the keys, one right after the other; an error of the page's ends the test
            p.ask('guesttrace.setState({ tab: "timeline", range: [100, 300] })')
            for key in tab, '1', 'Escape':
                p.browser.press(key)
            p.idle()
            equal((p.state('range'), p.state('tab')), (None, 'timeline'), tab)
            need(p.ask('document.querySelector(".details").hidden'), 'the sums of a range that is none are shown after', tab)


def test_flame(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        p.press('2')
        p.picture('flame')
        p.press('ArrowDown', 'Enter')
        path = p.state('path')
        need(len(path) == 1, path)
        equal(p.ask('document.querySelector(".path").innerText').split('›')[-1].strip(), p.ask(f'guesttrace.functionOf({path[0]}).name'), 'path')
        p.press('Backspace')
        equal(p.state('path'), [], 'path')


def test_hostile_names(t):
    hostile = [*made.HOSTILE, b'<img src=x onerror=alert(1)>', b'\xe2\x80\xaeabc', b'"><script>alert(2)</script>', b"'+alert(3)+'", b'*[a-z]+$']
    recording = made.Made(f'{t.folder}/data', hostile, n=400, deep=6)
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        p.press('3')
        names = [row[7] for row in p.rows('Functions')]
        need('<img src=x onerror=alert(1)>' in names and '"><script>alert(2)</script>' in names, names)
        need(any('\\u202e' in name for name in names), 'what turns the direction is not shown:', names)
        equal(p.ask('document.querySelectorAll("img, script:not([src])").length'), 0, 'elements that names made')
        need(p.ask('document.body.innerText.length') < 100000, 'a name of a megabyte is shown whole')
        p.press('2', '1', '6', '7')
        p.picture('hostile')


def test_console_line(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    write(f'{recording.path}/extern.dat', '0.000002000 Linux version <b>6.1</b>\n0.000300000 Run /init\n')
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        p.browser.wait('guesttrace.view.marks.console.length === 2')
        equal(p.ask('guesttrace.view.marks.console.map(m => m.text)'), ['Linux version <b>6.1</b>', 'Run /init'], 'lines')


def odd_recording(t):
    """main, in which its task is suspended from 3000 to 8000; then 5 records are lost."""
    data = uftrace_write.records((1000, uftrace.ENTRY, 0, 16), (2000, uftrace.ENTRY, 1, 32), (3000, uftrace.EVENT, 2, 200002),
                                 (8000, uftrace.EVENT, 2, 200001), (9000, uftrace.LOST, 0, 5), (10000, uftrace.ENTRY, 0, 16), (11000, uftrace.EXIT, 0, 16))
    return uftrace_write.directory(f'{t.folder}/odd', {7: data}, {16: 'main', 32: 'f'}, console='0.000010900 the last line\n')


# Red, green and blue of the time line at a time and at a height, from above the tracks.
PIXEL = '''(() => {
  const c = guesttrace.view.canvas, r = c.getBoundingClientRect(), per = (guesttrace.state.to - guesttrace.state.from) / (r.width - 200);
  return [...c.getContext("2d").getImageData(Math.round((200 + (%d - guesttrace.state.from) / per) * devicePixelRatio), Math.round((48 + %d) * devicePixelRatio), 1, 1).data].slice(0, 3);
})()'''


def test_suspended_and_lost(t):
    with Viewing(odd_recording(t)) as v, Page(t, v.url) as p:
        p.browser.wait('guesttrace.view.marks.notes.length && guesttrace.view.marks.console.length')
        p.idle()
        runs, suspended, lost = (p.ask(PIXEL % place) for place in ((500, 16), (6500, 16), (8000, 40)))
        need(min(suspended) > min(runs) and sum(suspended) > sum(runs), 'a suspended task is not pale:', runs, suspended)
        need(lost[0] > 150 and max(lost[1:]) < 110, 'lost records are not red:', lost)
        equal(p.ask('guesttrace.view.marks.notes.filter(m => m.lost).map(m => m.text)'), ['5 records are lost'], 'what is lost')
        p.picture('lost')


def sleeper(t):
    """main calls f, in which the task is suspended for 5,000 of 6,500 ns; main has 1,500 of its own."""
    data = uftrace_write.records((1000, uftrace.ENTRY, 0, 16), (2000, uftrace.ENTRY, 1, 32), (3000, uftrace.EVENT, 2, 200002),
                                 (8000, uftrace.EVENT, 2, 200001), (8500, uftrace.EXIT, 1, 32), (9000, uftrace.EXIT, 0, 16))
    return uftrace_write.directory(f'{t.folder}/sleeper', {7: data}, {16: 'main', 32: 'f'})


def test_time_that_ran(t):
    """Sums are of the time that ran; wall time has the rest; a call in which its task slept shows both."""
    path = sleeper(t)
    with Viewing(path) as v, Page(t, v.url) as p:
        def table():
            return {row[7]: [row[0], row[1], row[3]] for row in p.rows('Functions')}
        p.press('3')
        equal(table(), {'main': ['3.000 µs', '1.500 µs', '5.000 µs'], 'f': ['1.500 µs', '1.500 µs', '5.000 µs']}, 'sums')
        p.press('4')
        equal([row[:2] for row in p.rows('Modules')], [['3.000 µs', '3.000 µs']], 'modules')
        p.press('5')
        equal([row[:2] for row in p.rows('Tasks')], [['3.000 µs', '3.000 µs']], 'tasks')
        p.press('2')
        values = 'guesttrace.flame.nodes.map(n => [n.depth ? guesttrace.functionOf(n.function).name : "", n.value])'
        equal(p.ask(values), [['', 3000], ['main', 3000], ['f', 1500]], 'the flame graph')
        p.press('l')
        p.browser.wait('guesttrace.flame.ready === guesttrace.flame.key')
        equal(p.ask(values), [['', 8000], ['main', 8000], ['f', 6500], ['linux:schedule', 5000]], 'the flame graph of wall time')
        p.press('3')
        equal(table(), {'main': ['8.000 µs', '1.500 µs', ''], 'f': ['6.500 µs', '1.500 µs', ''], 'linux:schedule': ['5.000 µs', '5.000 µs', '']}, 'wall time')
        p.picture('wall')
        p.press('l', '1')
        p.ask('guesttrace.setState({ range: [1500, 8000] })')
        p.browser.wait('document.querySelector("[aria-label=\\"Functions of the range\\"] .rows .row")')
        equal({row[4]: row[:3] for row in p.rows('Functions of the range')},
              {'main': ['500 ns', '1.500 µs', '5.000 µs'], 'f': ['1.000 µs', '1.000 µs', '5.000 µs']}, 'sums of a range')
        p.ask('guesttrace.setState({ range: null, call: guesttrace.callAt(0, 1, 1500).call })')
        p.browser.wait('document.querySelector(".details").innerText.includes("Slept")')
        text = p.ask('document.querySelector(".details").innerText')
        need('Duration\n6.500 µs' in text and 'Ran\n1.500 µs' in text and 'Slept\n5.000 µs' in text, text)
    with Viewing(path, path) as v, Page(t, v.url) as p:
        p.press('7')
        for key, times in ('', {'main': '1.500 µs', 'f': '1.500 µs'}), ('l', {'main': '1.500 µs', 'f': '1.500 µs', 'linux:schedule': '5.000 µs'}):
            p.press(*key)
            equal({row[8]: row[4] for row in p.rows('Difference')}, times, 'the difference')


# Texts of cells that are cut, and cells of heads that are too narrow for any.
CUT = '''[...document.querySelectorAll(".cell.number")].filter(c => c.clientWidth && (c.scrollWidth > c.clientWidth || c.clientWidth < 24)).map(c => c.textContent)'''
# What is drawn on the scale of the time line, once more: [[text, left, right], ...]
SCALE = '''(async () => {
  const c = guesttrace.view.canvas.getContext("2d"), draw = c.fillText, drawn = [];
  c.fillText = function(text, x, y) { if (y < 26) drawn.push([text, x, x + c.measureText(text).width]); draw.call(c, text, x, y); };
  guesttrace.setState({});
  const before = guesttrace.view.drawn;
  while (guesttrace.view.drawn === before) await new Promise(requestAnimationFrame);
  c.fillText = draw;
  return drawn;
})()'''


def test_nothing_is_cut(t):
    """Numbers of any length have room in their columns, messages in their tables, and texts of the scale beside each other."""
    recording = made.Made(f'{t.folder}/data', step=lambda number: number.choice([1, 1000, 10 ** 8]), n=6000)
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        p.ask('guesttrace.setState({ function: guesttrace.recording.functions.findIndex(f => f.name === "fib") })')
        for tab in '3456':
            p.press(tab)
            p.browser.wait('document.querySelector("main > :not([hidden]) .head .cell")')
            equal(p.ask(CUT), [], f'texts that are cut, tab {tab}')
            messages = '[...document.querySelectorAll(".message")].filter(m => m.offsetHeight).map(m => m.getBoundingClientRect().bottom - m.closest(".space").getBoundingClientRect().bottom)'
            need(all(below <= 0.5 for below in p.ask(messages)), 'a message is cut, tab', tab, p.ask(messages))
            p.picture(f'cells-{tab}')
        p.press('1')
        whole = p.state('to')
        for part in range(1, 9):
            p.ask(f'guesttrace.setState({{ range: [{whole * part / 20}, {whole * (part + 4) / 20}] }})')
            texts_ = sorted(p.ask(SCALE), key=lambda text: text[1])
            need(any(text[0] == p.ask('document.querySelector(".details .big").innerText') for text in texts_), 'the range has no label:', texts_)
            for left, right in zip(texts_, texts_[1:]):
                need(left[2] <= right[1], 'texts over each other:', left, right)


def test_small_window(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        p.browser.call('Emulation.setDeviceMetricsOverride', width=480, height=640, deviceScaleFactor=2, mobile=False)
        for tab in '1234567':
            p.press(tab)
            need(p.ask('document.documentElement.scrollWidth') <= 480, 'tab', tab, 'is wider than the window')
            p.picture(f'small-{tab}')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
