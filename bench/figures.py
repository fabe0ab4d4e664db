#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the figures of `bench/run --json FILE` into docs/performance.md.

    bench/figures.py FILE [DOCUMENT]

What lies between the lines `<!-- figures -->` and `<!-- end of figures -->` is replaced.
"""
import json
import os
import sys

BEGIN, END = '<!-- figures -->\n', '<!-- end of figures -->\n'
DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'docs', 'performance.md')


def row(*cells):
    return '| ' + ' | '.join(cells) + ' |\n'


def head(*cells):
    return row(*cells) + '|' + '|'.join('---:' if c[0] == '>' else '---' for c in cells) + '|\n'


def table(*cells):
    return head(*cells).replace('| >', '| ')


def machine(found):
    m = found['machine']
    return ('%s, %d CPUs, %.0f GiB, Linux %s, recordings on %s; load average %.1f at the start; %s; '
            'medians of %d pairs%s.\n\n' % (
                m['cpu'], m['cpus'], m['memory'] / 2**30, m['kernel'], m['file_system'], m['load'],
                m['date'], found['pairs'],
                ', at real-time priority (`--realtime`)' if found['realtime'] else ''))


def workloads(found):
    out = table('workload', 'what', 'guest', 'QEMU', '>bare s', '>recorded s', '>ratio', '>spread',
                '>wanted', '>processor time', '>records', '>MB')
    for r in found['workloads']:
        name = ['`%s`' % r['workload'], r['words'], r['arch'], r['qemu']]
        if 'ratio' not in r:
            out += row(*name, 'not measured: ' + (r.get('skipped') or r['failed']),
                       '', '', '', '', '', '', '')
            continue
        wanted = ''
        if r['wanted']:
            wanted = '%.2f' % r['wanted'] + ('' if r['ratio'] <= r['wanted'] else ' **missed**')
        out += row(*name, '%.3f' % r['bare'], '%.3f' % r['recorded'], '%.2f' % r['ratio'],
                   '%.2f to %.2f' % (r['ratio_min'], r['ratio_max']), wanted,
                   '%.2f' % r['cpu_ratio'], '{:,}'.format(r['records']),
                   '%.1f' % (r['bytes'] / 1e6))
    return out


def compared(found):
    out = '\n' + table('program', 'tool', '>seconds')
    for r in found['compare']:
        out += row(r['program'], r['tool'],
                   'not measured: ' + r['skipped'] if r['skipped'] else '%.3f' % r['seconds'])
    return out


def names(found):
    out = '\n' + table('kernel', '>functions named', '>seconds')
    for r in found['names']:
        out += row(r['what'], '{:,}'.format(r['functions']), '%.3f' % r['seconds'])
    return out


def memory(found):
    out = '\n' + table('threads that live at once', '>resident memory added, MiB',
                       '>of it private', '>pool file, MiB')
    for threads, m in found['memory'].items():
        out += row(threads, *('%.1f' % (m[k] / 2**20)
                              for k in ('added_rss', 'added_private', 'pool_file')))
    return out


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1]) as f:
        found = json.load(f)
    path = sys.argv[2] if len(sys.argv) == 3 else DOCUMENT
    with open(path) as f:
        before, _, rest = f.read().partition(BEGIN)
    _, _, after = rest.partition(END)
    figures = machine(found) + workloads(found)
    if 'compare' in found:
        figures += compared(found)
    if found.get('names'):
        figures += names(found)
    if 'added_rss' in str(found.get('memory')):
        figures += memory(found)
    with open(path, 'w') as f:
        f.write(before + BEGIN + '\n' + figures + '\n' + END + after)


if __name__ == '__main__':
    main()
