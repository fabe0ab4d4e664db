# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast recordings of calls are read: guesttrace of a compact file and of uftrace's directory, next to
uftrace of the directory, in turn."""
import os
import shutil
import statistics as stat

import measure
import workloads
from table import Column, Missing, Row, Table, wanted
from workloads import BUSY, linux


def boot(bench):
    """A Linux boot, instruction-exact: its directory, the compact file of it, how many records."""
    def record():
        directory, compact = bench.scratch('boot.data'), bench.scratch('boot.gtrace')
        qemu = bench.qemus('machine', 'aarch64')[0]
        measure.run(workloads.with_plugin(linux(BUSY)(bench.context, qemu), bench.plugin(
            'uftrace', 'output=' + directory, 'clock=insn', 'summary=off')), bench.folder)
        measure.run([bench.guesttrace, 'export', '--format', 'compact', '-o', compact, directory], bench.folder)
        return directory, compact, measure.statistics_of(directory)['records']
    return bench.once('boot of calls', record)


def in_turn(bench, commands):
    """Median seconds of each command, and the peak memory of those that are guesttrace's."""
    seconds, peaks = [[] for _ in commands], []
    for turn in range(bench.count + 1):
        for times, command in zip(seconds, commands):
            taken, peak = measure.pipeline([command], bench.guesttrace)
            if turn:         # the first one fills the system's cache
                times.append(taken)
                peaks.append(peak)
    return [stat.median(times) for times in seconds], max(peaks)


def reading(ours, theirs, least, most=None):
    """The cases of a row: our words before the recording, uftrace's; how many times faster the compact file has
    to be read, and in how many seconds."""
    def measured(bench):
        directory, compact, records = boot(bench)
        if not shutil.which('uftrace'):
            raise Missing('no uftrace')
        (file, folder, other), peak = in_turn(bench, [
            [bench.guesttrace, *ours, compact], [bench.guesttrace, *ours, directory],
            ['uftrace', *theirs, '--no-pager', '-d', directory]])
        return {'records': records, 'compact': file, 'directory': folder, 'uftrace': other, 'peak': peak,
                'bytes': os.path.getsize(compact), 'ratio': other / file}
    return lambda bench: [({'least': least, 'most': most}, lambda: measured(bench))]


READING = Table(
    [Row('report', 'functions of a Linux boot', reading(['report'], ['report'], 40, 0.2)),
     Row('graph', 'its tree of calls', reading(['graph'], ['graph'], 20))],
    [Column('reading', 16), Column('what', 0)],
    [Column('records', 12), Column('compact file, MB', 16), Column('s', 7), Column('wanted s', 8),
     Column('directory, s', 12), Column('uftrace, s', 10), Column('times faster', 12), Column('wanted', 6),
     Column('peak memory, MiB', 16)],
    lambda r: ['`%s`' % r['row'], r['words']],
    lambda r: ['{:,}'.format(r['records']), '%.1f' % (r['bytes'] / 1e6), '%.3f' % r['compact'],
               wanted(r['compact'], most=r['most']), '%.3f' % r['directory'], '%.2f' % r['uftrace'],
               '%.1f' % r['ratio'], wanted(r['ratio'], least=r['least'], form='%.0f'),
               '%.0f' % (r['peak'] / 2**20)],
    'Recordings of calls')

TABLES = [READING]
