#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares recordings of programs that leave stacks through libraries for it with the trees of calls that the programs print
of their own: Boost's contexts and coroutines (programs/fibers.cc) and D's fibers (fibers.d), whose calls are those of the
trees and which count no anomaly; and greenlets (greenlets.py), which copy what they leave to other places and go on on the
same stack: a call may be at a wrong place there, but none is missing, and anomalies are counted.

On the user-mode QEMU in PATH, and with GUESTTRACE_LONG on every one that is there, the first two in each regime.
"""
import collections
import os
import sys

import languages_check
import own_trees_check
from gttest import commands, compilers, paths, qemus, uftrace
from gttest.recordings import SEVERE
from gttest.results import Skip, Tally, equal, folder, need, status

PROGRAMS = paths.source('truth', 'programs')
ARCH = os.uname().machine
PYTHON = '/usr/bin/python3'  # of the packages: another Python in PATH has no greenlet
CALLS = 200  # at least
FLAGS = ['-O1', '-g0', '-Wall', '-fno-inline', '-fno-optimize-sibling-calls']


def qemus_here():
    return qemus.users(ARCH) if paths.LONG else [qemus.user(ARCH)]


def check_exact(program, scratch):
    for qemu in qemus_here():
        for regime in own_trees_check.REGIMES if paths.LONG else [[]]:
            own_trees_check.check_run(qemu, program, [], regime, scratch)
    print(f'{program}: good')


def check_boost(scratch):
    program = f'{scratch}/boost'
    if not os.path.exists('/usr/include/boost/context/fiber.hpp'):
        raise Skip('no libboost-context-dev')
    compilers.compile_to(program, ARCH, f'{PROGRAMS}/fibers.cc', *FLAGS, '-lboost_context')
    check_exact(program, scratch)


def check_d(scratch):
    program = f'{scratch}/d'
    commands.must([commands.tool('gdc'), *FLAGS, f'{PROGRAMS}/fibers.d', '-o', program])
    check_exact(program, scratch)


class Of:
    """Functions of one library, which stays where it is; the names of the others are not looked for twice."""

    def __init__(self, library):
        self.library = library
        self.names = {}

    def name(self, trace, tid, call):
        if call.addr not in self.names:
            path, name = trace.name(tid, uftrace.LAST, call.addr)
            self.names[call.addr] = name if path == self.library else None
        return self.names[call.addr]


def check_copied(qemu, library, out):
    where = qemus.version(qemu)
    done = commands.run([qemu, '-plugin', f'{paths.plugin("uftrace")},output={out}', PYTHON, '-I', '-B',
                         f'{PROGRAMS}/greenlets.py', library])
    need(done.returncode == 0, f'{where}: status', done.returncode, done.stderr[-500:])
    lines = [line for line in done.stdout.decode().splitlines() if line and line != 'stack']
    need(len(lines) > CALLS, f'{where}: only {len(lines)} calls')
    names = {line.strip() for line in lines}
    trace = uftrace.Trace(out)
    recorded = languages_check.tree(trace, Of(library), names)
    equal(collections.Counter(map(str.strip, recorded)), collections.Counter(map(str.strip, lines)), f'{where}: calls')
    said, seen = own_trees_check.trees(lines), own_trees_check.trees(recorded)
    wrong = sum((said - seen).values())
    counted = sum(trace.stats.get(f'anomaly.{name}', 0) for name in [*SEVERE, 'guessed-stack'])
    print(f'{where}: {wrong} of {sum(said.values())} trees differ, {counted} anomalies')
    need(wrong <= counted, f'{where}: {wrong} trees differ, and {counted} anomalies say so')


def check_greenlets(scratch):
    if commands.run([PYTHON, '-I', '-c', 'import greenlet']).returncode:
        raise Skip('no python3-greenlet')
    library = compilers.compile_to(f'{scratch}/greenlets.so', ARCH, f'{PROGRAMS}/greenlets.c', *FLAGS, '-shared', '-fPIC')
    for number, qemu in enumerate(qemus_here()):
        check_copied(qemu, library, f'{scratch}/greenlets-{number}')


def main():
    qemus.user(ARCH)
    tally = Tally()
    for name, check in ('boost', check_boost), ('d', check_d), ('greenlets', check_greenlets):
        with folder(f'fibers-{name}') as scratch:
            tally.run(name, check, scratch)
    return tally.status()


if __name__ == '__main__':
    sys.exit(status(main))
