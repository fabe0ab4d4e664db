#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine hangs (hang.c) and is killed: its last calls reach the disk while it hangs.

usage: hang_test.py ARCH
"""
import glob
import os
import shutil
import signal
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'system'))
import qemus  # noqa: E402
from qemus import need  # noqa: E402

CALLS = 20
RECORDS = 2 * CALLS + 2  # begin and hang are entered
BOARDS = {'aarch64': ('0x40080000', ['-mgeneral-regs-only'], ['-cpu', 'cortex-a57']),
          'riscv64': ('0x80000000', ['-mcmodel=medany'], ['-bios', 'none'])}


def named(guest):
    """{address: function}"""
    said = subprocess.run(['nm', guest], check=True, capture_output=True, text=True).stdout
    return {int(addr, 16): name for addr, _, name in (line.split() for line in said.splitlines())}


def build(folder):
    base, flags, _ = BOARDS[sys.argv[1]]
    guest = f'{folder}/guest'
    qemus.build([f'{sys.argv[1]}-linux-gnu-gcc', '-O1', '-ffreestanding', '-nostdlib', '-static',
                 '-fno-pie', '-no-pie', '-fno-stack-protector', '-fno-toplevel-reorder', *flags,
                 '-Wl,--build-id=none', f'-Wl,-Ttext={base}', '-o', guest, f'{HERE}/hang.c'])
    return guest


def wait_for_records(p, out):
    end = time.monotonic() + qemus.SECONDS
    while sum(os.path.getsize(f) for f in glob.glob(f'{out}/[0-9]*.dat')) < 16 * RECORDS:
        need(p.poll() is None, 'QEMU ends:', p.returncode)
        need(time.monotonic() < end, 'the last calls do not reach the disk')
        time.sleep(0.01)


def check(version, qemu, folder, guest):
    out = f'{folder}/{version}'
    plugin = os.path.join(os.environ['GUESTTRACE_PLUGINS'], 'libuftrace.so')
    command = [qemu, '-M', 'virt', *BOARDS[sys.argv[1]][2], '-m', '64', '-display', 'none', '-monitor',
               'none', '-serial', 'none', '-nodefaults', '-kernel', guest, '-plugin',
               f'{plugin},output={out}']
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as p:
        try:
            wait_for_records(p, out)
        finally:
            p.send_signal(signal.SIGKILL)
        need(p.communicate(timeout=qemus.SECONDS) == (b'', b''), 'it says something')
    done = subprocess.run([os.environ['GUESTTRACE'], 'repair', out], capture_output=True, check=False)
    need(done.returncode == 0, done)
    names, (data,) = named(guest), qemus.records(out).values()
    calls = ['+-'[word & 3] + names.get(word >> 16, hex(word >> 16))
             for _, word in struct.iter_unpack('<QQ', data)]
    need(calls == ['+begin', *['+leaf', '-leaf'] * CALLS, '+hang', '-hang', '-begin'], calls)


def main():
    if not shutil.which(f'{sys.argv[1]}-linux-gnu-gcc'):
        print(f'SKIP: no compiler for {sys.argv[1]}')
        return 77
    return qemus.on_each(sys.argv[1], 'hang', build, check)


if __name__ == '__main__':
    sys.exit(main())
