#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Firefox's profiler opens what is exported: each function has its own time and total, of a whole recording and of a
part. Its command line, which has the viewer's own code, is the package that scripts/npm-packages fetched; it reads the
text of `perf script`, too.
"""
import collections
import contextlib
import json
import os
import sys
import time

import programs
import readers
from formats_test import clean, export
from gttest import call_sums, commands, functions, made, paths
from gttest.results import Skip, need, same, write

PACKAGE = 'firefox-devtools-profiler-cli-0.10.0'
COLUMNS = 'selfSamples', 'totalSamples'


class Viewer:
    """Serves one file, until close()."""

    def __init__(self, folder, name, data):
        program = f'{paths.CACHE}/npm-packages/{PACKAGE}/dist/profiler-cli.js'
        if not os.path.exists(program):
            raise Skip(f'no {PACKAGE}: {paths.why_not_fetched("npm-packages", PACKAGE)}')
        self.words = [commands.tool('node'), program]
        self.more = {'env': {'PATH': '/usr/bin:/bin', 'HOME': folder, 'PROFILER_CLI_SESSION_DIR': f'{folder}/sessions'}}
        self.load(write(f'{folder}/{name}', data))

    def run(self, *words):
        return commands.run([*self.words, *words], **self.more)

    def load(self, path):
        """Where the machine is busy, its server begins later than it waits."""
        done, end = self.run('load', path), time.monotonic() + commands.SECONDS
        while self.run('thread', 'list', '--json').returncode != 0:
            need(time.monotonic() < end, done.stdout, done.stderr)

    def ask(self, *words):
        return json.loads(commands.must([*self.words, *words, '--json'], **self.more).stdout)

    def close(self):
        self.run('stop', '--all')


def tables(t, name, data):
    """{tid: [(function, own, total)]}, as the viewer has them."""
    with contextlib.closing(Viewer(t.folder, name, data)) as viewer:
        threads = viewer.ask('thread', 'list', '--limit', '0')['threads']
        return {int(thread['tid']): [
            (f['name'], *(f[c] for c in COLUMNS)) for f in viewer.ask(
                'thread', 'functions', '--thread', thread['threadHandle'], '--limit', '0', '--include-idle')['functions']]
            for thread in threads}


def wanted(sums, unit=1):
    """The same rows, of {path: Sum}."""
    rows = collections.defaultdict(lambda: [0, 0])
    for path, s in sums.items():
        for name in set(path):
            rows[name][0] += s.self * (name == path[-1])
            rows[name][1] += s.self
    return {name: (own / unit, total / unit) for name, (own, total) in rows.items() if total}


def check(got, want, what):
    """The viewer has functions of one name and module twice where they are two."""
    rows = collections.defaultdict(lambda: [0, 0])
    for name, own, total in got:
        rows[name][0] += own
        rows[name][1] += total
    same('\n'.join(f'{n} {a:.6f} {b:.6f}' for n, (a, b) in sorted(rows.items()) if b),
         '\n'.join(f'{n} {a:.6f} {b:.6f}' for n, (a, b) in sorted(want.items())), what)


def check_recording(t, recording, options=(), unit=1, **window):
    got = tables(t, 'profile.json', export('firefox', recording.path, *options))
    for tid in recording.tids:
        sums = {tuple(map(clean, p)): s for p, s in recording.paths(tid, **window).items()}
        check(got[tid], wanted(sums, unit), tid)


def test_instructions(t):
    """A real program: sums are instructions."""
    directory = programs.recorded(t.folder, 'recursion', '--clock', 'insn')
    got = tables(t, 'profile.json', export('firefox', directory))
    ((tid, sums),) = programs.paths_of(directory).items()
    check(got[tid], wanted(sums), tid)


def test_whole(t):
    """Times are in milliseconds."""
    check_recording(t, made.Made(f'{t.folder}/data'), unit=1e6)


def test_part(t):
    """In order of time."""
    recording = made.Made(f'{t.folder}/data', step=lambda number: number.randrange(1, 1000))
    first = min(int.from_bytes(recording.data[tid][:8], 'little') for tid in made.TIDS)
    window = {'window': (first + 100000, first + 300000)}
    options = ['--from', '100us', '--to', '300us']
    check_recording(t, recording, options, unit=1e6, **window)
    for thread in readers.read_firefox(export('firefox', recording.path, *options))['threads']:
        samples = thread['samples']
        begins = [round(1e6 * at) for at in samples['time']]
        ends = [at + round(1e6 * weight) for at, weight in zip(begins, samples['weight'])]
        need(0 <= begins[0] and ends[-1] <= 200000, begins[0], ends[-1])
        need(all(stack is None or end == begin for stack, end, begin in zip(samples['stack'], ends, begins[1:])),
             'a sample does not begin where the one before it ends')


def test_hostile_names(t):
    check_recording(t, made.Made(f'{t.folder}/data', [n for n in made.HOSTILE if len(n) < 100], n=90, deep=3), unit=1e6)


def test_perf(t):
    """The text of `perf script`: it counts samples."""
    recording = made.Made(f'{t.folder}/data', tids=[7])
    got = tables(t, 'perf.txt', export('perf', recording.path))
    ones = {path: call_sums.Sum() for path, s in recording.paths(7).items() if s.self}
    for s in ones.values():
        s.add(1, 1, 1)
    check(got[7], wanted(ones), 'perf:')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
