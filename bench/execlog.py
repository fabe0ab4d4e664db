# SPDX-License-Identifier: GPL-2.0-or-later
"""What execlog's logs cost (libexeclog.so), as text and in binary form, and how fast they are read."""
import os
import statistics as stat
import struct

import measure
import recording
import workloads
from table import Column, Row, Table, one, wanted
from workloads import bare_machine

SIZE = 50000  # numbers that are sorted


# ---- recording --------------------------------------------------------------------------------------

def text_lines(path):
    with open(path, 'rb') as f:
        return {'records': sum(piece.count(b'\n') for piece in iter(lambda: f.read(1 << 20), b'')),
                'bytes': os.path.getsize(path)}


def binary_lines(path):
    """The last chunk, END, has the number (docs/execlog.md)."""
    with open(path, 'rb') as f:
        f.seek(-64, os.SEEK_END)
        end = f.read()
    if end[:5] != b'GXCK\x05':
        raise measure.Failed('the log has no end')
    return {'records': struct.unpack_from('<Q', end, 32)[0], 'bytes': os.path.getsize(path)}


def recording_row(name, words, arguments, statistics, least):
    def cases(bench):
        plugin = bench.plugin('execlog', 'out=' + bench.data, *arguments)
        command = bare_machine('aarch64', 'SORT', SIZE)
        for qemu in bench.qemus('machine', 'aarch64'):
            yield ({'arch': 'aarch64', 'qemu': qemu.version, 'wanted': least},
                   lambda qemu=qemu: bench.pairs(command(bench.context, qemu), plugin, statistics,
                                                 None, None))
    return Row(name, words, cases)


RECORDING = Table(
    [recording_row('execlog-text', 'quicksort with a callback; every instruction, as text', (),
                   text_lines, 10),
     recording_row('execlog-binary', 'the same in binary form', ('format=binary',), binary_lines,
                   40)],
    [Column('workload', 16), Column('what', 0), Column('guest', 8), Column('QEMU', 7)],
    [Column('bare s', 7), Column('recorded s', 10), Column('instructions', 13),
     Column('M instructions/s', 16), Column('wanted', 6), Column('MB', 7),
     Column('bytes an instruction', 20)],
    recording.labels,
    lambda r: ['%.3f' % r['bare'], '%.3f' % r['recorded'], '{:,}'.format(r['records']),
               '%.1f' % (r['records'] / r['recorded'] / 1e6),
               wanted(r['records'] / r['recorded'] / 1e6, least=r['wanted'], form='%.0f'),
               '%.1f' % (r['bytes'] / 1e6), '%.2f' % (r['bytes'] / r['records'])])


# ---- reading ----------------------------------------------------------------------------------------

def logs(bench):
    """The same run twice in binary form, and the text of it."""
    def make():
        command = bare_machine('aarch64', 'SORT', SIZE)(bench.context,
                                                        bench.qemus('machine', 'aarch64')[0])
        found = [bench.scratch('log-%s' % i) for i in ('a', 'b')]
        for path in found:
            measure.run(workloads.with_plugin(command, bench.plugin('execlog', 'out=' + path,
                                                                    'format=binary')),
                        bench.folder)
        text = bench.scratch('log-text')
        measure.pipeline([['sh', '-c', '"$0" dump "$1" > "$2"', bench.guesttrace, found[0], text]],
                         bench.guesttrace)
        return (*found, text)
    return bench.once('execlog-logs', make)


def rate(bench, lines, *pipeline):
    found = []
    for turn in range(bench.count + 1):
        seconds, _ = measure.pipeline(pipeline, bench.guesttrace)
        if turn:
            found.append(lines / seconds / 1e6)
    return {'lines': lines, 'rate': stat.median(found), 'rate_min': min(found),
            'rate_max': max(found)}


def reading_row(name, words, command):
    def take(bench):
        a, b, text = logs(bench)
        names = {'A': a, 'B': b, 'TEXT': text, 'GUESTTRACE': bench.guesttrace}
        lines = binary_lines(a)['records']
        return {'wanted': 20, **rate(bench, lines, *[[names.get(w, w) for w in part]
                                                     for part in command])}
    return Row(name, words, one(take))


READING = Table(
    [reading_row('execlog-dump', 'a binary log as text, through a pipe',
                 [['GUESTTRACE', 'dump', 'A'], ['cat']]),
     reading_row('execlog-diff', 'two binary logs that are the same',
                 [['GUESTTRACE', 'diff', 'A', 'B']]),
     reading_row('execlog-mixed', 'a binary log and the text of it',
                 [['GUESTTRACE', 'diff', 'A', 'TEXT']]),
     reading_row('execlog-texts', 'two texts that are the same',
                 [['GUESTTRACE', 'diff', 'TEXT', 'TEXT']])],
    [Column('reading', 16), Column('what', 0)],
    [Column('lines', 12), Column('M lines/s', 9), Column('spread', 14), Column('wanted', 6)],
    lambda r: ['`%s`' % r['row'], r['words']],
    lambda r: ['{:,}'.format(r['lines']), '%.1f' % r['rate'],
               '%.1f to %.1f' % (r['rate_min'], r['rate_max']),
               wanted(r['rate'], least=r['wanted'], form='%.0f')],
    'Reading')

TABLES = [RECORDING, READING]
