#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures every speed claim: what recording costs, the same QEMU without the plugin and with it, in
turn; and what reading takes. Figures are medians. docs/performance.md explains the method and has
the figures.
"""
import argparse
import json
import os
import platform
import sys
import time

import calls
import etrace
import events
import execlog
import guest_events
import measure
import simpletrace
import table
import tracetool
import uftrace
import values
import view
import workloads

# A tool is a module with TABLES (table.py), and two lines in docs/performance.md (figures.py).
TOOLS = {'uftrace': uftrace.TABLES, 'values': values.TABLES, 'calls': calls.TABLES, 'view': view.TABLES, 'etrace': etrace.TABLES,
         'execlog': execlog.TABLES, 'tracetool': tracetool.TABLES,
         'events': events.TABLES, 'guest-events': guest_events.TABLES, 'simpletrace': simpletrace.TABLES}


def arguments():
    p = argparse.ArgumentParser(prog='bench/run', description=__doc__)
    p.add_argument('names', nargs='*', metavar='NAME',
                   help='rows, or a tool for all of its rows; default: all')
    p.add_argument('--list', action='store_true', help='list the rows')
    p.add_argument('--build', default='build', metavar='DIR', help='build folder')
    p.add_argument('--plugin', metavar='FILE', help='another plugin')
    p.add_argument('--arguments', default='', metavar='A,B', help='more arguments for the plugin')
    p.add_argument('--dir', metavar='DIR', help='where recordings go; default: BUILD/bench-run')
    p.add_argument('--pairs', type=int, default=5, metavar='N', help='runs of each; default 5')
    p.add_argument('--quick', action='store_true', help='3 runs of each')
    p.add_argument('--qemu', action='append', metavar='SERIES', help='only this one: 7.2, 10.0, ...')
    p.add_argument('--realtime', action='store_true',
                   help='run at a real-time priority, so that other load disturbs less (root)')
    p.add_argument('--sync', action='store_true',
                   help='also measure how long fsync() of the recording takes')
    p.add_argument('--json', metavar='FILE', help='write the figures, "-": to stdout at the end')
    return p.parse_args()


def cpu_model():
    with open('/proc/cpuinfo') as f:
        for line in f:
            key, _, value = line.partition(':')
            if key.strip() in ('model name', 'Model'):
                return value.strip()
    return platform.machine()


def machine(folder):
    return {'cpu': cpu_model(), 'cpus': os.cpu_count(), 'kernel': platform.release().split('-')[0],
            'memory': os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES'),
            'file_system': measure.file_system(folder), 'date': time.strftime('%Y-%m-%d'),
            'load': os.getloadavg()[0]}


class Bench:
    """What the rows need: options, and where to put things."""

    def __init__(self, args):
        self.args, self.count = args, 3 if args.quick else max(1, args.pairs)
        self.build = os.path.abspath(args.build)
        self.guesttrace = measure.guesttrace = os.path.join(self.build, 'guesttrace')
        self.folder = os.path.abspath(args.dir or os.path.join(args.build, 'bench-run'))
        self.context = workloads.Context(self.folder)
        self.data = self.context.path('data')
        self.realtime = args.realtime
        self.made, self.files = {}, [self.data]
        if ',' in self.folder + self.build:
            sys.exit('bench: QEMU takes no comma in a path')
        if not os.path.exists(self.guesttrace):
            sys.exit('bench: %s is not built: run make' % self.guesttrace)

    def scratch(self, name):
        """The path of a file that is deleted at the end."""
        self.files.append(self.context.path(name))
        return self.files[-1]

    def once(self, name, make):
        """What make() gives, which is called once for all rows."""
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def clean(self):
        for path in self.files:
            measure.remove(path)

    def plugin(self, name, *arguments):
        """What stands after -plugin."""
        path = os.path.abspath(self.args.plugin or
                               os.path.join(self.build, 'plugins', 'lib%s.so' % name))
        if not os.path.exists(path):
            raise table.Missing('%s is not built' % path)
        return ','.join(filter(None, (path, *arguments, self.args.arguments)))

    def qemus(self, kind, arch):
        """Those that were chosen; there may be none."""
        found = [q for q in workloads.qemus(kind, arch)
                 if not self.args.qemu or q.series in self.args.qemu]
        if not found:
            raise table.Missing('no %sQEMU that loads plugins for %s' % (
                'such ' if self.args.qemu else '', arch))
        return found

    def pairs(self, command, plugin, statistics, since=None, expect=None):
        """The figures of a workload's command ('@': where the plugin's options go) without the plugin
        and with it. statistics(path) gives at least 'records' and 'bytes' of what was recorded."""
        bare = [w for w in command if w != '@']
        recorded = workloads.with_plugin(command, plugin)
        # More vCPUs than CPUs wait for each other: at a real-time priority for ever.
        realtime = self.realtime and '-smp' not in command
        return measure.pairs(bare, recorded, self.count, self.data, self.folder, statistics,
                             realtime, self.args.sync, since, expect).numbers()

    def pairs_at_once(self, command, plugin, statistics):
        """The same by processor time, of twice as many runs of each, both at once on one CPU: where a
        tenth is too coarse for the clock."""
        bare = [w for w in command if w != '@']
        return measure.pairs_at_once(bare, workloads.with_plugin(command, plugin), 2 * self.count,
                                     self.data, statistics)


def results_of(row, bench):
    """Each result of a row, as soon as it is there."""
    about = {'row': row.name, 'words': row.words}
    try:
        for labels, take in row.cases(bench):
            try:
                found = take()
                for figures in found if isinstance(found, list) else [found]:
                    yield {**about, **labels, **figures}
            except table.Missing as e:
                yield {**about, **labels, 'skipped': str(e)}
            except measure.Failed as e:
                yield {**about, **labels, 'failed': str(e)}
            measure.remove(bench.data)
    except table.Missing as e:
        yield {**about, 'skipped': str(e)}


def run_tables(tables, chosen, bench):
    """A list of results for each table; none where none of its rows is chosen."""
    out = []
    for t in tables:
        rows, results = [r for r in t.rows if chosen(r)], []
        if rows:
            print('\n%s%s' % (t.title + ':\n' if t.title else '', t.head()), flush=True)
        for r in rows:
            for result in results_of(r, bench):
                print(t.line(result), flush=True)
                results.append(result)
        out.append(results)
    return out


def all_rows():
    return [(tool, r) for tool, tables in TOOLS.items() for t in tables for r in t.rows]


def main():
    args = arguments()
    if args.list:
        for tool, r in all_rows():
            print('%-8s %-16s %s' % (tool, r.name, r.words))
        return 0
    known = [*TOOLS, *(r.name for _, r in all_rows())]
    for name in args.names:
        if name not in known:
            sys.exit('bench: no row %s: there are %s' % (name, ', '.join(known)))
    bench = Bench(args)
    out = {'machine': machine(bench.folder), 'pairs': bench.count, 'realtime': args.realtime,
           'tools': {}}
    m = out['machine']
    print('%s, %d cpus, %.0f GiB, Linux %s, %s, load %.1f, %s' % (
        m['cpu'], m['cpus'], m['memory'] / 2**30, m['kernel'], m['file_system'], m['load'],
        m['date']))
    print('medians of %d runs%s; everything is written when a run ends' % (
        bench.count, ', real-time priority' if args.realtime else ''))
    if m['file_system'] in ('tmpfs', 'ramfs'):
        sys.exit('bench: %s is in memory: name a folder on a disk with --dir' % bench.folder)
    if args.realtime:
        # So that it takes the times at once; what it starts is not, but for the runs themselves.
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(11))
    try:
        for tool, tables in TOOLS.items():
            def chosen(r, tool=tool):
                return not args.names or tool in args.names or r.name in args.names
            if any(chosen(r) for t in tables for r in t.rows):
                out['tools'][tool] = run_tables(tables, chosen, bench)
    finally:
        bench.clean()
    if args.json:
        with open('/dev/stdout' if args.json == '-' else args.json, 'w') as f:
            json.dump(out, f, indent=1)
            f.write('\n')
    return any('failed' in r for results in out['tools'].values() for rs in results for r in rs)


if __name__ == '__main__':
    sys.exit(main())
