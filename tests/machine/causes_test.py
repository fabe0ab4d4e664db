#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Triggers that lines of a machine's console and events of its QEMU set off, in both formats; what a flight recorder
makes of resets (causes.c).

usage: causes_test.py ARCH
"""
import glob
import os
import re
import signal
import sys

from gttest import boards, commands, paths, qemus
from gttest.commands import printed
from gttest.recordings import record, record_until
from gttest.results import need, read_text

LINES = ['[    0.1] Oops: red'] * 6 + ['Kernel panic - not syncing: @home']
MARKS = ['second', 'second', 'end']
FLAT = [paths.GUESTTRACE, 'replay', '--no-pager', '--flat']
WORDS = ['second', 'end', 'never', 'reset']

DEVICES = {  # of a PC: what is written where, QEMU's options, the event
    'pvpanic': (0x505, 1, ['-device', 'pvpanic', '-action', 'panic=none'], 'GUEST_PANICKED'),
    'watchdog': (0x443, 15, ['-device', 'ib700', '-action', 'watchdog=none'], 'WATCHDOG'),
}


def build(folder):
    arch = sys.argv[1]
    kinds = {'goes_on': [], 'resets': ['-DRESETS=1']}
    for name, (port, value, *_) in DEVICES.items() if arch == 'x86_64' else ():
        kinds[name] = [f'-DTELLS_PORT={port}', f'-DTELLS_VALUE={value}']
    return {name: boards.build(arch, name, folder, [boards.start_code(arch), paths.source('machine', 'causes.c')],
                               '-DSTART_MAIN=begin', *defines) for name, defines in kinds.items()}


def command(qemu, guest, *more):
    """With its console on standard output; it may reset."""
    words = [w for w in guest.words(guest.arguments) if w != '-no-reboot']
    return [qemu, *qemus.ON_STDIO, '-m', '64', *words, *more]


def until(is_true, qemu, guest, out, *options, more=()):
    """Records until then, and ends QEMU."""
    done = record_until(is_true, out, ['--symbols', guest.elf, *options], command(qemu, guest, *more))
    need(not glob.glob(out + '*/.guesttrace.fifo'), 'the FIFO is left', out)
    return done


def marks_in(text):
    found = [(at.start(), word) for word in WORDS for at in re.finditer(rf'(?m) {word}(?: \*/)?$', text)]
    return [word for _, word in sorted(found)]


def entries(out, name):
    """How many calls of the function the recording has."""
    return len(re.findall(rf'(?m) enter +- {name}$', printed([*FLAT, '-F', f'^{name}$', '-D', '1', out])))


def check_console(version, qemu, folder, guest):
    """Which lines fit, how often a trigger fires; after the last one nothing is recorded."""
    out = f'{folder}/{version}'
    triggers = ['-T', 'console:^.{5}0[.]1. Oops: red$@mark=second,after=1,every=2,count=2', '-T', r'console:panic.*\@home@mark=end,finish',
                '-T', 'console:\033@mark=never', '-T', 'console:of course@mark=never', '-T', 'qmp:NEVER@mark=never']
    path = f'{out}/extern.dat'
    done = until(lambda: os.path.exists(path) and marks_in(read_text(path)) == MARKS, qemu, guest, out, *triggers)
    need(marks_in(read_text(path)) == MARKS, read_text(path))
    unused = re.findall(rb'-T \(trigger=\): (.*?)@mark=\w+ matches no ([\w ]+) that came before the end', done.stderr)
    need(unused[1:] == [(b'console:of course', b'line of the console'), (b'qmp:NEVER', b'event of QEMU')], done.stderr)
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


def check_calls(out, name):
    """The calls of each run end where the machine is reset, as calls that did not return, and all of them begin alike; the last
    one was ended."""
    text = printed([*FLAT, '-F', 'begin|panic', '-D', '2', out])
    lines = re.findall(r'(?m)^ *([\d.]+) +\d+ +(\d+) (enter|leave|open) .* (begin|panic|print)$', text)
    opened = sorted(line for line in lines if line[2] == 'open')
    begins = [i for i, line in enumerate(lines) if line[2:] == ('enter', 'begin')]
    runs = [[line for line in lines[begin:end] if line[2] != 'open'] for begin, end in zip(begins, begins[1:] + [len(lines)])]
    shapes = [[call[1:] for call in run] for run in runs]
    need(len(runs) > 3 and shapes[0] == shapes[1] == shapes[2] and shapes[0][-1][2] != 'begin' and
         not any(shape[0] != ('0', 'enter', 'begin') for shape in shapes), name, shapes[:3])
    need(not any(line[2] == 'leave' and line[3] in ('begin', 'panic') for line in lines), name, 'returns', lines)
    for i, (run, after) in enumerate(zip(runs, runs[1:])):
        ends = opened[2 * i:2 * i + 2]
        need([end[1:] for end in ends] == [('0', 'open', 'begin'), ('1', 'open', 'panic')], name, opened)
        need(run[-1][0] <= ends[0][0] == ends[1][0] < after[0][0], name, ends, run[-1], after[0])


def check_restarts(version, qemu, folder, guest):
    """Over resets, in both formats, with and without filters, and where levels have tasks."""
    levels = [['--privilege-levels']] if qemus.number_of(qemu) >= qemus.TELLS_REGISTERS else []
    for i, options in enumerate([[], ['--format', 'uftrace'], ['-N', 'leaf'], *levels]):
        out = f'{folder}/{version}c{i}'
        done = record(out, ['--symbols', guest.elf, *options], command(qemu, guest), steps=[(b'@home', b'')] * 3 + [(b'@home', signal.SIGTERM)])
        need(b'anomal' not in done.stderr and b'resets: ' in done.stderr, options, done.stderr)
        check_calls(out, options)


def check_device(version, qemu, folder, guest, name):
    """A device tells QEMU of the end: a snapshot, once, while the machine goes on; a trigger hears of it, too."""
    _, _, more, event = DEVICES[name]
    out = f'{folder}/{version}{name}'
    until(lambda: os.path.exists(out) and os.path.exists(f'{out}-own'), qemu, guest, out, '--last', '64M', '-T',
          f'qmp:^{event}$@snapshot={os.path.basename(out)}-own,mark=reset', more=more)
    need(entries(out, 'panic') == 1 and entries(out, 'print') == 7, out, entries(out, 'print'))
    last = out + '.1' if os.path.exists(out + '.1') else out
    need(not os.path.exists(out + '.2') and marks_in(printed([paths.GUESTTRACE, 'replay', '--no-pager', last])) == ['reset'], last)


def check_no_reboot(version, qemu, folder, guest):
    """A reset that ends QEMU is its end: one snapshot, up to the reset."""
    out = f'{folder}/{version}n'
    commands.must([paths.GUESTTRACE, 'record', '-q', '-o', out, '--symbols', guest.elf, '--last', '64M', '--', *command(qemu, guest, '-no-reboot')])
    need(not os.path.exists(out + '.1'), 'a second snapshot')
    need(entries(out, 'panic') == 1 and entries(out, 'work') == 1007, out, entries(out, 'work'))


def check(version, qemu, folder, guests):
    goes_on, resets = guests['goes_on'], guests['resets']
    check_console(version, qemu, folder, goes_on)
    check_snapshot(version, qemu, folder, goes_on)
    check_reset(version, qemu, folder, resets)
    check_restarts(version, qemu, folder, resets)
    check_no_reboot(version, qemu, folder, resets)
    for name in DEVICES:
        if name in guests:
            check_device(version, qemu, folder, guests[name], name)


def main():
    return qemus.on_each(sys.argv[1], 'causes', build, check)


if __name__ == '__main__':
    sys.exit(main())
