#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine hangs (hang.c) and is killed: its last calls reach the disk while it hangs.

usage: hang_test.py ARCH
"""
import glob
import os
import signal
import sys
import time

from gttest import boards, commands, elf, paths, qemus, uftrace
from gttest.commands import SECONDS
from gttest.recordings import record_files, repair
from gttest.results import need

CALLS = 20
RECORDS = 2 * CALLS + 2  # begin and hang are entered


def build(folder):
    arch = sys.argv[1]
    return boards.build(arch, 'guest', folder, [boards.start_code(arch), paths.source('machine', 'hang.c')],
                        '-DSTART_MAIN=begin')


def wait_for_records(p, out):
    end = time.monotonic() + SECONDS
    while sum(os.path.getsize(f) for f in glob.glob(f'{out}/[0-9]*.dat')) < 16 * RECORDS:
        need(p.poll() is None, 'QEMU ends:', p.returncode)
        need(time.monotonic() < end, 'the last calls do not reach the disk')
        time.sleep(0.01)


def check(version, qemu, folder, guest):
    out = f'{folder}/{version}'
    child = commands.start([*guest.command(qemu), '-plugin', f'{paths.plugin("uftrace")},output={out}'])
    try:
        wait_for_records(child, out)
    finally:
        child.send_signal(signal.SIGKILL)
        done = commands.finish(child)
    need((done.stdout, done.stderr) == (b'', b''), 'it prints something')
    repair(out)
    names = {addr: name for name, addr in elf.symbols(guest.elf).items()}
    (data,) = record_files(out).values()
    calls = ['+-'[kind] + names.get(addr, hex(addr)) for _, kind, _, addr, _ in uftrace.read_records(data)]
    need(calls == ['+begin', *['+leaf', '-leaf'] * CALLS, '+hang', '-hang', '-begin'], calls)


def main():
    return qemus.on_each(sys.argv[1], 'hang', build, check)


if __name__ == '__main__':
    sys.exit(main())
