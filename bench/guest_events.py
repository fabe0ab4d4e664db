# SPDX-License-Identifier: GPL-2.0-or-later
"""What trace events at places in a guest cost: a boot with many that are off, and one that is on.

Processor time of the whole QEMU, its writer thread included."""
import os
import subprocess

from recording import LABEL_COLUMNS, labels
from filters import code_map
from table import Column, Missing, Row, Table, wanted
from workloads import BUSY, linux, linux_files, program

CALLS = 3000000
EVENTS = 1000
TRACE = '/dev/shm/guesttrace-bench.trace'  # no disk slows it down


def statistics_of(_):
    return {'records': 0, 'bytes': 0}


def kernel_events(bench):
    """A file with a thousand of the kernel's functions."""
    path = bench.scratch('kernel.events')
    vmlinuz = os.path.join(linux_files('aarch64'), 'vmlinuz')
    globs = [w for g in ('vfs_*', 'do_*', 'ext4_*', 'tcp_*', 'blk_*', 'mm_*', 'page_*', 'sched_*', 'irq_*', 'dev_*')
             for w in ('-e', g)]
    done = subprocess.run([bench.guesttrace, 'events', 'list', *globs, vmlinuz], capture_output=True, text=True)
    lines = done.stdout.splitlines()[:EVENTS]
    if len(lines) < EVENTS:
        raise Missing('guesttrace events list wrote %d lines: %s' % (len(lines), done.stderr[-200:]))
    with open(path, 'w') as f:
        f.write('\n'.join(lines) + '\n')
    return path


def one_event(line):
    def make(bench):
        path = bench.scratch('one.events')
        with open(path, 'w') as f:
            f.write(line + '\n')
        return path
    return make


def row(name, words, kind, arch, command, file, *arguments, most=None, calls=None, most_ns=None):
    """`file(bench)` is the events file; `calls`: how often the event comes, for the nanoseconds of one."""
    def measured(bench, qemu, plugin):
        found = bench.pairs_at_once(command(bench.context, qemu), plugin, statistics_of)
        if calls:
            found['ns'] = (found['recorded'] - found['bare']) / calls * 1e9
        for path in (TRACE, TRACE + '.events'):
            if os.path.exists(path):
                os.unlink(path)
        return found

    def cases(bench):
        plugin = bench.plugin('events', 'guest-events=' + file(bench), 'trace-file=' + TRACE,
                              *(a(bench) if callable(a) else a for a in arguments))
        for qemu in bench.qemus(kind, arch):
            if qemu.abi > 1:
                yield ({'arch': arch, 'qemu': qemu.version, 'wanted': most, 'wanted_ns': most_ns},
                       lambda qemu=qemu: measured(bench, qemu, plugin))
    return Row(name, words, cases)


def floor(name, words):
    """QEMU's part alone: a plugin that does nothing when a block is translated."""
    def measured(bench, qemu):
        plugin = os.path.abspath(os.path.join(bench.build, 'bench', 'libsteps.so')) + ',step=nothing'
        return bench.pairs_at_once(linux(BUSY)(bench.context, qemu), plugin, statistics_of)

    def cases(bench):
        for qemu in bench.qemus('machine', 'aarch64'):
            if qemu.abi > 1:
                yield {'arch': 'aarch64', 'qemu': qemu.version, 'wanted': None, 'wanted_ns': None}, lambda qemu=qemu: measured(bench, qemu)
    return Row(name, words, cases)


def figures(r):
    ns = r.get('ns')
    return ['%.3f' % r['bare'], '%.3f' % r['recorded'], '%.3f' % r['ratio'], '%.3f' % r['error'],
            '%.0f' % ns if ns is not None else '',
            wanted(ns, most=r['wanted_ns'], form='%.0f') if r['wanted_ns'] else wanted(r['ratio'], most=r['wanted'])]


def boot(name, words, *arguments, most=None):
    return row(name, words, 'machine', 'aarch64', linux(BUSY), kernel_events,
               lambda bench: 'code=' + code_map(bench), *arguments, most=most)


def loop(name, words, line, *arguments, **more):
    return row(name, words, 'user', 'x86_64', program('call_loop.c', str(CALLS)), one_event(line), *arguments,
               calls=CALLS, **more)


THREE = 'three(long a, long b, long c) "%ld"'
TABLES = [Table(
    [boot('guest-boot-off', 'a Linux boot, 1,000 events off', 'trace=off', most=1.02),
     floor('guest-boot-floor', 'the same, a plugin that does nothing'),
     boot('guest-boot-on', 'the same, all on'),
     loop('guest-off', 'an event that is off', THREE, 'trace=off'),
     loop('guest-plain', 'on, without arguments', 'at=three plain(void)'),
     loop('guest-three', 'on, three integers', THREE, most_ns=150),
     loop('guest-text', 'on, a string of 32 bytes', 'text(const char *s) "%s"'),
     loop('guest-return', 'on, the result', 'at=three@return done(long ret) "%ld"')],
    LABEL_COLUMNS,
    [Column('bare s', 8), Column('recorded s', 10), Column('ratio', 6), Column('error', 6), Column('ns', 6),
     Column('wanted', 10)], labels, figures, 'Guest events: processor time')]
