#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Guest events on one time line with another trace, and `simpletrace`'s filters and statistics on them.

The other trace is as QEMU's simple backend writes it, on the host's monotonic clock: an event before each round of the guest's
work. (Debian's QEMUs write their own events as text.) The guest is guest_machine_test.py's."""
import importlib.util
import json
import sys
import time

from gttest import commands, paths, qemus
from gttest.commands import printed
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, write
from guest_machine_test import Machine, build

ROUNDS = 4
EVENTS = 'mixed(uint64_t a, int b, const char *s) "a=%"PRIu64" b=%d s=%s"\nat=mixed@return done(uint64_t ret) ""\n'


def traces():
    """The module that makes simpletrace files by hand."""
    spec = importlib.util.spec_from_file_location('traces', paths.source('simpletrace', 'traces.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def work(folder, qemu):
    """Records the rounds; the other trace has their beginnings."""
    other = traces().Trace('<').map(1, 'round_begins')
    machine = Machine(folder, qemu)
    try:
        for number in range(ROUNDS):
            other.event(1, time.clock_gettime_ns(time.CLOCK_MONOTONIC), 99, 'round_begins', [('n', number)])
            machine.work()
        done = commands.finish(machine.child, data=b'q')
    finally:
        commands.kill(machine.child)
    need(done.returncode == 0 and not done.stderr, done.stderr)
    write(f'{folder}/other.trace', other.data)
    write(f'{folder}/other.events', 'round_begins(int n) "n=%d"\n')


def shown(folder, *words):
    return [json.loads(line) for line in printed([GUESTTRACE, 'events', 'simpletrace', '--json', *words, f'{folder}/trace']).splitlines()]


def check_merged(folder):
    text = printed([GUESTTRACE, 'events', 'simpletrace', '--json', f'{folder}/trace', f'{folder}/other.events', f'{folder}/other.trace'])
    found = [json.loads(line) for line in text.splitlines()]
    want = (['round_begins'] + ['mixed', 'done'] * 3) * ROUNDS + ['mixed', 'done'] * 3
    equal([r['event'] for r in found], want, 'the time line')
    need([r['timestamp'] for r in found] == sorted(r['timestamp'] for r in found), 'times')
    need(len({r['pid'] for r in found}) == 2, 'processes')


def check_filters(folder):
    found = shown(folder)
    half = sorted(r['args']['a'] for r in found if r['event'] == 'mixed')[len(found) // 4]
    for words, test in ((f'mixed && a > {half}', lambda r: r['event'] == 'mixed' and r['args']['a'] > half),
                        ('mix* && b < 0', lambda r: r['event'] == 'mixed' and r['args']['b'] < 0),
                        ('s =~ "^some" && !(b < 0)', lambda r: r['event'] == 'mixed' and r['args']['b'] >= 0),
                        ('done', lambda r: r['event'] == 'done')):
        want = [r for r in found if test(r)]
        need(want and len(want) < len(found), words, 'selects all or none')
        equal(shown(folder, '--filter', words), want, words)
    stats = json.loads(printed([GUESTTRACE, 'events', 'simpletrace', '--stats', '--json', f'{folder}/trace']))
    counts = {e['event']: e['records'] for e in stats['events']}
    equal(counts, {'mixed': 3 * (ROUNDS + 1), 'done': 3 * (ROUNDS + 1)}, 'statistics')


def check_program(folder):
    """An analysis program by the library's callbacks has each call's argument and result, and how long it took."""
    found, want, begun = shown(folder), [], None
    for r in found:
        if r['event'] == 'mixed':
            begun = r
        else:
            want.append([begun['args']['a'], r['args']['ret'], r['timestamp'] - begun['timestamp']])
    text = printed([paths.built('events', 'calls_of'), f'{folder}/trace.events', f'{folder}/trace', 'mix*', 'done'])
    equal([[int(n) for n in line.split()] for line in text.splitlines()], want, 'the calls')
    need(len(want) == 3 * (ROUNDS + 1), want)


def check(version, qemu, folder, _):
    if qemus.number(version) < (10, 0):
        return
    write(f'{folder}/events', EVENTS)
    work(folder, qemu)
    check_merged(folder)
    check_filters(folder)
    check_program(folder)


if __name__ == '__main__':
    sys.exit(qemus.on_each('aarch64', 'time-line', build, check))
