#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what recording costs: each workload in the same QEMU without the plugin and with it, in
turn, and the medians. docs/performance.md explains the method and has the figures.
"""
import argparse
import json
import os
import platform
import sys
import time

import compare
import measure
import names
import workloads

COLUMNS = ('workload', 'QEMU', 'bare s', 'recorded s', 'ratio', 'least..most', 'cpu', 'wanted',
           'records', 'MB')


def arguments():
    p = argparse.ArgumentParser(prog='bench/run', description=__doc__)
    p.add_argument('names', nargs='*', metavar='NAME',
                   help='workloads, or "compare", "names", "memory"; default: all')
    p.add_argument('--list', action='store_true', help='list the workloads')
    p.add_argument('--build', default='build', metavar='DIR', help='build folder')
    p.add_argument('--plugin', metavar='FILE', help='another libuftrace.so')
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


def table_line(cells):
    widths = (11, 7, 7, 10, 6, 12, 6, 6, 12, 7)
    return ' '.join(c.ljust(w) if i < 2 else c.rjust(w)
                    for i, (c, w) in enumerate(zip(cells, widths)))


def report(row, qemu, numbers, target):
    print(table_line((row.name, qemu.version, '%.3f' % numbers['bare'],
                      '%.3f' % numbers['recorded'], '%.2f' % numbers['ratio'],
                      '%.2f..%.2f' % (numbers['ratio_min'], numbers['ratio_max']),
                      '%.2f' % numbers['cpu_ratio'], '%.2f' % target if target else '-',
                      str(numbers['records']), '%.1f' % (numbers['bytes'] / 1e6))), flush=True)


def measure_workload(row, qemu, context, args, data):
    command = row.command(context, qemu)
    plugin = ','.join(filter(None, (context.plugin, 'output=' + data, 'summary=off', row.arguments,
                                    args.arguments)))
    bare = [w for w in command if w != '@']
    recorded = [x for w in command for x in (['-plugin', plugin] if w == '@' else [w])]
    # More vCPUs than CPUs wait for each other: at a real-time priority for ever.
    realtime = args.realtime and '-smp' not in command
    return measure.pairs(bare, recorded, args.pairs, data, context.folder, realtime,
                         args.sync, row.since, row.expect).numbers()


def run_workloads(rows, context, args, data):
    results = []
    print(table_line(COLUMNS))
    for row in rows:
        chosen = [q for q in workloads.qemus(row.kind, row.arch)
                  if not args.qemu or q.series in args.qemu]
        if not chosen:
            print('%-11s skipped: no %sQEMU that loads plugins for %s' % (
                row.name, 'such ' if args.qemu else '', row.arch))
        for qemu in chosen:
            if row.arguments == workloads.LEVELS and qemu.abi == 1:
                continue
            target = row.target_v1 if qemu.abi == 1 else row.target_new
            result = {'workload': row.name, 'words': row.words, 'arch': row.arch,
                      'qemu': qemu.version, 'wanted': target}
            try:
                result.update(measure_workload(row, qemu, context, args, data))
                report(row, qemu, result, target)
            except workloads.Missing as e:
                print('%-11s %-7s skipped: %s' % (row.name, qemu.version, e), flush=True)
                result['skipped'] = str(e)
            except measure.Failed as e:
                print('%-11s %-7s FAILED: %s' % (row.name, qemu.version, e), flush=True)
                result['failed'] = str(e)
            results.append(result)
    return results


def run_compare(context, args, data):
    print('\nOthers, on the same x86_64 programs, seconds:')
    rows = compare.compare(context, data, args.pairs, args.realtime)
    for program, tool, seconds, reason in rows:
        print('%-18s %-30s %s' % (program, tool,
                                  'skipped: ' + reason if reason else '%.3f' % seconds))
    return [dict(zip(('program', 'tool', 'seconds', 'skipped'), r)) for r in rows]


def run_names(context, args, data):
    print('\nA kernel\'s functions by name, from its image, seconds:')
    guesttrace = os.path.abspath(os.path.join(args.build, 'guesttrace'))
    try:
        rows = names.names(context, guesttrace, data, args.pairs)
    except workloads.Missing as e:
        print('skipped: %s' % e)
        return []
    for what, functions, seconds in rows:
        print('%-18s %8d functions %7.3f' % (what, functions, seconds))
    return [dict(zip(('what', 'functions', 'seconds'), r)) for r in rows]


def run_memory(context, data):
    print('\nMemory that recording adds, MiB (64 wanted for 1000 threads):')
    try:
        found = compare.memory(context, data)
    except workloads.Missing as e:
        print('skipped: %s' % e)
        return {'skipped': str(e)}
    for threads, m in found.items():
        print('%5d threads: resident %6.1f  of it private %6.1f  pool file %5.1f' % (
            threads, m['added_rss'] / 2**20, m['added_private'] / 2**20, m['pool_file'] / 2**20))
    return found


def main():
    args = arguments()
    if args.list:
        for w in workloads.WORKLOADS:
            print('%-11s %-8s %-8s %s' % (w.name, w.kind, w.arch, w.words))
        return 0
    args.pairs = 3 if args.quick else max(1, args.pairs)
    known = [w.name for w in workloads.WORKLOADS] + ['compare', 'names', 'memory']
    for name in args.names:
        if name not in known:
            sys.exit('bench: no workload %s: there are %s' % (name, ', '.join(known)))
    context = workloads.Context(os.path.abspath(args.dir or os.path.join(args.build, 'bench-run')))
    context.plugin = os.path.abspath(args.plugin or
                                     os.path.join(args.build, 'plugins', 'libuftrace.so'))
    if not os.path.exists(context.plugin):
        sys.exit('bench: %s is not built: run make' % context.plugin)
    if ',' in context.folder + context.plugin:
        sys.exit('bench: QEMU takes no comma in a path')
    out = {'machine': machine(context.folder), 'pairs': args.pairs, 'realtime': args.realtime}
    m = out['machine']
    print('%s, %d cpus, %.0f GiB, Linux %s, %s, load %.1f, %s' % (
        m['cpu'], m['cpus'], m['memory'] / 2**30, m['kernel'], m['file_system'], m['load'],
        m['date']))
    print('medians of %d pairs%s; everything is written when a run ends\n' % (
        args.pairs, ', real-time priority' if args.realtime else ''))
    if m['file_system'] in ('tmpfs', 'ramfs'):
        sys.exit('bench: %s is in memory: name a folder on a disk with --dir' % context.folder)
    if args.realtime:
        # So that it takes the times at once; what it starts is not, but for the runs themselves.
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(11))
    data = context.path('data')
    rows = [w for w in workloads.WORKLOADS if not args.names or w.name in args.names]
    out['workloads'] = run_workloads(rows, context, args, data) if rows else []
    if not args.names or 'compare' in args.names:
        out['compare'] = run_compare(context, args, data)
    if not args.names or 'names' in args.names:
        out['names'] = run_names(context, args, data)
    if not args.names or 'memory' in args.names:
        out['memory'] = run_memory(context, data)
    measure.remove(data)
    if args.json:
        with open('/dev/stdout' if args.json == '-' else args.json, 'w') as f:
            json.dump(out, f, indent=1)
            f.write('\n')
    return 1 if any('failed' in r for r in out['workloads']) else 0


if __name__ == '__main__':
    sys.exit(main())
