#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A program forks from different depths of calls before its children have begun: each child begins with
the calls that its own maker was in, so that all its returns match.

usage: forks_test.py ARCH SERIES
"""
import sys

import boots
from boots import need

ROUNDS, CHILDREN = 25, 4


def check(arch, series, folder):
    out = f'{folder}/data'
    program = {'forks': boots.program(arch, folder, 'forks')}
    line = boots.command(arch, boots.qemu(arch, series), folder, f'/forks {ROUNDS}',
                         more=((), program))
    console = boots.record(out, line)
    need(f'FORKS {ROUNDS * CHILDREN}' in console, 'the guest says', console[-2000:])
    boots.check_returns(arch, boots.Boot(out).stats)
    print('good')


def main():
    arch, series = sys.argv[1:]
    return boots.main(f'forks-{arch}', lambda folder: check(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
