#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every uftrace there is reads what guesttrace records: this system's, and those that scripts/uftraces
has fetched. Each of its reading commands, on a program with threads, one with children, one with
coroutines, a machine with threads and one with privilege levels.
"""
import os
import sys

from gttest import boards, paths, qemus, uftrace_check, uftraces
from gttest.compilers import compile_to
from gttest.recordings import record, symbols
from gttest.results import SKIPPED, Failure, Skip, Tally, in_folder, skip

PROGRAMS = ['threads', 'fork', 'coroutines']


def programs(folder):
    qemus.user('x86_64')
    for name in PROGRAMS:
        program, out = f'{folder}/{name}', f'{folder}/{name}.data'
        compile_to(program, 'x86_64', paths.source('guest', 'cases', f'{name}.c'), '-O1', '-g', '-pthread',
                   '-D_GNU_SOURCE', f'-I{paths.source("guest")}')
        record(out, [], [program])
        yield out


def machines(folder):
    machine = boards.build_kernel('aarch64', folder, paths.source('machine', 'cases', 'threads.c'))
    for version, qemu in qemus.find('aarch64'):
        for options in [[], ['--privilege-levels']]:
            if options and qemus.number(version) < qemus.TELLS_REGISTERS:
                continue
            out = f'{folder}/machine-{version}{len(options)}'
            record(out, options, machine.command(qemu))
            symbols(out, machine.elf)
            yield out


def recordings(folder, tally):
    """Of programs and of machines, those that can be made here."""
    for some in programs, machines:
        try:
            yield from some(folder)
        except Skip as why:
            skip(why)
        except Failure as bad:
            tally.run(some.__name__, fail, bad)


def fail(bad):
    raise bad


def check(folder):
    readers, tally = uftraces.find(), Tally()
    if not readers:
        return SKIPPED
    for out in recordings(folder, tally):
        for uftrace in readers:
            name = f'{uftrace} {os.path.basename(out)}'
            if tally.run(name, uftrace_check.check_readers, out, False, uftrace):
                print('good:', name)
    return tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('readers', check))
