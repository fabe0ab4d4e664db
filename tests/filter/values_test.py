#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of calls under filters: recorded with random sets of options is recorded whole and filtered by the reader, byte
for byte, arguments and return values included.

usage: values_test.py

Needs a user-mode QEMU 9.0 or later that loads plugins (scripts/qemus user). SETS in the environment is how many, SEED the
first.
"""
import os
import re
import sys

from gttest import paths, qemus
from gttest.compilers import compile_to
from gttest.recordings import record
from gttest.results import Tally, in_folder, need
from record_test import DURATION, FUNCTIONS, Options, compare, flat

SETS = 40
VALUES = ['-A', 'fib@arg1/d32;spin@arg1/d32;tail_.*@arg1/d32;in_handler@arg1/d32;do_all@arg1/d32,arg2/s',
          '-A', 'jump_out@arg1/u32;raise@arg1/d32;main@arg1/d32', '-R', 'fib@retval/d32;raise@retval/d32',
          '-R', 'main@retval/d32;jump_out@retval;tail_two@retval/x32']


def check(folder):
    qemu = qemus.user_with_registers('x86_64')
    tally, first, sets = Tally(), int(os.environ.get('SEED', '1')), int(os.environ.get('SETS', SETS))
    program = compile_to(f'{folder}/ways', 'x86_64', paths.source('filter', 'ways.c'), '-O1', '-static', '-DSTATIC')
    for number, suffix in enumerate(('.data', '.gtrace')):
        whole = f'{folder}/whole{suffix}'
        record(whole, ['-q', '--depth', '100000', *VALUES], [qemu, program])
        shown = flat(whole)
        times = sorted({int(t) for t in DURATION.findall(shown)})
        need(re.search(r'fib\(4\)', shown) and re.search(r'jump_out\(2\)', shown), 'the recording has no values')
        for i in range(sets // 2):
            options = Options(FUNCTIONS, times, first + 2 * i + number)
            tally.run(f'set {first + 2 * i + number}', compare, folder, whole, [qemu, program], options, VALUES, suffix)
    print(f'{tally.good} sets record what they show')
    return tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('filter-values', check))
