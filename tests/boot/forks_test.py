#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A program forks from different depths of calls before its children have begun: each child begins with
the calls that its own maker was in, so that all its returns match. The calls that it leaves by longjmp
end there.

usage: forks_test.py KERNEL SERIES
"""
import sys

from gttest import boots, qemus
from gttest.results import in_folder, need

ROUNDS, CHILDREN = 25, 4


def check(kernel, series, folder):
    out = f'{folder}/data'
    program = {'forks': boots.program(boots.arch_of(kernel), folder, 'forks')}
    line = boots.command(kernel, qemus.of_series(boots.arch_of(kernel), series), folder, f'/forks {ROUNDS}',
                         more=((), program))
    console = boots.record(out, line)
    need(f'FORKS {ROUNDS * CHILDREN}' in console, 'the guest says', console[-2000:])
    stats = boots.Boot(out).stats
    boots.check_returns(boots.arch_of(kernel), stats)
    need(stats['anomaly.missed-return'] == 0, stats['anomaly.missed-return'], 'calls were left open')
    need(stats['count.unwound'] >= ROUNDS, stats['count.unwound'], 'leaps')
    print('good')


def main():
    kernel, series = sys.argv[1:]
    return in_folder(f'forks-{kernel}', lambda folder: check(kernel, series, folder))


if __name__ == '__main__':
    sys.exit(main())
