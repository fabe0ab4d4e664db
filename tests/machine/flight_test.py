#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine panics (flight.c) while a flight recorder records it: the last calls before are in the snapshot that the
panic makes, in one that is asked for, and in that of repair after a kill of all.

usage: flight_test.py ARCH
"""
import os
import signal
import sys
import time

from gttest import boards, commands, paths, qemus, uftrace
from gttest.commands import SECONDS
from gttest.recordings import export, repair
from gttest.results import need

END = ['+last_step', '+leaf', '-leaf', '+panic']


def build(folder):
    arch = sys.argv[1]
    return boards.build(arch, 'guest', folder, [boards.start_code(arch), paths.source('machine', 'flight.c')],
                        '-DSTART_MAIN=begin')


def start(qemu, guest, out, *options):
    return commands.start([paths.GUESTTRACE, 'record', '-o', out, '--symbols', guest.elf, *options, '--', *guest.command(qemu)])


def wait_for(p, path):
    end = time.monotonic() + SECONDS
    while not os.path.exists(path):
        need(p.poll() is None and time.monotonic() < end, 'no snapshot', path)
        time.sleep(0.01)


def check_calls(out, whole):
    """The functions that are open, some steps, and then the end."""
    export(out, out + '.data')
    trace = uftrace.Trace(out + '.data')
    tid, = trace.tids()
    calls = [('+' if kind == 'enter' else '-') + trace.name(tid, uftrace.LAST, addr)[1]
             for kind, _, _, addr in trace.records(tid)]
    at = max(i for i, call in enumerate(calls) if call == '+panic')
    need(calls[at - 3:at + 1] == END, out, calls[-20:])
    need(calls[0] in ('+_start', '+begin') and len(calls) > 30000, out, len(calls), 'records begin with', calls[:5])
    need(whole == (calls.count('+step') == 150000), out, 'has', calls.count('+step'), 'steps')


def check(version, qemu, folder, guest):
    out = f'{folder}/{version}'
    child = start(qemu, guest, out, '--last', '3ms', '-T', 'panic@snapshot')
    try:
        wait_for(child, out)
        child.send_signal(signal.SIGUSR2)
        wait_for(child, out + '.1')
    finally:
        child.send_signal(signal.SIGTERM)
        done = commands.finish(child)
    need(b'snapshot: ' + out.encode() + b'.1, ' in done.stderr, done)
    for name in out, out + '.1':
        check_calls(name, False)
    child = start(qemu, guest, out + 'k', '--last', '64M', '-T', 'panic@snapshot')
    try:
        wait_for(child, out + 'k')
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        commands.finish(child)
    repair(out + 'k')
    commands.must([paths.GUESTTRACE, 'symbols', '--dir', out + 'k.1', guest.elf])
    check_calls(out + 'k.1', True)


def main():
    return qemus.on_each(sys.argv[1], 'flight', build, check)


if __name__ == '__main__':
    sys.exit(main())
