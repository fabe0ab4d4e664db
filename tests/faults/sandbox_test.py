#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that take from their process what it may do (guests/sandbox.c): they end as without the plugin, and what
they call is recorded or said to be missing."""
import os
import re
import shutil
import sys

from gttest import paths
from gttest.commands import run
from gttest.paths import GUESTTRACE
from gttest.results import Skip, need, read_bytes
from runs import COMPACT, calls_of, main

CHILD = 500   # calls of leaf()
STEP = 1000


def record(t, steps, *options, errors=None):
    """`guesttrace record`, whose exit status is the program's; its standard error."""
    os.makedirs(f'{t.folder}/empty', exist_ok=True)
    env = dict(os.environ, EMPTY=f'{t.folder}/empty', GUESTTRACE_PLUGIN_DIR=paths.PLUGINS)
    form = [] if COMPACT else ['--format', 'uftrace']
    command = [GUESTTRACE, 'record', *form, *options, '-o', t.out, t.guest('sandbox', flags=['-static']), *steps]
    if errors:
        with open(errors, 'w', encoding='utf-8') as f:
            done = run(command, env=env, stderr=f)
        said = read_bytes(errors).decode()
    else:
        done = run(command, env=env)
        said = done.stderr.decode()
    need(done.returncode == 3, 'status', done.returncode, said)
    return said


def test_flight_without_descriptors(t):
    """No descriptor is left for the farewell to the thread that takes messages."""
    if not COMPACT:
        return  # a flight recorder is a compact file
    said = record(t, ['nofile'], '--last', '1M')
    need('1 snapshot' in said, said)
    need(calls_of(t.out, 'leaf') == STEP, calls_of(t.out, 'leaf'))


def test_control_without_descriptors(t):
    record(t, ['nofile'], '--control', f'{t.folder}/socket')
    need(calls_of(t.out, 'leaf') == STEP, calls_of(t.out, 'leaf'))


def test_size_of_files(t):
    """Our own last message is beyond the limit: no signal of it reaches the guest."""
    record(t, ['fsize'], errors=f'{t.folder}/errors')


def check_children(t, *all_steps):
    """Each child is recorded, or counted in a message."""
    for steps in all_steps:
        said = record(t, [*steps, 'fork', 'fork', 'fork'])
        made = calls_of(t.out, 'leaf') - STEP * (len(steps) + 3)
        lost = len(re.findall('all [0-9]+ records of process', said)) + sum(
            int(n) for n in re.findall('([0-9]+) more forked process', said))
        need(made % CHILD == 0 and made // CHILD + lost == 3, steps, made, lost, said)
        if steps in (['nofile'], ['close'], ['chroot']):
            need(not lost and 'did not finish' not in said, steps, said)
        shutil.rmtree(t.out) if os.path.isdir(t.out) else os.unlink(t.out)


def test_children(t):
    check_children(t, ['nofile'], ['close'])


def test_children_of_root(t):
    if os.geteuid():
        raise Skip('no root, so no rights to give up')
    check_children(t, ['uid'], ['chroot'], ['chroot', 'uid'])


if __name__ == '__main__':
    sys.exit(main(globals()))
