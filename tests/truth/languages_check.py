#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares recordings of programs in other languages, whose runtimes unwind in their own way, with the trees of calls that
the programs print of their own (programs/trees.*).

    languages_check.py lisp|ocaml|pascal

On the user-mode QEMU in PATH, and with GUESTTRACE_LONG on every one that is there; all but Lisp in each regime. No anomaly
may be counted; in Lisp's own runtime, which also calls by a jump, one of LISP_CALLS calls on QEMU 9.0 and later.
"""
import os
import re
import sys

import own_trees_check
from gttest import commands, paths, qemus, recordings, uftrace
from gttest.results import Skip, folder, need, same_lines, status

PROGRAMS = paths.source('truth', 'programs')
ARCH = 'x86_64'


def ocaml(scratch):
    commands.tool('ocamlopt')
    source, program = f'{scratch}/trees.ml', f'{scratch}/program'
    os.symlink(f'{PROGRAMS}/trees.ml', source)
    commands.must(['ocamlopt', '-o', program, source])
    return [program], re.compile(r'camlTrees(?:__|\.)(\w+?)_\d+')


def pascal(scratch):
    commands.tool('fpc')
    program = f'{scratch}/program'
    commands.must(['fpc', '-O2', '-Xs-', f'-FE{scratch}', f'-o{program}', f'{PROGRAMS}/trees.pas'])
    return [program], re.compile(r'P\$TREES_\$\$_(\w+?)(?:\$.*)?')


LISP_CALLS = 100000


def lisp(_):
    return [commands.tool('sbcl'), '--script', f'{PROGRAMS}/trees.lisp'], None


class Named:
    """Calls of functions that have symbols."""

    def __init__(self, symbol):
        self.symbol = symbol

    def name(self, trace, tid, call):
        found = self.symbol.fullmatch(trace.name(tid, call.time, call.addr)[1] or '')
        return found and found[1].lower()


class Placed:
    """Calls of those that have none: each is entered at the first address, or near the second."""
    NEAR = 16

    def __init__(self, lines):
        self.names = {}
        for line in lines:
            _, entry, jump, name = line.split()
            self.names[int(entry, 16)] = name
            for byte in range(self.NEAR):
                self.names[int(jump, 16) + byte] = name

    def name(self, _trace, _tid, call):
        return self.names.get(call.addr)


def tree(trace, named, own):
    lines = []
    for tid in trace.tids():
        open_calls = []
        for call in trace.records(tid):
            if call.kind == 'enter':
                name = named.name(trace, tid, call)
                if name in own:
                    lines.append('  ' * sum(open_calls) + name)
                open_calls.append(name in own)
            elif open_calls:
                open_calls.pop()
    return lines


def check_run(qemu, words, symbol, regime, out):
    where = ' '.join([qemus.version(qemu), *regime])
    done = commands.run([qemu, '-plugin', ','.join([paths.plugin('uftrace'), 'output=' + out, *regime]), *words])
    need(done.returncode == 0, f'{where}: status', done.returncode, done.stderr[-500:])
    printed = [line for line in done.stdout.decode().splitlines() if line]
    said = [line for line in printed if not line.startswith('= ')]
    trace = uftrace.Trace(out)
    named = Named(symbol) if symbol else Placed([line for line in printed if line.startswith('= ')])
    seen = tree(trace, named, {line.strip() for line in said})
    same_lines(seen, said, f'{where}: calls')
    need(len(said) > 400, f'{where}: only {len(said)} calls')
    if symbol:
        recordings.check_severe(trace.stats)
    elif qemus.number_of(qemu) >= qemus.TELLS_REGISTERS:
        anomalies = sum(trace.stats['anomaly.' + name] for name in recordings.SEVERE)
        need(anomalies * LISP_CALLS <= trace.stats['calls'], where, anomalies, 'anomalies of', trace.stats['calls'], 'calls')
    return f'{where}: {len(said)} calls'


def main(language):
    if os.uname().machine != ARCH:
        raise Skip(f'its compiler here makes no programs for {ARCH}')
    with folder(language) as scratch:
        words, symbol = {'ocaml': ocaml, 'pascal': pascal, 'lisp': lisp}[language](scratch)
        regimes = own_trees_check.REGIMES if symbol else [[]]  # Lisp makes a million calls to compile its program
        here = qemus.users(ARCH) if paths.LONG else [qemus.user(ARCH)]
        for number, (qemu, regime) in enumerate(own_trees_check.runs_of(here, regimes)):
            print(check_run(qemu, words, symbol, regime, f'{scratch}/{number}'))
    return 0


if __name__ == '__main__':
    sys.exit(status(main, sys.argv[1]))
