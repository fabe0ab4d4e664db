#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`guesttrace record --tool etrace`."""
import os

from gttest import etrace, qemus
from gttest.paths import GUESTTRACE
from gttest.results import need
from runs import main


def test_program(t):
    qemus.user('x86_64')
    guest = t.build('sums.c', 'x86_64', '-O1')
    done = t.record(guest)
    need(done.status == 42 and done.out == b'144 2999\n', done)
    need('view it with: guesttrace dump etrace.out' in done.errors, done.errors)
    need(etrace.read(f'{t.folder}/etrace.out').of('exec'), 'nothing was recorded')


def test_options(t):
    qemu = qemus.user('x86_64')
    guest = t.build('sums.c', 'x86_64', '-O1')
    done = t.record('-q', '-o', 'with, comma', '--flags', 'exec,mem', '--clock', 'host', '--',
                  qemu, guest)
    need(done.status == 42 and len(done.said) == (not qemus.tells_values(qemu)), done)
    stream = etrace.read(f'{t.folder}/with, comma')
    need({i.kind for i in stream.items} == {'exec', 'mem'}, 'flags')
    need(stream.of('exec')[0].time > 0, 'clock')


def test_socket(t):
    """Nobody comes: the program runs all the same, and the socket is gone."""
    qemus.user('x86_64')
    guest = t.build('sums.c', 'x86_64', '-O1')
    done = t.record('-o', 'unix:sock', '--wait', '1', guest)
    need(done.status == 42 and done.out == b'144 2999\n', done)
    need(any('no reader came within 1 s' in line for line in done.said), done.errors)
    need(not os.path.exists(f'{t.folder}/sock'), 'the socket is left')


def test_refused(t):
    qemus.user('x86_64')
    guest = t.build('sums.c', 'x86_64', '-O1')
    for words, why in [(['--depth', '3'], "'--depth' is for --tool uftrace, not etrace"),
                       (['-o', t.folder], 'is a directory')]:
        done = t.record(*words, guest)
        need(done.status != 42 and not done.out and why in done.errors, done)
    done = t.run([GUESTTRACE, 'record', '--flags', 'mem', guest], cwd=t.folder)
    need(done.status != 42 and "'--flags' is for --tool etrace, not uftrace" in done.errors, done)


main(globals())
