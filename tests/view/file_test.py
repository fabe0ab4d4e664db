#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace export --format html: the page as a file, without a network, shows what the recording has."""
import collections
import json
import os
import re
import sys

from gttest import call_sums, commands, functions, made, uftrace
from gttest.paths import GUESTTRACE, LONG
from gttest.results import equal, need, read_text, write
from page_test import Page, check_table, random_steps, report, sleeper
from difference_test import two
from viewing import Viewing, rows


def export(path, out, *options):
    commands.must([GUESTTRACE, 'export', '--format', 'html', *options, '-o', out, path])
    return out


class FilePage(Page):
    """A page from the disk; the browser has no network."""

    def __enter__(self):
        self.browser.__enter__()
        self.browser.call('Log.enable')
        self.browser.call('Network.enable')
        self.browser.call('Network.emulateNetworkConditions', offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        self.browser.open(self.url)
        self.browser.wait('window.guesttrace && document.querySelector("header") && !guesttrace.source.busy && guesttrace.recording.functions.length > 0')
        return self


def test_shows_the_same(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with FilePage(t, 'file://' + export(recording.path, f'{t.folder}/page.html')) as p:
        p.press('3')
        check_table(p, report(recording.path))
        p.press('2')
        need(p.ask('document.querySelector(".flame canvas").width') > 0, 'there is no flame graph')
        p.press('1', '/')
        p.type('fib')
        p.press('Enter')
        equal(p.ask('guesttrace.functionOf(guesttrace.state.call.function).name'), 'fib', 'the call that was found')
        p.picture('file')
        p.ask('guesttrace.setState({ list: true })')
        p.browser.wait('/calls of fib$/.test(document.querySelector(".found .name").textContent)')
        calls, _, _ = report(recording.path)['fib']
        need(p.ask('document.querySelector(".found .name").textContent') == f'{calls} calls of fib', 'the list')
        need(p.ask('[...document.querySelectorAll(".bin")].reduce((n, b) => n + Number(b.dataset.calls), 0)') == calls, 'durations')
        p.ask('guesttrace.setState({ tab: "functions", range: [100000, 300000], search: "" })')
        p.idle()
        need('guesttrace view' in p.ask('document.querySelector(".message").innerText'), 'it does not say that it has no sums of ranges')


def test_each_call(t):
    """Where there is room, each call stands alone, however long the recording is."""
    recording = made.Made(f'{t.folder}/data', step=lambda number: number.randrange(1, 10) if number.random() < 0.9 else 10 ** 8, tids=[8])
    records = list(uftrace.read_records(recording.data[8]))
    first = int.from_bytes(recording.data[8][:8], 'little')
    calls = [(depth, recording.name(addr), begin - first, end - begin) for depth, addr, begin, end in call_sums.calls_of(records)]
    with FilePage(t, 'file://' + export(recording.path, f'{t.folder}/page.html')) as p:
        need('are summed up' not in p.ask('document.querySelector(".chips").innerText'), 'it says that calls are summed up')
        for depth, name, begin, duration in calls[::50]:
            p.ask(f'guesttrace.setSight({begin - 20}, {begin + duration + 20})')
            p.idle()
            hit = p.ask(f'guesttrace.callAt(0, {depth}, {begin + duration / 2}).call')
            equal((p.ask(f'guesttrace.functionOf({hit["function"]}).name'), hit['begin'], hit['duration']), (name, begin, duration), 'a call')


def test_relations(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with FilePage(t, 'file://' + export(recording.path, f'{t.folder}/page.html')) as p:
        p.ask('guesttrace.setState({ tab: "functions", function: guesttrace.recording.functions.findIndex(f => f.name === "fib") })')
        p.idle()
        callees = collections.Counter()
        for tid in made.TIDS:
            for path, s in recording.paths(tid).items():
                if len(path) > 1 and path[-2] == 'fib':
                    callees[path[-1]] += s.calls
        equal({row[3]: int(row[0].replace(',', '')) for row in p.rows('Callees')}, dict(callees), 'what fib calls')


def test_size(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps, n=20000)
    large = os.path.getsize(export(recording.path, f'{t.folder}/large.html'))
    small = os.path.getsize(export(recording.path, f'{t.folder}/small.html', '--size', '600K'))
    need(small <= 600 << 10 < large, small, large)
    with FilePage(t, f'file://{t.folder}/small.html') as p:
        need('are summed up' in p.ask('document.querySelector(".chips").innerText'), 'it does not say what is summed up')
        p.press('3')
        check_table(p, report(recording.path))
    done = commands.run([GUESTTRACE, 'export', '--format', 'html', '--size', '100K', '-o', f'{t.folder}/x', recording.path])
    least = re.search(rb'at least (\d+) bytes.* the limit is 102400; raise --size', done.stderr)
    equal((done.returncode, done.stdout, os.path.exists(f'{t.folder}/x'), bool(least)), (1, b'', False, True), done.stderr)
    size = os.path.getsize(export(recording.path, f'{t.folder}/least.html', '--size', least[1].decode()))
    need(int(least[1]) - 4096 < size <= int(least[1]), size, least[1])
    for wrong in '', 'x', '-5', '5T', '99999999M', '0':
        done = commands.run([GUESTTRACE, 'export', '--format', 'html', '--size', wrong, '-o', f'{t.folder}/x', recording.path])
        equal((done.returncode, os.path.exists(f'{t.folder}/x')), (2, False), wrong, done.stderr)


RAN = {'main': ['3.000 µs', '1.500 µs', '5.000 µs'], 'f': ['1.500 µs', '1.500 µs', '5.000 µs']}
WALL = {'main': ['8.000 µs', '1.500 µs', ''], 'f': ['6.500 µs', '1.500 µs', ''], 'linux:schedule': ['5.000 µs', '5.000 µs', '']}
WALL_NAMES = re.compile(r'data-name="([^"]*wall[^"]*)"')


def check_wall(p):
    """The button's tables and flame graphs, there and back."""
    def table():
        return {row[7]: [row[0], row[1], row[3]] for row in p.rows('Functions')}
    values = 'guesttrace.flame.nodes.map(n => [n.depth ? guesttrace.functionOf(n.function).name : "", n.value])'
    p.press('3')
    equal(table(), RAN, 'sums')
    p.ask('[...document.querySelectorAll("button")].find(b => b.innerText === "Wall time").click()')
    p.idle()
    equal(table(), WALL, 'sums of wall time')
    p.ask('guesttrace.setState({ function: guesttrace.recording.functions.findIndex(f => f.name === "f") })')
    p.idle()
    equal({row[3]: row[1] for row in p.rows('Callees')}, {'linux:schedule': '5.000 µs'}, 'what f calls')
    for key, name in ('4', 'Modules'), ('5', 'Tasks'):
        p.press(key)
        equal(sum(row[0] == '8.000 µs' for row in p.rows(name)), 1, name)
    p.press('2')
    equal(p.ask(values), [['', 8000], ['main', 8000], ['f', 6500], ['linux:schedule', 5000]], 'the flame graph of wall time')
    p.ask('guesttrace.setState({ inverse: true, path: [] })')
    p.idle()
    equal(sorted(p.ask(values))[:3], [['', 8000], ['f', 1500], ['f', 5000]], 'the inverse one')
    p.ask('guesttrace.setState({ inverse: false, path: [] })')
    p.press('l')
    equal(p.ask(values), [['', 3000], ['main', 3000], ['f', 1500]], 'the flame graph of the time that ran')


def test_wall(t):
    """Both times are in the file where they differ, and as far as there is room."""
    recording = sleeper(t)
    page = export(recording, f'{t.folder}/page.html')
    with FilePage(t, f'file://{page}') as p:
        check_wall(p)
    done = commands.run([GUESTTRACE, 'export', '--format', 'html', '--size', '10K', '-o', f'{t.folder}/x', recording])
    least = re.search(rb'at least (\d+) bytes', done.stderr)[1].decode()
    small = export(recording, f'{t.folder}/small.html', '--size', least)
    equal(WALL_NAMES.findall(read_text(small)), [], 'wall time where there is no room')
    with FilePage(t, f'file://{small}') as p:
        need(p.ask('[...document.querySelectorAll("button")].find(b => b.textContent === "Wall time").hidden'), 'there is a button')
        p.press('l')
        equal(p.state('wall'), False, 'wall time')
    awake = made.Made(f'{t.folder}/awake', n=50)
    equal(WALL_NAMES.findall(read_text(export(awake.path, f'{t.folder}/awake.html'))), ['wall'], 'of tasks that never sleep')


def test_wall_of_two(t):
    first, second = sleeper(t), made.Made(f'{t.folder}/second', n=50).path
    for one, other in (first, second), (second, first):
        commands.must([GUESTTRACE, 'export', '--format', 'html', '-o', f'{t.folder}/page.html', one, other])
        with Viewing(one, other) as v, FilePage(t, f'file://{t.folder}/page.html') as p:
            p.ask('guesttrace.setState({ wall: true })')
            p.idle()
            want = v.ask('difference', wall=1)['nodes']
            need(want != v.ask('difference')['nodes'], 'they are the same')
            equal(p.ask('guesttrace.flame.nodes.map(n => [n.function, ...n.values])'), [[n[1], n[2], n[3]] for n in rows(want, 6)], 'difference')


def test_hostile_names(t):
    hostile = [*made.HOSTILE, b'<img src=x onerror=alert(1)>', b'</script><script>alert(2)</script>', b'<!--', b'-->']
    recording = made.Made(f'{t.folder}/data', hostile, n=400, deep=6)
    page = export(recording.path, f'{t.folder}/page.html')
    text = read_text(page)
    equal((len(re.findall('<script', text)), len(re.findall('</script>', text))), (len(re.findall('\n<script', text)),) * 2, 'scripts')
    with FilePage(t, 'file://' + page) as p:
        p.press('3')
        names = [row[7] for row in p.rows('Functions')]
        need('</script><script>alert(2)</script>' in names, names)
        equal(p.ask('document.querySelectorAll("img").length'), 0, 'elements that names made')


def test_two(t):
    first, second = two(t)
    commands.must([GUESTTRACE, 'export', '--format', 'html', '-o', f'{t.folder}/page.html', first.path, second.path])
    with Viewing(first.path, second.path) as v, FilePage(t, f'file://{t.folder}/page.html') as p:
        equal(p.state('tab'), 'flame', 'what is shown first')
        for choice in ({}, {}), ({'inverse': True}, {'inverse': 1}), ({'by': 'calls'}, {'by': 'calls'}):
            p.ask(f'guesttrace.setState({json.dumps({"inverse": False, "by": "time", "path": [], **choice[0]})})')
            p.idle()
            equal(p.ask('guesttrace.flame.nodes.map(n => [n.function, ...n.values])'),
                  [[n[1], n[2], n[3]] for n in rows(v.ask('difference', **choice[1])['nodes'], 6)], choice)
        p.press('ArrowDown', 'Enter')
        equal((len(p.state('path')), p.ask('guesttrace.flame.error')), (1, ''), 'path')
        p.press('7')
        equal(len(p.rows('Difference')), len({*report(first.path), *report(second.path)}), 'functions')


def test_same_bytes(t):
    """Whatever thread reads what first."""
    first, second = (made.Made(f'{t.folder}/{name}', step=random_steps, n=20000, tids=[*range(11, 11 + n)]) for name, n in (('first', 4), ('second', 3)))
    for of in [first.path], [second.path, first.path]:
        pages, n = [], 6 if LONG else 3
        for _ in range(n):
            commands.must([GUESTTRACE, 'export', '--format', 'html', '-o', f'{t.folder}/page.html', *of])
            pages.append(read_text(f'{t.folder}/page.html'))
        equal([page == pages[0] for page in pages], [True] * n, f'pages of {len(of)}')


def test_other_options(t):
    recording = made.Made(f'{t.folder}/data', n=50)
    for options in ['--from', '1us'], ['--task', '8'], ['--wall']:
        done = commands.run([GUESTTRACE, 'export', '--format', 'html', *options, '-o', f'{t.folder}/x', recording.path])
        equal(done.returncode, 2, options, done.stderr)
    for form in 'chrome', 'compact':
        done = commands.run([GUESTTRACE, 'export', '--format', form, '-o', f'{t.folder}/x', recording.path, recording.path])
        equal((done.returncode, os.path.exists(f'{t.folder}/x')), (2, False), 'two recordings', done.stderr)
    done = commands.run([GUESTTRACE, 'export', '--format', 'chrome', '--size', '5M', '-o', f'{t.folder}/x', recording.path])
    equal(done.returncode, 2, '--size', done.stderr)


def test_cut(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps, tids=[8])
    write(f'{recording.path}/8.dat', recording.data[8][:1000])
    with FilePage(t, 'file://' + export(recording.path, f'{t.folder}/page.html')) as p:
        p.press('3')
        check_table(p, report(recording.path))


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
