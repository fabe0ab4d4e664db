#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments and return values as the guest prints them itself are what uftrace shows of the recording.

usage: arguments_test.py [ARCH...]

Needs a user-mode QEMU 9.0 or later that loads plugins (scripts/qemus user); older ones refuse the options.
"""
import collections
import json
import os
import re
import sys

import valued_calls
from gttest import packed, paths, qemus
from gttest.commands import printed, run
from gttest.compilers import compile_to
from gttest.results import Tally, folder, need, same

NAMES = ['ten', 'floats', 'text', 'down', 'jumps']
LISTS = ['argument=ten@' + ',,'.join(f'arg{i}/d64' for i in range(1, 11)),
         'argument=floats@' + ',,'.join(f'fparg{i}/64' for i in range(1, 9)),
         'argument=text@arg1/s;down@arg1/d32;jumps@arg1/d32',
         'retval=ten@retval/d64;floats@retval/f64;text@retval/d32;down@retval/d32;jumps@retval/d32']


def test_program(arch, where):
    qemu = qemus.user_with_registers(arch)
    program, out = os.path.join(where, 'values'), os.path.join(where, 'out')
    compile_to(program, arch, paths.source('guest', 'arguments.c'), '-O1', '-static')
    plugin = ','.join([paths.plugin('uftrace'), f'output={out}', *LISTS])
    said = [line for line in printed([qemu, '-plugin', plugin, program]).splitlines() if ' = ' in line]
    check(valued_calls.shown(NAMES, 'uftrace', 'replay', '--no-pager', '-f', 'none', '-d', out,
                               value=valued_calls.number), said)
    plugin = ','.join([paths.plugin('uftrace'), f'output={out}.gtrace', 'format=compact', *LISTS])
    printed([qemu, '-plugin', plugin, program])
    for recording in out, f'{out}.gtrace':
        calls = valued_calls.shown(NAMES, paths.GUESTTRACE, 'replay', '--no-pager', '-f', 'none', recording,
                                   value=valued_calls.number)
        # uftrace has these in the string's quotes, which our readers tell from the guest's own
        check([re.sub(r'"\.\.\.', '..."', re.sub(r'(<0x\w+>)', r'"\1"', c)) for c in calls], said)
    check_exports(out, said)
    rows = json.loads(printed([paths.GUESTTRACE, 'report', '--by', 'down:arg1', '--json', f'{out}.gtrace']))['rows']
    wanted = collections.Counter(re.match(r'down\((.*)\)', line)[1] for line in said if line.startswith('down'))
    need({row['value']: row['calls'] for row in rows} == wanted, rows)


def check_exports(out, said):
    """Both forms have the values, and become each other."""
    packed.check_there_and_back(out, 'down:arg1', 'text:arg1', 'ten:retval')
    printed([paths.GUESTTRACE, 'export', '--format', 'uftrace', '-o', f'{out}.from', f'{out}.gtrace'])
    check(valued_calls.shown(NAMES, 'uftrace', 'replay', '--no-pager', '-f', 'none', '-d', f'{out}.from',
                             value=valued_calls.number), said)


def check(got, said):
    jumps = sorted(c for c in got if c.startswith('jumps'))
    need(jumps == [f'jumps({n}) = ?' for n in range(4)], f'a longjmp gives values: {jumps}')
    calls = [c for c in got if not c.startswith('jumps')]
    same('\n'.join(calls), '\n'.join(said), 'calls that are shown')


def test_old(where):
    """Without registers the plugin says so."""
    qemu = qemus.user_before('aarch64', qemus.TELLS_REGISTERS)
    program = compile_to(os.path.join(where, 'values'), 'aarch64', paths.source('guest', 'arguments.c'), '-static')
    said = run([qemu, '-plugin', f'{paths.plugin("uftrace")},output={where}/old,argument=f@arg1', program])
    need(b'QEMU 9.0 and later' in said.stdout + said.stderr, 'it does not say what is missing')
    need(not os.path.exists(f'{where}/old'), 'it leaves a directory')


def main():
    tally = Tally()
    for arch in sys.argv[1:] or ['x86_64', 'aarch64', 'riscv64']:
        with folder('arguments') as where:
            tally.run(arch, test_program, arch, where)
    with folder('arguments') as where:
        tally.run('a QEMU without registers', test_old, where)
    return tally.status()


if __name__ == '__main__':
    sys.exit(main())
