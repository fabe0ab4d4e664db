#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every version of the plugin ABI: the scripted host of tests/host plays guests, and each version
records the same.

usage: scripted_test.py (GUESTTRACE_HOSTS: the folder of the scripted hosts)
"""
import os
import sys

import etrace
from etrace import need, run

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'host'))
from guest import Guest, Script  # noqa: E402

HOSTS = os.environ.get('GUESTTRACE_HOSTS', '')
VERSIONS = ['1', '2', '4', '5', '6', '7']
TELLS_VALUES = 4


def play(t, name, version, arguments):
    folder = f'{t.folder}/{name}-{version}'
    os.makedirs(folder, exist_ok=True)
    script = Script(f'{HERE}/../host/{name}.script')
    env = dict(os.environ)
    env.pop('GUESTTRACE_QEMU_VERSION', None)
    done = run([f'{HOSTS}/scripted-{version}', etrace.PLUGIN,
                Guest(script, script.targets[0]).plan(folder), f'output={t.out}', *arguments],
               env=env)
    need(done.status == 0, version, done.errors)
    return etrace.read_stream(t.out), done


def same_on_all(t, name, *arguments):
    first = None
    for version in VERSIONS:
        stream, done = play(t, name, version, arguments)
        got = [vars(i) for i in stream.items]
        need(got, f'{name}, version {version}: nothing was recorded')
        first = first or got
        need(got == first, f'{name}: version {version} differs from {VERSIONS[0]}')
        need(not done.said or int(version) < TELLS_VALUES, done.said)
    return stream


def test_programs(t):
    for name in 'calls', 'jumps', 'flush', 'setjmp', 'exit', 'exec':
        same_on_all(t, name, 'clock=insn')


def test_threads(t):
    stream = same_on_all(t, 'threads', 'clock=insn')
    units = {e.unit for e in stream.of('exec')}
    need(units == {0, 1, 2}, 'a thread that takes the number of one that ended is a unit', units)


def test_counts(t):
    same_on_all(t, 'calls', 'flags=coverage')


def test_refused(t):
    for version in VERSIONS:
        script = Script(f'{HERE}/../host/calls.script')
        done = run([f'{HOSTS}/scripted-{version}', etrace.PLUGIN,
                    Guest(script, script.targets[0]).plan(t.folder), f'output={t.out}',
                    'flags=exec+cpu'])
        need(('cannot read registers' in done.errors) == (version == '1'), version, done.errors)


etrace.main(globals())
