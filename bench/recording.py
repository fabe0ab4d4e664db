# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows about what recording a workload costs, of any tool's plugin: recorded by bare time."""
from table import Column, Row, Table, wanted


def row(name, words, kind, arch, command, tool, arguments, statistics, most=None, most_v1=None,
        since_abi=1, expect=None, since=None, at_once=False):
    """`kind`: 'user' or 'machine'; `command`: see workloads.py; lib<tool>.so is loaded with output=FILE
    and the arguments, texts or functions that make one of a Bench. statistics(path) gives at least 'records' and 'bytes' of what was recorded, or
    raises Failed. most, most_v1: the ratio that is wanted with conditional callbacks (QEMU 9.0 and
    later) and without; since_abi 2: cannot do without. expect: what the guest prints when all went
    well (None: the same with and without the plugin); since: what it prints when the time begins;
    at_once: see Bench.pairs_at_once, which takes neither."""
    def cases(bench):
        plugin = bench.plugin(tool, 'output=' + bench.data,
                              *(a(bench) if callable(a) else a for a in arguments))
        for qemu in bench.qemus(kind, arch):
            if qemu.abi < since_abi:
                continue
            labels = {'arch': arch, 'qemu': qemu.version,
                      'wanted': most_v1 if qemu.abi == 1 else most}
            more, pairs = ((), bench.pairs_at_once) if at_once else ((since, expect), bench.pairs)
            yield labels, lambda qemu=qemu, more=more, pairs=pairs: pairs(
                command(bench.context, qemu), plugin, statistics, *more)
    return Row(name, words, cases)


LABEL_COLUMNS = [Column('workload', 16), Column('what', 0), Column('guest', 8), Column('QEMU', 7)]


def labels(r):
    return ['`%s`' % r['row'], r['words'], r.get('arch', ''), r.get('qemu', '')]


def figures(r):
    return ['%.3f' % r['bare'], '%.3f' % r['recorded'], '%.2f' % r['ratio'],
            '%.2f to %.2f' % (r['ratio_min'], r['ratio_max']),
            wanted(r['ratio'], most=r['wanted']), '%.2f' % r['cpu_ratio'],
            '{:,}'.format(r['records']), '%.1f' % (r['bytes'] / 1e6)]


def table(rows, records='records', title=None):
    return Table(rows, LABEL_COLUMNS,
                 [Column('bare s', 7), Column('recorded s', 10), Column('ratio', 6),
                  Column('spread', 12), Column('wanted', 6), Column('processor time', 14),
                  Column(records, 13), Column('MB', 7)], labels, figures, title)
