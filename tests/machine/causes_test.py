#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Triggers that lines of a machine's console and events of its QEMU set off, in both formats; what a flight recorder
makes of resets (causes.c).

usage: causes_test.py ARCH
"""
import glob
import os
import re
import sys

from gttest import boards, commands, paths, qemus
from gttest.commands import printed
from gttest.recordings import record_until
from gttest.results import need, read_text

LINES = ['[    0.1] Oops: red'] * 6 + ['Kernel panic - not syncing: @home']
MARKS = ['second', 'second', 'end']


def build(folder):
    arch = sys.argv[1]
    return [boards.build(arch, name, folder, [boards.start_code(arch), paths.source('machine', 'causes.c')],
                         '-DSTART_MAIN=begin', f'-DRESETS={resets}') for name, resets in (('goes_on', 0), ('resets', 1))]


def command(qemu, guest, *more):
    """With its console on standard output; it may reset."""
    words = [w for w in guest.words(guest.arguments) if w != '-no-reboot']
    return [qemu, '-display', 'none', '-monitor', 'none', '-serial', 'stdio', '-m', '64', *words, *more]


def until(is_true, qemu, guest, out, *options):
    """Records until then, and ends QEMU."""
    done = record_until(is_true, out, ['--symbols', guest.elf, *options], command(qemu, guest))
    need(not glob.glob(out + '*/.guesttrace.fifo'), 'the FIFO is left', out)
    return done


def marks_in(text):
    return [word for line in text.splitlines() for word in ('second', 'end', 'never', 'reset') if line.endswith((f' {word}', f' {word} */'))]


def entries(out, name):
    """How many calls of the function the recording has."""
    return len(re.findall(rf'(?m) enter +- {name}$', printed([paths.GUESTTRACE, 'replay', '--no-pager', '--flat', out])))


def check_console(version, qemu, folder, guest):
    """Which lines fit, how often a trigger fires; after the last one nothing is recorded."""
    out = f'{folder}/{version}'
    triggers = ['-T', 'console:^.{5}0[.]1. Oops: red$@mark=second,after=1,every=2,count=2', '-T', r'console:panic.*\@home@mark=end,finish',
                '-T', 'console:\033@mark=never']
    path = f'{out}/extern.dat'
    until(lambda: os.path.exists(path) and marks_in(read_text(path)) == MARKS, qemu, guest, out, *triggers)
    need(marks_in(read_text(path)) == MARKS, read_text(path))
    shown = printed([paths.GUESTTRACE, 'replay', '--no-pager', out])
    need(marks_in(shown) == MARKS and all(line in shown for line in LINES), shown[-2000:])


def check_snapshot(version, qemu, folder, guest):
    """Without an action: a snapshot, of a compact recording."""
    out = f'{folder}/{version}s'
    until(lambda: os.path.exists(out), qemu, guest, out, '--last', '64M', '-T', 'console:Kernel panic')
    need(entries(out, 'print') == 7 and entries(out, 'panic') == 1, out, entries(out, 'print'))


def check_reset(version, qemu, folder, guest):
    """A flight recorder makes a snapshot; a trigger of QEMU's events fires as often as it may."""
    out = f'{folder}/{version}r'
    done = until(lambda: os.path.exists(out + '.1'), qemu, guest, out, '--last', '64M', '-T', 'qmp:^RESET$@mark=reset,count=2')
    need(b'snapshot: ' in done.stderr, done.stderr)
    need(entries(out, 'panic') >= 1, out)
    last = max(glob.glob(out + '*'), key=lambda name: int(name[len(out) + 1:] or 0))
    need(marks_in(printed([paths.GUESTTRACE, 'replay', '--no-pager', last])) == ['reset'] * 2, last)


def check_no_reboot(version, qemu, folder, guest):
    """A reset that ends QEMU is its end: one snapshot, up to the reset."""
    out = f'{folder}/{version}n'
    commands.must([paths.GUESTTRACE, 'record', '-q', '-o', out, '--symbols', guest.elf, '--last', '64M', '--', *command(qemu, guest, '-no-reboot')])
    need(not os.path.exists(out + '.1'), 'a second snapshot')
    need(entries(out, 'panic') == 1 and entries(out, 'work') == 1007, out, entries(out, 'work'))


def check(version, qemu, folder, guests):
    goes_on, resets = guests
    check_console(version, qemu, folder, goes_on)
    check_snapshot(version, qemu, folder, goes_on)
    check_reset(version, qemu, folder, resets)
    check_no_reboot(version, qemu, folder, resets)


def main():
    return qemus.on_each(sys.argv[1], 'causes', build, check)


if __name__ == '__main__':
    sys.exit(main())
