#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace top, from the first instruction of a Linux on to its power-off: functions have names while it boots, and at the end the
calls are those of report. Code that has run at two places has the file's names at one of them until the end.

usage: top_test.py ARCH SERIES VCPUS
"""
import collections
import json
import sys

from gttest import boots, commands, qemus, sockets
from gttest.paths import GUESTTRACE
from gttest.results import equal, in_folder, need, read_text

NAMED = 0.999  # of all calls


def calls_of(rows, key):
    calls = collections.Counter()
    for row in rows:  # an address without a symbol may have one of that name
        name = row['function']
        calls[f'0x{name[1:-1]}' if name.startswith('<') else name] += row[key]
    return calls


def check(arch, series, vcpus, folder):
    out, control = f'{folder}/out', f'{folder}/control'
    line = boots.command(arch, qemus.of_series(arch, series), folder, options=['-smp', vcpus])
    child = commands.start([GUESTTRACE, 'record', '-o', out, '--control', control, '--', *line])
    sockets.connected(control, child).close()
    with open(f'{folder}/tables', 'wb') as tables:
        top = commands.start([GUESTTRACE, 'top', '--json', '--since', 'begin', '-s', 'all-calls', '-d', '0.5', control], stdout=tables)
    done = commands.finish(child, timeout=500)
    need(done.returncode == 0 and b'GUEST ENDS' in done.stdout, done)
    ended = commands.finish(top)
    need(ended.returncode == 0 and not ended.stderr, ended.stderr)
    tables = [json.loads(table) for table in read_text(f'{folder}/tables').splitlines()]
    named = [table for table in tables if table['state'] == 'on' and calls_of(table['rows'], 'all_calls')['schedule']]
    need(named, 'no table had the kernel\'s names while it ran:', len(tables))
    got = calls_of(tables[-1]['rows'], 'all_calls')
    want = calls_of(json.loads(commands.printed([GUESTTRACE, 'report', '--json', out]))['rows'], 'calls')
    equal(sum(got.values()), sum(want.values()), 'calls')
    same = sum((got & want).values())
    need(same > NAMED * sum(want.values()), same, 'of', sum(want.values()), 'calls have the names of report:', (got - want).most_common(20))
    print(f'good: {same} of {sum(want.values())} calls, names in {len(named)} of {len(tables)} tables')


def main():
    arch, series, vcpus = sys.argv[1:]
    return in_folder(f'top-{arch}', lambda folder: check(arch, series, vcpus, folder))


if __name__ == '__main__':
    sys.exit(main())
