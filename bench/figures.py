#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the figures of `bench/run --json FILE` into docs/performance.md.

    bench/figures.py FILE [DOCUMENT]

What lies between the lines `<!-- figures: TOOL -->` and `<!-- end of figures: TOOL -->` is replaced,
for each tool that FILE has rows of; it must have all of them.
"""
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


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1]) as f:
        found = json.load(f)
    path = sys.argv[2] if len(sys.argv) == 3 else DOCUMENT
    with open(path) as f:
        text = f.read()
    for tool, results in found['tools'].items():
        measured = {r['row'] for rs in results for r in rs}
        absent = [r.name for t in TOOLS[tool] for r in t.rows if r.name not in measured]
        if absent:
            sys.exit('%s has not measured %s: bench/run %s' % (sys.argv[1], ', '.join(absent), tool))
        begin, end = ('<!-- %sfigures: %s -->\n' % (w, tool) for w in ('', 'end of '))
        if begin not in text or end not in text:
            sys.exit('%s: no lines %s and %s' % (path, begin.strip(), end.strip()))
        before, _, rest = text.partition(begin)
        after = rest.partition(end)[2]
        tables = [t.markdown(r) for t, r in zip(TOOLS[tool], results) if r]
        text = before + begin + '\n' + machine(found) + '\n'.join(tables) + '\n' + end + after
    with open(path, 'w') as f:
        f.write(text)


if __name__ == '__main__':
    main()
