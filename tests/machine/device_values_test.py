#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of a machine's calls: that of a pointer reads no device; strings end where memory does, nowhere or too late; code
that changes is what it is at each call; an argument on a stack that is not there is absent.

usage: device_values_test.py ARCH

Before QEMU 9.0 values are refused, strings of machines before 10.0.
"""
import re
import sys

from gttest import boards, paths, qemus
from gttest.commands import printed, run
from gttest.paths import GUESTTRACE
from gttest.recordings import record
from gttest.results import need

AS_POINTERS = ['-A', 'text@arg1/p;object@arg1;on_stack@arg1/d64,arg9/d64', '-R', 'result@retval/p']
SAYS = [b'untouched', b'works', b'changed']
AS_TEXTS = ['--format', 'compact', '-F', '^text$', '-A', '^text$@arg1/s']  # of those after the device's
CODES = {'aarch64': ['" "', '"@"'], 'riscv64': [r'"\x13\x05\x10"', r'"\x13\x05 "']}  # up to their first NUL
ENDS = ['text("plain")', f'text("{"e" * 256}"...)', 'text(<0xfffffffffffffff0>)', 'text(<0x7000000000000000>)']


def build(folder):
    return boards.build(sys.argv[1], 'device_values', folder, [boards.start_code(sys.argv[1]),
                                                               paths.source('machine', 'device_values.c')], '-DSTART_MAIN=begin')


def replay(out):
    return printed([GUESTTRACE, 'replay', '--no-pager', '--flat', out])


def check(version, qemu, folder, guest):
    command = guest.command_on_stdio(qemu)
    need(b'works' in run(command).stdout, 'the device is another one than the test needs')
    if qemus.number(version) < qemus.TELLS_REGISTERS:
        for option in AS_POINTERS[:2], ['-T', 'text@trace-off,if:arg1==1']:
            done = record(f'{folder}/old', ['-q', *option], command, status=125)
            need(b'QEMU 9.0 and later' in done.stderr, done)
        return
    done = record(f'{folder}/{version}', ['-q', '--symbols', guest.elf, *AS_POINTERS], command)
    need(done.stdout.split() == SAYS, 'the value of a pointer reads what it points to:', done)
    stacks = re.findall(r' enter +- (on_stack\(.*\))\n', replay(f'{folder}/{version}'))
    need(stacks == ['on_stack(7, 0)'] * 4, 'arguments on stacks that are not there:', stacks)
    out = f'{folder}/{version}.gtrace'
    record(out, ['-q', '--symbols', guest.elf, *AS_TEXTS], command)
    values = re.findall(r' enter +- (text\(.*\))\n', replay(out))
    first = {'riscv64': 'text(<0x1>)', 'aarch64': 'text("")'}[guest.arch]  # nothing there, and a flash memory
    codes = [f'text({code})' for code in CODES[guest.arch] for _ in range(2)]
    need(values[1:] == [*codes, *ENDS, first], values)


if __name__ == '__main__':
    sys.exit(qemus.on_each(sys.argv[1], 'device-values', build, check))
