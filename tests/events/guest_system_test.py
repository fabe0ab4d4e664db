#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Guest events in the kernel's tracefs and in the system's log: the lines that the log backend writes, of a machine's
firmware and of a program.

usage: guest_system_test.py tracefs|syslog"""
import re
import sys

import own_mounts
from guest_events_test import EVENTS, NAMES, build
from gttest import boards, commands, qemus
from gttest.paths import GUESTTRACE
from gttest.results import Skip, need, read_text, same_lines, write

FIRMWARE = r'''
__attribute__((noipa)) int step(int n, const char *name) { return n * 3 - *name; }
void start(void)
{
    for (int i = 0; i < 100; i++)
        step(i, "a\ttext");
}
'''
STEPS = '''step(int n, const char *name) "n=%d name=%s"
vcpu at=step@return done(int ret) "ret=%d"
'''


def machine(folder):
    """A guest on the bare board, which ends."""
    arch = 'aarch64'
    qemu = qemus.machines_from(arch, (10, 0))
    source = write(f'{folder}/guest.c', FIRMWARE)
    guest = boards.build(arch, 'guest', folder, [boards.start_code(arch), source], '-DSTART_MAIN=start')
    write(f'{folder}/events', STEPS)
    return guest.command(qemu), ['--symbols', guest.elf]


def program(folder):
    """Its log is written by the worker, whose descriptors are not the guest's."""
    write(f'{folder}/events', EVENTS)
    return [build(folder, 'aarch64')], ['--qemu', qemus.user_with_registers('aarch64')]


def lines_of(backend, folder, prepare):
    """What the backend log has."""
    command, options = prepare(folder)
    done = commands.run([GUESTTRACE, 'record', '-q', *options, '--guest-events', f'{folder}/events', '-o', f'{folder}/none',
                         '--backends', f'log+{backend}', '--log', f'{folder}/{prepare.__name__}.log', '--', *command])
    need(done.returncode == 0 and not done.stderr, done.args, done.returncode, done.stderr)
    lines = read_text(f'{folder}/{prepare.__name__}.log').splitlines()
    need(len(lines) >= (200 if prepare is machine else len(NAMES)), prepare.__name__, len(lines), 'lines')
    return lines


def each(backend, folder):
    want = lines_of(backend, folder, machine)
    try:
        want += lines_of(backend, folder, program)
    except Skip:
        print('# without a program: no user-mode QEMU from 9.0 on')
    return sorted(want)


def test_tracefs(folder):
    with own_mounts.tracefs(folder) as own:
        want = each('ftrace', folder)
        same_lines(sorted(own_mounts.traced(own)), want, 'the trace and the log')
    for place in re.findall(r'^\S+ (\S+) (?:tracefs|debugfs) ', read_text('/proc/mounts'), re.M)[::-1]:
        commands.must(['umount', '-l', place])
    command, options = machine(folder)
    done = commands.run([GUESTTRACE, 'record', *options, '--guest-events', f'{folder}/events', '--backends', 'ftrace', '-o',
                         f'{folder}/none', '--', *command])
    need(done.returncode and b'argument backends: ftrace: /proc/mounts: no tracefs' in done.stderr, done.stderr)


def test_syslog(folder):
    with own_mounts.log(folder) as messages:
        want = each('syslog', folder)
    found = [re.fullmatch(r'<30>\w{3} [ \d]\d \d\d:\d\d:\d\d qemu-\S+\[\d+\]: (.*)', message) for message in messages]
    need(all(found), messages[:3])
    same_lines(sorted(match[1] for match in found), want, 'the system\'s log and the log')


own_mounts.main({'tracefs': test_tracefs, 'syslog': test_syslog}[sys.argv[1]])
