#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random filters of a program with threads: recorded with them is recorded whole and filtered by the reader, each task
byte for byte.

usage: threads_test.py

SETS in the environment is how many, SEED the first. How sets are made and compared is sets_test.py's.
"""
import os
import shutil
import sys

import sets_test
from gttest import paths
from gttest.results import Tally, in_folder, need

SETS = 72


def check(folder):
    first, count = int(os.environ.get('SEED', '1')), int(os.environ.get('SETS', SETS))
    copies = [shutil.copy(paths.plugin('uftrace'), f'{folder}/{i}.so') for i in range(sets_test.AT_ONCE + 1)]
    program, tally = sets_test.turns(folder), Tally()
    program.learn(copies)
    need({'fib', 'take_turn', 'short_thread', 'in_handler'} <= set(program.functions), program.functions)
    seeds = range(first, first + count)
    for at in range(0, count, sets_test.AT_ONCE):
        sets_test.run_some(program, copies, seeds[at:at + sets_test.AT_ONCE], tally)
    print(f'{tally.good} sets record what they show')
    return tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('filter-threads', check))
