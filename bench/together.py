#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares plugins where a tenth is too coarse: a row's workload without a plugin and with each, all
at once, several times over, on one CPU. A machine's bad minutes hit all of them alike. Reports
the processor time of each, of all its threads, by that without a plugin: mean, and its standard error.

    bench/together.py [--build DIR] [--qemu SERIES] [--rounds N] ROW PLUGIN[,ARGUMENT]...
"""
import argparse
import os
import statistics
import sys

import measure
import table
import workloads
from bench import Bench, all_rows


class Together(Bench):
    """Takes a row's workload, and other plugins than the row's."""

    def plugin(self, name, *arguments):
        """The row's tool, and its arguments, which only other builds of it get."""
        return name, [a for a in arguments if a and not a.startswith(('out=', 'output='))]

    def pairs(self, command, plugin, statistics_of, since=None, expect=None):
        data = [self.scratch('data-%d' % i) for i in range(len(self.args.plugins))]
        commands = [[w for w in command if w != '@']]
        tool, arguments = plugin
        for chosen, path in zip(self.args.plugins, data):
            file, *words = chosen.split(',')
            own = arguments if os.path.basename(file) == 'lib%s.so' % tool else []
            words = [file, 'output=' + path, *own, *words]
            commands.append(workloads.with_plugin(command, ','.join(words)))
        rounds = []
        for _ in range(self.args.rounds):
            for path in data:
                measure.remove(path)
            rounds.append(measure.at_once(commands))
        return rounds


def report(what, shares, bare):
    print('%-50s %.3f +- %.3f' % (what, statistics.mean(shares) / bare,
                                  measure.standard_error(shares) / bare), flush=True)


def report_rounds(what, rounds, plugins):
    # Of all that a round took: what slows a round down is not seen.
    shares = list(zip(*([s / statistics.mean(r) for s in r] for r in rounds)))
    print('%s, %d rounds' % (what, len(rounds)))
    for plugin, share in zip(['without', *plugins], shares):
        report(plugin, share, statistics.mean(shares[0]))


def main():
    p = argparse.ArgumentParser(prog='bench/together.py', description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('row', metavar='ROW')
    p.add_argument('plugins', nargs='+', metavar='PLUGIN[,ARGUMENT]')
    p.add_argument('--build', default='build', metavar='DIR', help='build folder')
    p.add_argument('--qemu', action='append', metavar='SERIES', help='only this one')
    p.add_argument('--rounds', type=int, default=6, metavar='N', help='default 6')
    p.set_defaults(quick=True, pairs=1, dir=None, realtime=False, plugin=None, arguments='', sync=False)
    args = p.parse_args()
    rows = [r for _, r in all_rows() if r.name == args.row]
    if not rows:
        p.error('no row %s: see bench/run --list' % args.row)
    bench = Together(args)
    try:
        for labels, take in rows[0].cases(bench):
            report_rounds('%s, QEMU %s' % (args.row, labels['qemu']), take(), args.plugins)
    except (table.Missing, measure.Failed) as e:
        sys.exit('%s: %s' % (args.row, e))
    finally:
        bench.clean()


if __name__ == '__main__':
    sys.exit(main())
