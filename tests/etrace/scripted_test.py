#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every version of the plugin ABI: the scripted host of tests/host plays guests, and each version
records the same."""
import os

from gttest import paths
from gttest.results import need, write
from gttest.scripted import VERSIONS, environment, host, write_plan
from runs import main

TELLS_VALUES = 4


def play(t, name, version, arguments):
    folder = f'{t.folder}/{name}-{version}'
    os.makedirs(folder, exist_ok=True)
    done = t.run([host(version), paths.plugin('etrace'), write_plan(name, folder), f'output={t.out}', *arguments],
                 env=environment())
    need(done.status == 0, version, done.errors)
    return t.stream(), done


# What the plugin says of a program.
SAID = {'exec': ['the program went on as /bin/sh outside QEMU: that is not recorded',
                 '/bin/sh was not executed: the recording goes on']}


def same_on_all(t, name, *arguments):
    first = None
    for version in VERSIONS:
        stream, done = play(t, name, version, arguments)
        got = sorted((vars(i) for i in stream.items), key=lambda item: item.get('unit', -1))  # vCPUs run side by side
        need(got, f'{name}, version {version}: nothing was recorded')
        first = first or got
        need(got == first, f'{name}: version {version} differs from {VERSIONS[0]}')
        need(done.said == SAID.get(name, []) or int(version) < TELLS_VALUES, done.said)
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
        done = t.run([host(version), paths.plugin('etrace'), write_plan('calls', t.folder), f'output={t.out}',
                      'flags=exec+cpu'])
        need(('cannot read registers' in done.errors) == (version == '1'), version, done.errors)


def test_width(t):
    """What ARCH says of a program whose machine has a wider form, too: hppa has 32 bits."""
    plan = write(f'{t.folder}/plan', 'target hppa\nmemory 0x400000 0x1000 any\ninsn 0x400000 4\nvcpu 0\ntb 0 1 -1\n')
    done = t.run([host('4'), paths.plugin('etrace'), plan, f'output={t.out}'], env=environment())
    need(done.status == 0, done.errors)
    guest = t.stream().guest
    need((guest.machine, guest.bits, guest.big) == (15, 32, 1), guest)


def test_devices(t):
    """Where QEMU does not say which accesses are a device's (10.2, 11.0), it is refused, and `all` goes without them."""
    plan = write_plan('machine', t.folder)
    for version in VERSIONS:
        silent = version in ('5', '6')
        for flags in 'gpio', 'all':
            done = t.run([host(version), paths.plugin('etrace'), plan, f'output={t.out}', f'flags={flags}'], env=environment())
            need((done.status != 0) == (silent and flags == 'gpio'), version, flags, done.status, done.errors)
            need(('10.2 or 11.0' in done.errors) == silent, version, flags, done.errors)


main(globals())
