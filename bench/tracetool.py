# SPDX-License-Identifier: GPL-2.0-or-later
"""Generating code for all events of the QEMU that is installed."""
import os
import statistics as stat
import subprocess
import time

from table import Column, Missing, Row, Table, wanted

EVENTS = '/usr/share/qemu/trace-events-all'
WANTED_MS = {'h': 50, 'c': 50}


def count_events():
    with open(EVENTS, encoding='utf-8') as f:
        return sum(1 for line in f if line.strip() and not line.startswith('#'))


def generate(bench, name):
    out = bench.scratch('trace-all.' + name)
    command = [os.path.join(bench.build, 'tracetool'), '--format=' + name, '--group=all',
               '--backends=log,simple', EVENTS, out]
    times = []
    for turn in range(3 * bench.count + 1):
        begin = time.perf_counter()
        subprocess.run(command, check=True)
        if turn:
            times.append(1000 * (time.perf_counter() - begin))
    return {'events': count_events(), 'bytes': os.path.getsize(out), 'ms': stat.median(times),
            'ms_min': min(times), 'ms_max': max(times)}


def cases(name):
    def each(bench):
        if not os.path.exists(EVENTS):
            raise Missing(f'no {EVENTS}')
        yield {'wanted': WANTED_MS.get(name)}, lambda: generate(bench, name)
    return each


TABLES = [Table(
    [Row('tracetool-' + name, words, cases(name))
     for name, words in (('h', 'C header'), ('c', 'C source'), ('rs', 'Rust'),
                         ('d', 'DTrace provider'))],
    [Column('generating', 16), Column('what', 0)],
    [Column('events', 6), Column('bytes', 10), Column('ms', 6), Column('spread', 14),
     Column('wanted', 6)],
    lambda r: ['`%s`' % r['row'], r['words']],
    lambda r: ['{:,}'.format(r['events']), '{:,}'.format(r['bytes']), '%.0f' % r['ms'],
               '%.0f to %.0f' % (r['ms_min'], r['ms_max']),
               wanted(r['ms'], most=r['wanted'], form='%.0f')])]
