#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory of a flight recorder is what was asked for: its ring, the calls that wait to be packed, and what the plugin has
of any guest."""
import os
import re
import subprocess

from gttest.commands import printed
from gttest.memory import MIB, check_flight, most_resident, pool_limit
from gttest.paths import GUESTTRACE
from gttest.results import need
from runs import main, sanitizers

CALLS = 3000000  # of tick(), and so many of leaf(), by all threads
BESIDE = 16 * MIB  # the plugin's code, what it knows of the guest's, QEMU's code for its callbacks


def run_crowd(t, threads, plugin, look):
    """look(QEMU's process number) when all has been called and nothing has ended."""
    command = t.command(t.guest('crowd'), [str(threads), str(CALLS // threads)], plugin, t.out)
    env = {name: value for name, value in os.environ.items() if name != 'MALLOC_PERTURB_'}  # it writes to all that is allocated
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        try:
            need(p.stdout.readline() == b'done\n', 'the guest is not done')
            return look(p.pid)
        finally:
            errors = p.communicate()[1]
            need(p.returncode == 6, p.returncode, errors)


def check(t, last, threads):
    def look(pid):
        check_flight(t.out, pid, pid, last, threads + 1)
        return most_resident(pid)
    bare = run_crowd(t, threads, None, most_resident)
    most = run_crowd(t, threads, [f'last={last // MIB}M', 'clock=host'], look)
    need(sanitizers() or most <= bare + pool_limit(last, threads + 1) + BESIDE, 'with', last, most, 'bytes, without', bare)
    calls = int(re.search(r'^calls +: ([\d,]+)', printed([GUESTTRACE, 'info', t.out]), re.M)[1].replace(',', ''))
    need(CALLS // 10 < calls < 2 * CALLS, 'the ring keeps', calls, 'calls; it has to go round')


def test_one(t):
    check(t, MIB, 1)


def test_few(t):
    check(t, 2 * MIB, 4)


def test_many(t):
    check(t, MIB, 200)


if __name__ == '__main__':
    main(globals())
