#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the figures of `bench/run --json FILE` into docs/performance.md.

    bench/figures.py FILE... [--document DOCUMENT]

What lies between the lines `<!-- figures: TOOL -->` and `<!-- end of figures: TOOL -->` is replaced,
for each tool that the FILEs have rows of; together they must have all of them. Where rows were
measured in several FILEs all of them are shown.
"""
import argparse
import json
import os
import sys

from bench import TOOLS

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'docs', 'performance.md')


def machine(found):
    m = found['machine']
    return ('%s, %d CPUs, %.0f GiB, Linux %s, recordings on %s; load average %.1f at the start; %s; '
            'medians of %d runs of each%s.\n\n' % (
                m['cpu'], m['cpus'], m['memory'] / 2**30, m['kernel'], m['file_system'], m['load'],
                m['date'], found['pairs'],
                ', at real-time priority (`--realtime`)' if found['realtime'] else ''))


def joined(paths):
    """What the files have found, as if it were one: each table's results in the order of its rows."""
    out = None
    for path in paths:
        with open(path) as f:
            found = json.load(f)
        out = out or {**found, 'tools': {}}
        for tool, tables in found['tools'].items():
            so_far = out['tools'].setdefault(tool, [[] for _ in tables])
            for results, more in zip(so_far, tables):
                results += more
    for tool, tables in out['tools'].items():
        for t, results in zip(TOOLS[tool], tables):
            order = [r.name for r in t.rows]
            results.sort(key=lambda r: order.index(r['row']))
        measured = {r['row'] for results in tables for r in results}
        absent = [r.name for t in TOOLS[tool] for r in t.rows if r.name not in measured]
        if absent:
            sys.exit('not measured: %s: bench/run %s' % (', '.join(absent), tool))
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('files', nargs='+', metavar='FILE')
    p.add_argument('--document', default=DOCUMENT)
    args = p.parse_args()
    found = joined(args.files)
    with open(args.document) as f:
        text = f.read()
    for tool, results in found['tools'].items():
        begin, end = ('<!-- %sfigures: %s -->\n' % (w, tool) for w in ('', 'end of '))
        if begin not in text or end not in text:
            sys.exit('%s: no lines %s and %s' % (args.document, begin.strip(), end.strip()))
        before, _, rest = text.partition(begin)
        after = rest.partition(end)[2]
        tables = [t.markdown(r) for t, r in zip(TOOLS[tool], results) if r]
        text = before + begin + '\n' + machine(found) + '\n'.join(tables) + '\n' + end + after
    with open(args.document, 'w') as f:
        f.write(text)


if __name__ == '__main__':
    main()
