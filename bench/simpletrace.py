# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast traces of the simple backend are read, beside babeltrace2 with LTTng's of the same events."""
import lzma
import os
import statistics as stat
import struct
import subprocess
import time

import events
import measure
from table import Column, Missing, Row, Table, wanted

HERE = os.path.dirname(os.path.abspath(__file__))
TWO = os.path.join(HERE, 'events.trace-events')
BOOT = os.path.join(HERE, '..', 'tests', 'simpletrace', 'data', 'qemu-10.2.2-boot')
COUNT = 4000000
COPIES = 500  # of the 7,948 records of the boot


def timed(bench, command, count, env=None):
    times = []
    for turn in range(bench.count + 1):
        begin = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                              timeout=120, env={**os.environ, **(env or {})})
        if done.returncode != 0:
            raise measure.Failed('%s: %s' % (command[0], done.stderr.decode().strip()[-200:]))
        if turn:
            times.append(time.perf_counter() - begin)
    rates = [count / t / 1e6 for t in times]
    return {'events': count, 'rate': stat.median(rates), 'rate_min': min(rates),
            'rate_max': max(rates)}


def record_two(bench, path):
    """Two integers, many times, by our own backend."""
    events.run([events.program(bench, 'own'), str(COUNT), '1', 'bench_two,backends=simple,file=' + path])
    return TWO, COUNT


def repeat_boot(bench, path):
    """A real QEMU's records, its mappings once before them."""
    data, at, records, mappings = lzma.open(BOOT + '.trace.xz').read(), 24, [], []
    while at < len(data):
        kind = struct.unpack_from('<Q', data, at)[0]
        length = struct.unpack_from('<I', data, at + (24 if kind else 16))[0]
        end = at + length + (8 if kind else 20)
        (records if kind else mappings).append(data[at:end])
        at = end
    with open(path, 'wb') as f:
        f.write(data[:24] + b''.join(mappings))
        for _ in range(COPIES):
            f.write(b''.join(records))
    return BOOT + '.trace-events', COPIES * len(records)


def ours(make, *options, least=None):
    def cases(bench):
        def take():
            path = os.path.join(events.MEMORY, 'guesttrace-bench.simpletrace')
            try:
                declared, count = make(bench, path)
                return timed(bench, [bench.guesttrace, 'events', 'simpletrace', *options, declared, path], count)
            finally:
                if os.path.exists(path):
                    os.unlink(path)
        yield {'wanted': least}, take
    return cases


def babeltrace(bench):
    for tool in ('lttng', 'lttng-sessiond', 'babeltrace2'):
        if not events.shutil.which(tool):
            raise Missing('no ' + tool)
    program, count = events.program(bench, 'ust'), COUNT // 4

    def take():
        with events.Lttng(events.MEMORY) as session:
            events.run([program, str(count), '1'], session.env)
            session.words('stop')
            return timed(bench, ['babeltrace2', os.path.join(session.dir, 'trace')], count)
    yield {'wanted': None}, take


TABLES = [Table(
    [Row('simpletrace-two', 'two integers, as text', ours(record_two, least=10)),
     Row('simpletrace-babeltrace2', 'the same events by LTTng, text of babeltrace2', babeltrace),
     Row('simpletrace-boot', 'a QEMU that boots U-Boot, as text', ours(repeat_boot, least=10)),
     Row('simpletrace-filter', 'the same, those of one device',
         ours(repeat_boot, '--filter', 'name ~ "*flash0" && offset >= 0x1000')),
     Row('simpletrace-json', 'the same, as JSON', ours(repeat_boot, '--json')),
     Row('simpletrace-stats', 'the same, figures', ours(repeat_boot, '--stats'))],
    [Column('reading', 24), Column('what', 0)],
    [Column('events', 10), Column('M events/s', 10), Column('spread', 14), Column('wanted', 10)],
    lambda r: ['`%s`' % r['row'], r['words']],
    lambda r: ['{:,}'.format(r['events']), '%.1f' % r['rate'],
               '%.1f to %.1f' % (r['rate_min'], r['rate_max']),
               wanted(r['rate'], least=r['wanted'], form='%.0f')])]
