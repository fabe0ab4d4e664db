# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of guesttrace view: how soon its server answers, what each zoom takes, how much memory it has."""
import http.client
import json
import os
import random
import statistics as stat
import subprocess
import time
import urllib.parse

import calls
import measure
from table import Column, Missing, Row, Table, wanted

BINS = 512   # of a tile, and how many tiles the page asks for at once
RUN = 6
ZOOMS = 60   # at each number of runs
LONG = 2 * 10**7
HUGE = 2 * 10**9


class Server:
    """`with Server(bench, path) as s`: guesttrace view, and questions to it."""

    def __init__(self, bench, path):
        self.begun = time.monotonic()
        self.child = subprocess.Popen([bench.guesttrace, 'view', '--no-browser', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        parts = urllib.parse.urlsplit(self.child.stdout.readline().decode().strip())
        self.connection, self.path = http.client.HTTPConnection('127.0.0.1', parts.port, timeout=measure.SECONDS), parts.path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.child.terminate()
        self.child.wait()
        self.child.stdout.close()

    def ask(self, name, **parameters):
        """An answer, and how many ms it took."""
        begun = time.monotonic()
        self.connection.request('GET', f'{self.path}{name}?{urllib.parse.urlencode(parameters)}')
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise measure.Failed(f'{name}: {answer.status} {data[:200]}')
        return json.loads(data), (time.monotonic() - begun) * 1000

    def picture(self, exp, at, tasks, duration):
        """What the page asks for a picture of some 2000 pixels at a time; ms."""
        first = min(at, duration) >> exp
        first -= first % (BINS * RUN)
        return self.ask('tiles', exp=exp, bin=first, bins=BINS * RUN, tasks=','.join(map(str, tasks)))[1]

    def peak(self):
        with open('/proc/%d/status' % self.child.pid) as f:
            return next(int(line.split()[1]) for line in f if line.startswith('VmHWM')) / 1024


def first_picture(s):
    """Seconds until the page has what its first picture needs, the recording having been read."""
    info = s.ask('info')[0]
    while True:
        tracks = s.ask('tracks')[0]
        if tracks['progress'] == 1000:
            break
    tasks = sorted(range(len(tracks['tasks'])), key=lambda i: -tracks['tasks'][i][0])[:24]
    s.ask('functions', first=0)
    s.picture(tracks['coarsest'], 0, tasks, info['duration'])
    return time.monotonic() - s.begun, info, tracks, tasks


def showing(bench, path, turns):
    firsts, zooms, sums, peaks, number = [], [], [], [], random.Random(1)
    for turn in range(turns + 1):
        with Server(bench, path) as s:
            first, info, tracks, tasks = first_picture(s)
            levels = [*range(tracks['coarsest'], -1, -2)]
            taken = [s.picture(number.choice(levels), number.randrange(info['duration']), tasks, info['duration']) for _ in range(ZOOMS)]
            for question in {'inverse': 0}, {'inverse': 1}, {'from': info['duration'] // 3, 'to': info['duration'] // 2}:
                taken_by_sums = s.ask('flame', **question)[1] + s.ask('report', **{k: v for k, v in question.items() if k != 'inverse'})[1]
                if turn:
                    sums.append(taken_by_sums)
            if turn:     # the first one fills the system's cache
                firsts.append(first)
                zooms += taken
                peaks.append(s.peak())
    zooms.sort()
    return {'calls': sum(t[0] for t in tracks['tasks']), 'first': stat.median(firsts), 'zoom': stat.median(zooms), 'late': zooms[len(zooms) * 95 // 100],
            'sums': stat.median(sums), 'peak': max(peaks)}


def page(bench, path):
    """The page as a file: how large, in how many seconds."""
    out = bench.scratch('page.html')
    taken = [measure.pipeline([[bench.guesttrace, 'export', '--format', 'html', '-o', out, path]], bench.guesttrace)[0] for _ in range(bench.count + 1)]
    return {'file': os.path.getsize(out) / 1e6, 'export': stat.median(taken[1:])}


def view_row(name, words, path_of, most_first, most_zoom):
    def measured(bench):
        path = path_of(bench)
        return {**showing(bench, path, bench.count), **page(bench, path)}
    return Row(name, words, lambda bench: [({'most_first': most_first, 'most_zoom': most_zoom}, lambda: measured(bench))])


def huge(bench, path):
    """Without the page as a file, and in two runs: reading all takes 10 s or more each time."""
    return {**showing(bench, path, 2), 'file': None, 'export': None}


def repeated(bench):
    if bench.args.quick:
        raise Missing('a recording of 10^9 calls is made without --quick')
    return calls.repeated(bench, HUGE)[0]


VIEW = Table(
    [view_row('view-boot', 'a Linux boot', lambda bench: calls.boot(bench)[1], 0.5, 50),
     view_row('view-long', '10^7 calls of 8 tasks, made by repeating', lambda bench: calls.repeated(bench, LONG)[0], None, 100),
     Row('view-guest', 'Lua, git and SQLite in Linux', lambda bench: [({'most_first': 8, 'most_zoom': 200}, lambda: huge(bench, calls.guest(bench)))]),
     Row('view-huge', '10^9 calls, made by repeating', lambda bench: [({'most_first': None, 'most_zoom': 200}, lambda: huge(bench, repeated(bench)))])],
    [Column('page', 16), Column('what', 0)],
    [Column('calls', 12), Column('first picture, s', 16), Column('wanted', 6), Column('zoom, ms', 8), Column('19 of 20, ms', 12), Column('wanted', 6),
     Column('sums, ms', 8), Column('peak memory, MiB', 16), Column('wanted', 6), Column('file, MB', 8), Column('export, s', 9)],
    lambda r: ['`%s`' % r['row'], r['words']],
    lambda r: ['{:,}'.format(r['calls']), '%.2f' % r['first'], wanted(r['first'], most=r['most_first']), '%.1f' % r['zoom'], '%.0f' % r['late'],
               wanted(r['late'], most=r['most_zoom'], form='%.0f'), '%.0f' % r['sums'], '%.0f' % r['peak'], wanted(r['peak'], most=128, form='%.0f'),
               '' if r['file'] is None else '%.1f' % r['file'], '' if r['export'] is None else '%.2f' % r['export']],
    'The page of guesttrace view')

TABLES = [VIEW]
