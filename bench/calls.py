# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast recordings of calls are read: guesttrace of a compact file and of uftrace's directory, next to
uftrace of the directory, in turn."""
import os
import random
import shutil
import statistics as stat
import subprocess
import sys

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


TURNS = 22  # of guests/work.sh: 3.7x10^8 calls


def guest(bench):
    """A Linux guest that runs Lua, git and SQLite, in a compact file. It is recorded in some minutes."""
    def record():
        if bench.args.quick:
            raise Missing('a recording of 3.7x10^8 calls is made without --quick')
        path, qemu = bench.scratch('guest.gtrace'), bench.qemus('machine', 'aarch64')[0]
        command = linux(workloads.RUN_PROGRAMS % TURNS, workloads.PROGRAM_FOLDERS, workloads.program_files,
                        ('-m', '512'))(bench.context, qemu)
        measure.run([bench.guesttrace, 'record', '-q', '--clock', 'insn', '-o', path, '--sysroot',
                     workloads.linux_files(workloads.PROGRAMS), '--', *(word for word in command if word != '@')],
                    bench.folder, seconds=10 * measure.SECONDS)
        return path
    return bench.once('guest of calls', record)


def in_turn(bench, commands):
    """Median seconds of each command, and the peak memory of those that are guesttrace's."""
    seconds, peaks = [[] for _ in commands], []
    for turn in range(bench.count + 1):
        for times, command in zip(seconds, commands):
            taken, peak = measure.pipeline([command], bench.guesttrace, bench.realtime)
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
     Row('graph', 'its tree of calls', reading(['graph'], ['graph'], 20)),
     Row('replay', 'its calls in order of time', reading(['replay'], ['replay'], 5, 3))],
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


# ---- exports ----------------------------------------------------------------------------------------

def exporting(form, least, most):
    """The cases of a row: M records a second, and bytes a call, that are wanted."""
    def measured(bench):
        _, compact, records = boot(bench)
        out = bench.scratch('exported')
        (seconds,), peak = in_turn(bench, [[bench.guesttrace, 'export', '--format', form, '-o', out, compact]])
        return {'records': records, 'rate': records / seconds / 1e6, 'bytes': os.path.getsize(out),
                'call': os.path.getsize(out) / (records / 2), 'peak': peak}
    return lambda bench: [({'least': least, 'most': most}, lambda: measured(bench))]


EXPORTING = Table(
    [Row('export-perfetto', 'each call of the boot, for Perfetto', exporting('perfetto', 20, 30)),
     Row('export-chrome', 'the same as JSON', exporting('chrome', None, None))],
    [Column('export', 16), Column('what', 0)],
    [Column('records', 12), Column('MB', 7), Column('M records/s', 11), Column('wanted', 6),
     Column('bytes a call', 12), Column('wanted', 6), Column('peak memory, MiB', 16)],
    lambda r: ['`%s`' % r['row'], r['words']],
    lambda r: ['{:,}'.format(r['records']), '%.0f' % (r['bytes'] / 1e6), '%.1f' % r['rate'],
               wanted(r['rate'], least=r['least'], form='%.0f'), '%.1f' % r['call'],
               wanted(r['call'], most=r['most'], form='%.0f'), '%.0f' % (r['peak'] / 2**20)],
    'Exports of each call')


# ---- anywhere in a long recording --------------------------------------------------------------------

LONG = 10**10
FUNCTIONS, PATTERN = 200, 100000  # records of a task
TASKS = [1, 2, 3, 4]


def tree(uftrace, uftrace_write, tid):
    """Calls of a task: each function always calls the same ones. Bytes, not lists: the system counts the benchmark's
    memory as that of what it starts."""
    out, time = bytearray(), 1000 + tid

    def call(f, depth):
        nonlocal time
        time += 3 + f % 7
        out.extend(uftrace_write.record(time, uftrace.ENTRY, depth, 0x1000 + 16 * f))
        for child in (2 * f + 1, 2 * f + 2, 2 * f + 1):
            if child < FUNCTIONS:
                call(child, depth + 1)
        time += 2 + f % 5
        out.extend(uftrace_write.record(time, uftrace.EXIT, depth, 0x1000 + 16 * f))
    while len(out) < PATTERN * uftrace.SIZE:
        call(0, 0)
    return bytes(out)


def repeated(bench, records):
    """A compact file of so many records, made by repeating, how many they are exactly, and how long it is in ns."""
    def make():
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'lib'))
        from gttest import uftrace, uftrace_write  # pylint: disable=import-outside-toplevel
        directory, path = bench.scratch('pattern'), bench.scratch('repeated-%d.gtrace' % records)
        measure.remove(directory)
        tids = TASKS + [1000 + tid for tid in TASKS]
        uftrace_write.directory(directory, {tid: b'' for tid in tids},
                                {0x1000 + 16 * f: 'function%d' % f for f in range(FUNCTIONS)})
        for tid in tids:
            os.unlink(os.path.join(directory, '%d.dat' % tid))
        for tid in TASKS:
            with open(os.path.join(directory, '%d.dat' % tid), 'wb') as f:
                f.write(tree(uftrace, uftrace_write, tid))
        maker = os.path.join(bench.build, 'bench', 'repeat_calls')
        made = subprocess.run([maker, directory, path, str(records)], check=True, stdout=subprocess.PIPE).stdout.split()
        return path, int(made[0]), int(made[1])
    return bench.once('repeated %d times' % records, make)


def long_recording(bench):
    if bench.args.quick:
        raise Missing('a recording of 10^10 records is made without --quick')
    return repeated(bench, LONG)


def anywhere(bench):
    path, records, span = long_recording(bench)
    seconds, peaks, number = [], [], random.Random(1)
    for turn in range(4 * bench.count + 1):
        command = [bench.guesttrace, 'replay', '--from', '%dns' % number.randrange(span * 99 // 100), path]
        taken, peak = measure.pipeline([command, ['head', '-50']], bench.guesttrace)
        if turn:
            seconds.append(taken)
            peaks.append(peak)
    return {'records': records, 'bytes': os.path.getsize(path), 'ms': stat.median(seconds) * 1000,
            'most_ms': max(seconds) * 1000, 'peak': max(peaks) / 2**20}


ANYWHERE = Table(
    [Row('replay-anywhere', '`replay --from T \\| head -50`, T anywhere in it',
         lambda bench: [({}, lambda: anywhere(bench))])],
    [Column('reading', 16), Column('what', 0)],
    [Column('records', 14), Column('MB', 7), Column('ms', 6), Column('the longest', 11), Column('wanted', 6),
     Column('peak memory, MiB', 16), Column('wanted', 6)],
    lambda r: ['`%s`' % r['row'], r['words']],
    lambda r: ['{:,}'.format(r['records']), '%.0f' % (r['bytes'] / 1e6), '%.0f' % r['ms'], '%.0f' % r['most_ms'],
               wanted(r['ms'], most=50, form='%.0f'), '%.0f' % r['peak'], wanted(r['peak'], most=64, form='%.0f')],
    'Anywhere in a long recording, made by repeating')

TABLES = [READING, EXPORTING, ANYWHERE]
