# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording etrace streams costs (libetrace.so), and how fast they are read."""
import mmap
import os
import statistics as stat
import struct

import kernelelf
import measure
import recording
import workloads
from table import Column, Row, Table, wanted
from workloads import BUSY, bare_machine, linux, program_aarch64

INFO, EXEC, MEM = 0x4554, 1, 4
HEADER = struct.Struct('<HHI')


# ---- streams ----------------------------------------------------------------------------------------

def same(data, at, most):
    """How many packets of the same header follow each other there, up to `most`; at least 1. A chunk
    of them is compared at once: a stream may have tens of millions."""
    head = data[at:at + HEADER.size]
    size = HEADER.size + HEADER.unpack(head)[2]
    n = min(most, (len(data) - at) // size)
    piece = data[at:at + n * size]
    alike = n > 1 and all(piece[k::size] == head[k:k + 1] * n for k in range(HEADER.size))
    return n if alike else 1


def packets(path):
    """(offset, type, length of the body, how many of them) of the packets of a stream."""
    at = 0
    with open(path, 'rb') as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
        while at < len(data):
            if len(data) - at < HEADER.size:
                raise measure.Failed('the stream is cut off at %d' % at)
            kind, _, length = HEADER.unpack_from(data, at)
            if at == 0 and kind != INFO:
                raise measure.Failed('not a stream')
            n = same(data, at, 10000) if kind == MEM else 1
            yield at, kind, length, n
            at += n * (HEADER.size + length)
        if at != len(data):
            raise measure.Failed('the stream is cut off')


def entries(path):
    return sum((length - 8) // 20 for _, kind, length, _ in packets(path) if kind == EXEC)


def counted(count):
    return lambda path: {'records': count(path), 'bytes': os.path.getsize(path)}


def accesses(path):
    return sum(n for _, kind, _, n in packets(path) if kind == MEM)


def events(path):
    return sum(1 for _ in packets(path)) - 2


# ---- recording --------------------------------------------------------------------------------------

RECORDING = recording.table([
    recording.row('etrace-exec', 'Linux boots to a shell script; the code that ran', 'machine',
                  'aarch64', linux(BUSY), 'etrace', ('flags=exec',), counted(entries), most=2.0,
                  most_v1=2.0, expect=b'GUEST ENDS'),
    recording.row('etrace-coverage', 'the same; how often each block ran', 'machine', 'aarch64',
                  linux(BUSY), 'etrace', ('flags=coverage',), counted(events), most=1.1,
                  most_v1=1.1, expect=b'GUEST ENDS'),
], 'entries')

# Nearly all that it does is counted, and nearly nothing recorded.
UNREPORTED = recording.table([
    recording.row('etrace-unreported', 'dc zva, 30 million times; each is counted, as QEMU does not report it', 'user', 'aarch64',
                  program_aarch64('zero.c', '30000000'), 'etrace', ('flags=mem',), counted(accesses), most=1.5,
                  most_v1=1.5),
], 'accesses', 'Accesses that are counted')

COUNTING = Table(
    [recording.row('etrace-counting', '`etrace-coverage`, both runs at once', 'machine', 'aarch64',
                   linux(BUSY), 'etrace', ('flags=coverage',), counted(events), most=1.1, most_v1=1.1,
                   at_once=True)],
    recording.LABEL_COLUMNS,
    [Column('bare, CPU s', 11), Column('recorded, CPU s', 15), Column('ratio', 6),
     Column('standard error', 14), Column('wanted', 6)],
    recording.labels,
    lambda r: ['%.3f' % r['bare'], '%.3f' % r['recorded'], '%.3f' % r['ratio'],
               '%.3f' % r['error'], wanted(r['ratio'], most=r['wanted'])])


def memory_cases(bench):
    for labels, take in recording.row('', '', 'machine', 'aarch64',
                                      bare_machine('aarch64', 'SORT', 200000), 'etrace',
                                      ('flags=mem',), counted(accesses)).cases(bench):
        yield {**labels, 'wanted': 10}, take


MEMORY = Table(
    [Row('etrace-mem', 'quicksort with a callback; every access', memory_cases)],
    recording.LABEL_COLUMNS,
    [Column('bare s', 7), Column('recorded s', 10), Column('accesses', 12), Column('MB', 7),
     Column('M accesses/s', 12), Column('wanted', 6)],
    recording.labels,
    lambda r: ['%.3f' % r['bare'], '%.3f' % r['recorded'], '{:,}'.format(r['records']),
               '%.1f' % (r['bytes'] / 1e6), '%.1f' % (r['records'] / r['recorded'] / 1e6),
               wanted(r['records'] / r['recorded'] / 1e6, least=r['wanted'], form='%.0f')])


# ---- reading ----------------------------------------------------------------------------------------

def boot_stream(bench):
    """A Linux boot without the busy part, whose kernel runs where it is linked: (path, ELF)."""
    def record():
        elf = kernelelf.make(bench)
        path = bench.scratch('boot.etrace')
        command = linux('true')(bench.context, bench.qemus('machine', 'aarch64')[0])
        command[command.index('-append') + 1] += ' nokaslr'
        measure.run(workloads.with_plugin(command, bench.plugin('etrace', 'output=' + path,
                                                                'flags=exec')), bench.folder)
        return path, elf
    return bench.once('boot.etrace', record)


def beginning(bench, path, part):
    """The packets in a part of it, as a file of its own."""
    out, limit = bench.scratch('part.etrace'), os.path.getsize(path) // part
    end = next(at for at, *_ in packets(path) if at >= limit)
    with open(path, 'rb') as f, open(out, 'wb') as to:
        while f.tell() < end:
            to.write(f.read(min(1 << 20, end - f.tell())))
    return out


def rate(bench, path, *pipeline):
    """Entries a second that a pipeline of commands gets through, and guesttrace's peak memory (not
    below what the benchmark itself has: the system counts that in)."""
    found, n = [], entries(path)
    for turn in range(bench.count + 1):
        seconds, peak = measure.pipeline(pipeline, bench.guesttrace)
        if turn:
            found.append((n / seconds / 1e6, peak))
    rates = [r for r, _ in found]
    return {'entries': n, 'rate': stat.median(rates), 'rate_min': min(rates),
            'rate_max': max(rates), 'peak': max(p for _, p in found)}


def dump_cases(named, least):
    def cases(bench):
        path, elf = boot_stream(bench)
        command = [bench.guesttrace, 'dump', *(['-e', elf] if named else []), path]
        yield {'wanted': least}, lambda: rate(bench, path, command, ['cat'])
    return cases


def coverage_cases(bench):
    path, elf = boot_stream(bench)
    command = [bench.guesttrace, 'etrace', 'coverage', '-e', elf, '-']
    for stream in (beginning(bench, path, 10), path):
        yield {'wanted': 20}, lambda stream=stream: rate(bench, stream, ['cat', stream], command)


READING = Table(
    [Row('etrace-dump', 'the boot as text, through a pipe', dump_cases(False, 25)),
     Row('etrace-names', 'the same with the kernel\'s functions', dump_cases(True, 10)),
     Row('etrace-lines', 'coverage of the kernel, from a pipe: of a tenth, of all',
         coverage_cases)],
    [Column('reading', 16), Column('what', 0)],
    [Column('entries', 12), Column('M entries/s', 11), Column('spread', 14), Column('wanted', 6),
     Column('peak memory, MiB', 16)],
    lambda r: ['`%s`' % r['row'], r['words']],
    lambda r: ['{:,}'.format(r['entries']), '%.1f' % r['rate'],
               '%.1f to %.1f' % (r['rate_min'], r['rate_max']),
               wanted(r['rate'], least=r['wanted'], form='%.0f'),
               '%.1f' % (r['peak'] / 2**20) if r['row'] == 'etrace-lines' else ''],
    'Reading')

TABLES = [RECORDING, COUNTING, UNREPORTED, MEMORY, READING]
