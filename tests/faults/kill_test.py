#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU dies: nothing that the guest had done is missing after a repair."""
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import time

from gttest.commands import SECONDS, run
from gttest.paths import LONG
from gttest.results import need
from runs import COMPACT, calls_of, main

TIMES = 200 if LONG else 8


def counted(path):
    with open(path, 'rb') as f:
        return struct.unpack('<Q', f.read(8))[0]


def compare(t, out, path, readers=False):
    """How many calls a repair brought in; none that was counted is missing, none is invented."""
    before = calls_of(out, 'tick') if os.path.exists(f'{out}/info') else 0  # a file is not read before its repair
    t.check_all(out, killed=True, readers=readers)
    count, calls = counted(path), calls_of(out, 'tick')
    need(count <= calls <= count + 1, f'{count} calls counted, {calls} recorded ({before} before)')
    return count - before


def wait_until(p, path, least):
    """Until the guest has counted so far."""
    end = time.monotonic() + SECONDS
    while not os.path.exists(path) or os.path.getsize(path) < 8:
        need(p.poll() is None and time.monotonic() < end, 'the guest does not begin')
    with open(path, 'rb') as f, mmap.mmap(f.fileno(), 8, prot=mmap.PROT_READ) as m:
        while struct.unpack('<Q', m[:8])[0] < least:
            need(p.poll() is None and time.monotonic() < end, 'the guest does not go on')


def kill_at(t, count, number, arch='x86_64', name='kill'):
    path, out = f'{t.folder}/{name}.count', f'{t.folder}/{name}.data'
    command = t.command(t.guest('tick', arch), [path, 'never', '0'], (), out, arch)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as p:
        try:
            wait_until(p, path, count)
        finally:
            p.send_signal(number)
        said = p.communicate(timeout=SECONDS)
    need(p.returncode == -number and said == (b'', b''), p.returncode, said)
    return path, out


def test_sigkill(t):
    r = random.Random(7)
    missing = []
    for i in range(TIMES):
        path, out = kill_at(t, r.choice([1, 100, 10000, 30000]) + r.randrange(1000),
                            signal.SIGKILL, name=f'kill{i}')
        missing.append(compare(t, out, path, readers=i == 0))
        if not COMPACT:
            shutil.rmtree(out)
    print('calls that only the pool file had, of 6 records:', sorted(missing))


def test_sigterm(t):
    for arch in ('x86_64', 'aarch64'):
        path, out = kill_at(t, 5000, signal.SIGTERM, arch, name=arch)
        compare(t, out, path)


def test_guest_dies(t):
    for how, status in (('abort', -6), ('segv', -11), ('kill', -9), ('term', -15), ('exit', 9)):
        path, out = f'{t.folder}/{how}.count', f'{t.folder}/{how}.data'
        for plugin in (None, ()):
            if os.path.exists(path):
                os.unlink(path)
            done = run(t.command(t.guest('tick'), [path, how, '20000'], plugin, out),
                               cwd=t.folder)
            need(done.returncode == status, how, done.returncode, done.stderr)
        compare(t, out, path, readers=how == 'abort')


if __name__ == '__main__':
    main(globals())
