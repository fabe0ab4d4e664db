#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace view --follow: the page of a recording that is being written, and what becomes of it when that ends, is cut or is
removed. The program does a step for each letter (control/guests/steps.c), so that a test knows what has been recorded.
"""
import json
import os
import signal
import subprocess
import sys

import access_test
import texts
from gttest import commands, compilers, functions, made, paths, qemus, uftrace, uftrace_write
from gttest.commands import must, printed
from gttest.paths import GUESTTRACE
from gttest.results import Skip, equal, need, read_text, write
from page_test import Page, READY, cells, count
from viewing import Viewing

STATUS = 'document.querySelector("[role=status]").textContent'
CALLS = '(guesttrace.live.got.rows.find(r => r.function === "work") || {}).all_calls'
FACTS = 'document.querySelector("[aria-label=\\"The recording\\"]").innerText'
TABLE = '[...document.querySelectorAll(`[aria-label="Functions"] .rows .row`)].map(row => row.textContent).join("\\n")'
KINDS = 'compact', 'uftrace'


class LivePage(Page):
    """The page while its recording is being written."""
    ready = 'window.guesttrace && guesttrace.live.got && document.querySelector("[role=status]").textContent'

    def until_ended(self):
        """Until it has become that of the recording, by itself."""
        self.browser.wait(READY)


class Recorded:
    """`guesttrace record` of a program that waits for letters."""

    def __init__(self, t, kind='compact', *options, source='steps'):
        qemus.user('x86_64')
        program = f'{t.folder}/{source}'
        if not os.path.exists(program):
            compilers.compile_to(program, 'x86_64', f'{paths.source("control", "guests")}/{source}.c', '-O1', '-pthread')
        self.path = f'{t.folder}/{source}-{kind}'
        self.child = commands.start([GUESTTRACE, 'record', '-q', '-o', self.path, '--format', kind, *options, '--', program],
                                    stdin=subprocess.PIPE)
        equal(self.said(), 'ready', 'the program')

    def said(self):
        return self.child.stdout.readline().decode().strip()

    def step(self, letter='w'):
        self.child.stdin.write(letter.encode())
        self.child.stdin.flush()
        if letter != 'q':
            equal(self.said(), letter, 'the program')

    def end(self):
        self.step('q')
        done = commands.finish(self.child)
        equal(done.returncode, 42, f'exit status: {done.stderr}')

    def kill(self):
        """The command and QEMU: nobody completes the recording."""
        qemu = [int(pid) for pid in printed(['pgrep', '-P', str(self.child.pid)]).split()]
        self.child.kill()
        self.child.wait()
        for pid in qemu:
            os.kill(pid, signal.SIGKILL)


def live(v, **parameters):
    return v.ask('live', sort='all-calls', limit=2000, **parameters)


def until(v, fits):
    """An answer of which that is true."""
    while not fits(got := live(v)):
        pass
    return got


def work_of(got):
    return sum(row['all_calls'] for row in got['rows'] if row['function'] == 'work')


def same_as_report(got, path):
    """The table's sums since the recording began are those of report, which are returned: {(function, file): [calls, total, self, slept]}."""
    want = json.loads(printed([GUESTTRACE, 'report', '--json', path]))['rows']
    keys = 'calls', 'total_ns', 'self_ns', 'slept_ns'
    sums = {(row['function'], row['module']): [row[key] for key in keys] for row in want}
    equal({(row['function'], row['module']): [row[f'all_{key}'] for key in keys] for row in got['rows']}, sums, 'sums at the end')
    equal(got['fit'], len(want), 'rows')
    tasks = json.loads(printed([GUESTTRACE, 'report', '--by', 'task', '--json', path]))['rows']
    equal(got['all_self_ns'], sum(row['total_ns'] for row in tasks), 'time that ran')
    return {(name, os.path.basename(module)): values for (name, module), values in sums.items()}


def check_ended(v, p, path):
    """All has become the page of the recording."""
    p.until_ended()
    need(p.ask('location.href').startswith(v.url), 'another address', p.ask('location.href'))
    sums = same_as_report(live(v), path)
    v.ready()
    need(p.ask('document.querySelectorAll("canvas.tracks").length'), 'no time line')
    p.press('3')
    rows = cells(p, 'Functions')
    need(len(rows) > 10, 'few rows', rows)
    for row in rows:  # those in sight
        calls, total, own, _ = sums[row['Function'], row['Module']]
        equal([count(row['Calls']), row['Total'], row['Self']], [calls, texts.time_text(total), texts.time_text(own)], row)


def test_looks_on(t):
    for kind in KINDS:
        r = Recorded(t, kind)
        with Viewing('--follow', r.path) as v, LivePage(t, v.url) as p:
            for n in 1, 2, 3:
                r.step()
                p.browser.wait(f'{CALLS} === {100 * n}')
                p.idle()
                row, = [row for row in cells(p, 'Functions') if row['Function'] == 'work']
                equal(count(row['All calls']), 100 * n, 'calls of work')
            got = live(v)
            equal(row['All self'], texts.time_text(next(r['all_self_ns'] for r in got['rows'] if r['function'] == 'work')), 'self time')
            equal((got['state'], p.ask(STATUS)), ('recording', 'Recording'), 'state')
            need(got['records'] >= 2 * work_of(got) and got['bytes'] > 0 and got['lost'] == 0 and 'anomalies' not in got, got)
            p.picture(f'live-{kind}')
            r.end()
            check_ended(v, p, r.path)
            need('anomalies' in live(v), 'anomalies are not counted at the end')
            equal(v.end(), (0, ''), 'the end')


def test_keys(t):
    r = Recorded(t)
    r.step()
    with Viewing('--follow', r.path) as v, LivePage(t, v.url) as p:
        p.browser.wait(f'{CALLS} === 100')
        p.idle()
        p.press(' ')
        p.browser.wait(f'{STATUS} === "Paused"')
        p.idle()
        table = p.ask(TABLE)
        r.step()
        look = until(v, lambda got: work_of(got) == 200)['look']
        until(v, lambda got: got['look'] > look)
        p.idle()
        equal(p.ask(TABLE), table, 'the table of a page that is paused')
        p.press(' ')
        p.browser.wait(f'{CALLS} === 200')
        p.press('/')
        p.type('ORK')
        p.idle()
        equal({row['Function'] for row in cells(p, 'Functions')}, {'work', 'do_work'}, 'names with a part')
        p.ask('document.activeElement.select()')
        p.type('?ork')
        equal({row['Function'] for row in cells(p, 'Functions')}, {'work'}, 'names of a glob')
        p.press('Escape')
        need(len(cells(p, 'Functions')) > 3, 'names after Escape')
        p.press('>', '>')
        ordered = [count(row['All calls']) for row in cells(p, 'Functions')]
        equal(ordered, sorted(ordered, reverse=True), 'sorted by calls')
        need(ordered[0] == 600, 'the most called function:', ordered)
        p.press('2')
        got = live(v, by='tasks')
        row, = cells(p, 'Tasks')
        equal(row['Task'].split()[-1], str(got['rows'][0]['tid']), 'task')
        equal([count(row['All calls']), row['All self']], [got['rows'][0]['all_calls'], texts.time_text(got['rows'][0]['all_self_ns'])], 'of the task')
        p.press('?')
        need(p.ask('document.querySelector("dialog").open'), 'no list of keys')
        p.ask('document.querySelector("dialog").close()')
        p.press(' ')
        r.end()
        p.until_ended()  # though it was paused


def test_axe(t):
    path = f'{paths.CACHE}/npm-packages/{access_test.PACKAGE}/axe.min.js'
    if not os.path.exists(path):
        raise Skip(f'no {access_test.PACKAGE}: {paths.why_not_fetched("npm-packages", access_test.PACKAGE)}')
    r = Recorded(t)
    r.step()
    with Viewing('--follow', r.path) as v, LivePage(t, v.url) as p:
        p.browser.wait(f'{CALLS} === 100')
        p.ask(f'{read_text(path)};0')
        for theme in 'light', 'dark':
            if p.ask('document.documentElement.dataset.theme') != theme:
                p.press('t')
            for tab in '1', '2':
                p.press(tab)
                access_test.check(p, f'{theme}, {tab}')
        p.picture('live-dark')
        p.press('?')
        access_test.check(p, 'keys')
    r.end()


def test_answers(t):
    r = Recorded(t)
    r.step()
    with Viewing('--follow', r.path) as v:
        equal(v.ask('info'), {'live': 1, 'title': os.path.basename(r.path), 'path': r.path}, 'info')
        until(v, lambda got: work_of(got) == 100)
        few = v.ask('live', limit=1, sort='all-calls')
        equal([row['function'] for row in few['rows']], ['leaf'], 'the first row')
        need(few['fit'] > 4, few)
        for question in 'by=x', 'sort=x', 'limit=0', 'limit=2001', 'limit=x':
            equal(v.request(f'{v.path}live?{question}')[0], 400, question)
        for question in 'tracks', 'report', 'tiles?exp=0', '../live':
            equal(v.request(v.path + question)[0], 404, question)
        equal(v.request('/live')[0], 403, 'without the token')
        equal(v.end(), (0, ''), 'the end while it is recorded')
    r.end()


def test_cut(t):
    """Killed, nobody completes the recording: the page says what to do, and goes on when that was done."""
    for kind in KINDS:
        r = Recorded(t, kind)
        r.step()
        with Viewing('--follow', r.path) as v, LivePage(t, v.url) as p:
            p.browser.wait(f'{CALLS} === 100')
            r.kill()
            p.browser.wait(f'{STATUS}.includes("was cut")')
            need(f'guesttrace repair {r.path}' in p.ask(STATUS), p.ask(STATUS))
            need(count([row for row in cells(p, 'Functions') if row['Function'] == 'work'][0]['All calls']) == 100, 'the table is gone')
            p.picture(f'cut-{kind}')
            must([GUESTTRACE, 'repair', r.path])
            check_ended(v, p, r.path)


def test_removed(t):
    for kind in KINDS:
        r = Recorded(t, kind)
        r.step()
        with Viewing('--follow', r.path) as v, LivePage(t, v.url) as p:
            p.browser.wait(f'{CALLS} === 100')
            must(['rm', '-r', *(path for path in (r.path, f'{r.path}.parts') if os.path.exists(path))])
            p.browser.wait(f'{STATUS}.includes("was removed")')
            need(f'{r.path} is gone' in p.ask(STATUS), p.ask(STATUS))
            equal(live(v)['state'], 'removed', 'state')
            equal(v.end(), (0, ''), 'the end')
        commands.kill(r.child)


def test_split(t):
    """Threads that do not stop, in files of 64 KB."""
    r = Recorded(t, 'compact', '--split', '64K', source='threads')
    with Viewing('--follow', r.path) as v, LivePage(t, v.url) as p:
        until(v, lambda got: os.path.exists(f'{r.path}.2') and got['all_calls'] > 100000)
        r.step('q')
        commands.finish(r.child)
        check_ended(v, p, r.path)


def test_flight_recorder(t):
    """It has no file before its first snapshot; that one is complete."""
    r = Recorded(t, 'compact', '--last', '1M', '--control', f'{t.folder}/control')
    r.step()
    done = commands.run([GUESTTRACE, 'view', '--no-browser', '--follow', r.path])
    equal(done.returncode, 1, 'exit status')
    need(r.path.encode() in done.stderr, done.stderr)
    must([GUESTTRACE, 'ctl', f'{t.folder}/control', 'snapshot'])
    with Viewing('--follow', r.path) as v:
        need(v.ready()['tasks'], 'no tasks')
    commands.kill(r.child)


def test_facts(t):
    """vCPUs, lost records and anomalies of a directory that is made up and locked, as a recorder's is."""
    lost = uftrace_write.records((1000, uftrace.ENTRY, 0, 16), (1500, uftrace.LOST, 3, 0), (2000, uftrace.ENTRY, 0, 16))
    path = uftrace_write.directory(f'{t.folder}/data', {7: lost}, {16: 'main'})
    write(f'{path}/.guesttrace.lock', b'')
    with open(f'{path}/events.txt', 'a', encoding='ascii') as f:
        f.writelines(f'EVENT: {1001000 + cpu} guesttrace:cpu{cpu}\n' for cpu in range(3))
    with Viewing('--follow', path) as v, LivePage(t, v.url) as p:
        got = live(v)
        equal({key: got.get(key) for key in ('state', 'records', 'tasks', 'vcpus', 'anomalies', 'lost')},
              {'state': 'recording', 'records': 3, 'tasks': 1, 'vcpus': 3, 'anomalies': None, 'lost': 1}, 'facts')
        p.browser.wait(f'{FACTS}.includes("vCPUs\\n3") && {FACTS}.includes("Lost\\nrecords, once")')
        write(f'{path}/guesttrace.stats', b'calls=2\nanomaly.a=3\nanomaly.b=4\n')
        equal(until(v, lambda got: 'anomalies' in got)['anomalies'], 7, 'anomalies')
        os.unlink(f'{path}/.guesttrace.lock')
        p.until_ended()


def test_already_ended(t):
    recording = made.Made(f'{t.folder}/data', n=50)
    with Viewing('--follow', recording.path) as v:
        v.ready()
        equal(v.request(v.path + 'live')[0], 404, 'live')


def test_not_a_recording(t):
    write(f'{t.folder}/text', b'text\n')
    os.mkdir(f'{t.folder}/empty')
    for path in 'text', 'empty', 'none':
        done = commands.run([GUESTTRACE, 'view', '--no-browser', '--follow', f'{t.folder}/{path}'])
        equal((done.returncode, done.stdout), (1, b''), path)
        need(f'{t.folder}/{path}'.encode() in done.stderr, done.stderr)
    equal(commands.run([GUESTTRACE, 'view', '--follow', 'a', 'b']).returncode, 2, 'two recordings')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
