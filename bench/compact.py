# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast a compact file's records are packed and unpacked, of real recordings."""
import os
import subprocess

import measure
from table import Column, Missing, Row, Table, wanted
from workloads import BUSY, RUN_LUA, linux, lua_files, with_plugin

RECORDINGS = {
    # what runs, the recorder's clock, what compact_bench calls its times
    'boot': (linux(BUSY), 'insn', 'exact'),
    'lua': (linux(RUN_LUA, ('lua', 'lua/bin', 'lua/lib'), lua_files), 'insn', 'exact'),
    'smp': (linux(BUSY, options=('-smp', '4')), 'host', 'timed'),
}


def figures(bench, name):
    """compact_bench's, of a recording that is made once for all rows."""
    def make():
        program = os.path.join(bench.build, 'bench', 'compact_bench')
        if not os.path.exists(program):
            raise Missing('%s is not built' % program)
        command, clock, times = RECORDINGS[name]
        plugin = bench.plugin('uftrace', 'output=' + bench.data, 'summary=off', 'clock=' + clock)
        qemu = bench.qemus('machine', 'aarch64')[-1]
        measure.run(with_plugin(command(bench.context, qemu), plugin), bench.folder)
        done = subprocess.run([program, bench.data, times, str(bench.count)], capture_output=True,
                              text=True, timeout=600)
        measure.remove(bench.data)
        if done.returncode != 0:
            raise measure.Failed(done.stderr.strip())
        words = done.stdout.split()
        return dict(zip(words[::2], map(float, words[1::2])))
    return bench.once('compact-' + name, make)


def rate(found, direction):
    return {**found, 'rate': found[direction]}


def row(direction, words, least):
    """compact_bench's name for it; of steps of a host's clock no rate is wanted."""
    def cases(bench):
        for name, (_, clock, _) in RECORDINGS.items():
            labels = {'recording': name, 'clock': clock,
                      'wanted': least if clock == 'insn' else None}
            yield labels, lambda name=name: rate(figures(bench, name), direction)
    return Row('compact-' + direction, words, cases)


TABLE = Table(
    [row('pack', 'packing records of compact files, a thread', 100),
     row('unpack', 'unpacking them, a thread', 150),
     row('unpack2', 'unpacking them, two threads', 250)],
    [Column('codec', 16), Column('recording', 9), Column('clock', 5)],
    [Column('records', 11), Column('MB', 6), Column('bytes a record', 14),
     Column('M records/s', 11), Column('wanted', 6)],
    lambda r: ['`%s`' % r['row'], r.get('recording', ''), r.get('clock', '')],
    lambda r: ['{:,.0f}'.format(r['records']), '%.2f' % (r['bytes'] / 1e6), '%.3f' % r['each'],
               '%.0f' % r['rate'], wanted(r['rate'], least=r['wanted'], form='%.0f')],
    'Packing and unpacking records')
