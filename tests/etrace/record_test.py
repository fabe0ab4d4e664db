#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`guesttrace record --tool etrace`."""
import os

import etrace
from etrace import need, run

GUESTTRACE = os.environ.get('GUESTTRACE', '')


def record(t, *words, **more):
    # Without the QEMU that scripts/qemus may have built: the one in PATH is to run.
    env = dict(os.environ, GUESTTRACE_PLUGIN_DIR=os.environ['GUESTTRACE_PLUGINS'], XDG_CACHE_HOME=t.folder)
    return run([GUESTTRACE, 'record', '--tool', 'etrace', *words], env=env, cwd=t.folder, **more)


def test_program(t):
    etrace.takes_plugins(etrace.tool('qemu-x86_64'))
    guest = t.build('sums.c', 'x86_64', '-O1')
    done = record(t, guest)
    need(done.status == 42 and done.out == b'144 2999\n', done)
    need('view it with: guesttrace dump etrace.out' in done.errors, done.errors)
    need(etrace.read_stream(f'{t.folder}/etrace.out').of('exec'), 'nothing was recorded')


def test_options(t):
    qemu = etrace.takes_plugins(etrace.tool('qemu-x86_64'))
    guest = t.build('sums.c', 'x86_64', '-O1')
    done = record(t, '-q', '-o', 'with, comma', '--flags', 'exec,mem', '--clock', 'host', '--',
                  qemu, guest)
    need(done.status == 42 and len(done.said) == (not etrace.tells_values(qemu)), done)
    stream = etrace.read_stream(f'{t.folder}/with, comma')
    need({i.kind for i in stream.items} == {'exec', 'mem'}, 'flags')
    need(stream.of('exec')[0].time > 0, 'clock')


def test_socket(t):
    """Nobody comes: the program runs all the same, and the socket is gone."""
    etrace.takes_plugins(etrace.tool('qemu-x86_64'))
    guest = t.build('sums.c', 'x86_64', '-O1')
    done = record(t, '-o', 'unix:sock', '--wait', '1', guest)
    need(done.status == 42 and done.out == b'144 2999\n', done)
    need(any('no reader came within 1 s' in line for line in done.said), done.errors)
    need(not os.path.exists(f'{t.folder}/sock'), 'the socket is left')


def test_refused(t):
    etrace.takes_plugins(etrace.tool('qemu-x86_64'))
    guest = t.build('sums.c', 'x86_64', '-O1')
    for words, why in [(['--depth', '3'], "'--depth' is for --tool uftrace, not etrace"),
                       (['-o', t.folder], 'is a directory')]:
        done = record(t, *words, guest)
        need(done.status != 42 and not done.out and why in done.errors, done)
    done = run([GUESTTRACE, 'record', '--flags', 'mem', guest], cwd=t.folder)
    need(done.status != 42 and "'--flags' is for --tool etrace, not uftrace" in done.errors, done)


etrace.main(globals())
