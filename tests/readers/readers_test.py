#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every uftrace there is reads what guesttrace records: this system's, and those that scripts/uftraces
has fetched. Each of its reading commands, on a program with threads, one with children, one with
coroutines, a machine with threads and one with privilege levels.

Environment: GUESTTRACE, GUESTTRACE_PLUGINS, as for the tests of machines.
"""
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, '..', 'system'), os.path.join(HERE, '..', 'machine')]
import machine_test  # noqa: E402
import qemus  # noqa: E402
from qemus import Failure, checker, need  # noqa: E402

PROGRAMS = ['threads', 'fork', 'coroutines']
VERSIONS = ['0.17', '0.19']


def uftraces():
    """[path]"""
    found = [p for p in [shutil.which('uftrace')] if p]
    cache = os.path.join(os.path.dirname(qemus.cache()), 'uftraces')
    for version in VERSIONS:
        path = os.path.join(cache, version, 'uftrace')
        if os.path.exists(path):
            found.append(path)
            continue
        try:
            with open(f'{cache}/{version}.reason', encoding='utf-8') as f:
                why = f.read().strip()
        except OSError:
            why = 'scripts/uftraces has not been run'
        print(f'SKIP: uftrace {version}: {why}')
    return found


def programs(folder):
    qemu = shutil.which('qemu-x86_64')
    with open(qemu or os.devnull, 'rb') as f:
        if b'/ld-linux' not in f.read(4096):
            print(f'SKIP: {"qemu-x86_64 is statically linked and loads no plugins" if qemu else "no qemu-x86_64"}')
            return
    for name in PROGRAMS:
        program, out = f'{folder}/{name}', f'{folder}/{name}.data'
        qemus.build(['gcc', '-O1', '-g', '-pthread', '-D_GNU_SOURCE', f'-I{HERE}/../guest', '-o', program,
                     f'{HERE}/../guest/cases/{name}.c'])
        qemus.record(out, [], [program])
        yield out


def machines(folder):
    case = machine_test.Case(f'{HERE}/../machine/cases/threads.c')
    machine = machine_test.Machine(case, 'aarch64', folder)
    for version, qemu in qemus.find('aarch64'):
        for options in [[], ['--privilege-levels']]:
            if options and int(version.split('.')[0]) < 9:
                continue
            out = f'{folder}/machine-{version}{len(options)}'
            qemus.record(out, options, machine.command(qemu))
            qemus.symbols(out, machine.elf)
            yield out


def main():
    readers = uftraces()
    if not readers:
        return 77
    folder = tempfile.mkdtemp(prefix='guesttrace-readers-')
    failed = 0
    try:
        for out in [*programs(folder), *machines(folder)]:
            for uftrace in readers:
                try:
                    checker.check_readers(out, False, uftrace)
                    print('good:', uftrace, os.path.basename(out))
                except checker.Bad as bad:
                    failed += 1
                    print('FAILED:', uftrace, os.path.basename(out), bad)
        need(not failed, failed, 'failed')
    except Failure as bad:
        print('FAILED:', bad)
        return 1
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
