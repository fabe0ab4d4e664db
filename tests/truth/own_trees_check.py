#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares recordings with the trees of calls that programs print of their own (programs/tree_log.h).

    own_trees_check.py NAME

Each program of the table below runs on every user-mode QEMU that is there, on each architecture and in
each regime: what translated code calls the plugin for differs among them (docs/architecture.md), the calls may not.
No anomaly may be counted. Without GUESTTRACE_LONG only one QEMU runs in each regime, the others in the usual one.
"""
import collections
import os
import shutil
import sys

from gttest import compilers, paths, qemus, recordings, uftrace
from gttest.commands import must, run
from gttest.results import Failure, Skip, Tally, folder, need, status

PROGRAMS = paths.source('truth', 'programs')
ARCHES = ['x86_64', 'aarch64', 'riscv64']
# What the plugin knows an unwinder by.
UNWINDER = ['_Unwind_RaiseException', '_Unwind_Resume', '_Unwind_Resume_or_Rethrow', '_Unwind_ForcedUnwind', '_Unwind_GetIP',
            '_Unwind_GetIPInfo', '__gxx_personality_v0']
ANY = dict.fromkeys(ARCHES, (0, 0))
# Without registers the stack pointer that an unwinder has left frames by is known on x86_64 alone: its block pops a register after.
UNWINDS = {**dict.fromkeys(ARCHES, qemus.TELLS_REGISTERS), 'x86_64': (0, 0)}
#        source, flags, arguments of each run, symbols that are removed, the oldest QEMU of each architecture
TABLE = {
    'jump-returns': ('jump_returns.c', ['-fno-omit-frame-pointer'], [[]], [], ANY),
    'stack-switches': ('stack_switches.c', [], [['R'], ['r'], ['M'], ['m'], ['V'], ['P'], ['p']], [], ANY),
    'own-unwinder': ('own_unwinder.c', ['-O0'], [[], ['i']], [], ANY),
    'nested-throws': ('nested_throws.cc', [], [[]], UNWINDER, UNWINDS),
}
REGIMES = [[], ['clock=host'], ['notrace=no_such_function']]


def runs_of(found, regimes):
    """[(QEMU, regime)] of this run of the suite."""
    return [(qemu, regime) for n, qemu in enumerate(found) for regime in (regimes if paths.LONG or n == 0 else regimes[:1])]


def trees(lines):
    """How often each tree is there: a tree begins at a line without indentation."""
    found = collections.Counter()
    tree = []
    for line in lines + ['end']:
        if not line.startswith(' ') and tree:
            found['\n'.join(tree)] += 1
            tree = []
        tree.append(line)
    return found


def difference(said, seen):
    for tree in (said - seen), (seen - said):
        for text, n in list(tree.items())[:2]:
            print(f'{n} times {"said" if tree == said - seen else "recorded"}:\n{text[:3000]}\n')
    return f'{sum((said - seen).values())} trees of {sum(said.values())} differ'


def compare(printed, out, where):
    lines = [line for line in printed.splitlines() if line and line != 'stack']
    names = {line.strip() for line in lines}
    trace = uftrace.Trace(out)
    recorded = [line for tid in trace.tids() for line in trace.tree(tid, lambda _, name: name in names)]
    said, seen = trees(lines), trees(recorded)
    need(said == seen, f'{where}: {difference(said, seen)}' if said != seen else '')
    recordings.check_severe(trace.stats)


def check_run(qemu, program, words, regime, scratch):
    where = ' '.join([qemus.version(qemu), *words, *regime])
    out = f'{scratch}/data'
    shutil.rmtree(out, ignore_errors=True)
    command = [qemu, '-plugin', ','.join([paths.plugin('uftrace'), 'output=' + out, *regime]), program, *words]
    plain, traced = run([qemu, program, *words]), run(command)
    need(plain.returncode == traced.returncode == 0 and plain.stdout == traced.stdout,
         f'{where}: {plain.returncode} {traced.returncode} {traced.stderr!r}')
    try:
        compare(traced.stdout.decode(), out, where)
    except Failure as bad:
        raise Failure(f'{where}: {bad}') from None


def check(name, arch, scratch):
    source, flags, runs, removed, oldest = TABLE[name]
    qemus_here = [path for path in qemus.users(arch) if qemus.number_of(path) >= oldest[arch]]
    if not qemus_here:
        raise Skip(f'no user-mode qemu-{arch} from {oldest[arch][0]}.{oldest[arch][1]} on: scripts/qemus user')
    program = os.path.join(scratch, 'program')
    compilers.compile_to(program, arch, f'{PROGRAMS}/{source}', '-O1', '-g0', '-Wall', '-static',
                         *compilers.AS_WRITTEN, *flags)
    if removed:
        must([compilers.prefix(arch) + 'objcopy', *(f'--strip-symbol={name}' for name in removed), program])
    for qemu, regime in runs_of(qemus_here, REGIMES):
        for words in runs:
            check_run(qemu, program, words, regime, scratch)
    print(f'{name}, {arch}: good with QEMU {", ".join(map(qemus.version, qemus_here))}')


def main(name):
    tally = Tally()
    for arch in ARCHES:
        with folder(f'trees-{arch}') as scratch:
            tally.run(f'{name}, {arch}', check, name, arch, scratch)
    return tally.status()


if __name__ == '__main__':
    sys.exit(status(main, sys.argv[1]))
