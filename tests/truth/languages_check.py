#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares recordings of programs in other languages, whose runtimes unwind in their own way, with the trees of calls that
the programs print of their own (programs/trees.*).

    languages_check.py lisp|ocaml|pascal

On the user-mode QEMU in PATH, and with GUESTTRACE_LONG on every one that is there; all but Lisp in each regime. No anomaly
may be counted; in Lisp's own runtime, one of LISP_CALLS calls on QEMU 9.0 and later. Of OCaml's
effect handlers (OCaml 5, programs/effects.ml), which leave the stacks of calls that have begun on other memory
(docs/call-tracking.md), calls may be wrong, but not without an anomaly.
"""
import os
import re
import sys

import own_trees_check
from gttest import commands, paths, qemus, recordings, uftrace
from gttest.results import Skip, folder, need, same_lines, status

PROGRAMS = paths.source('truth', 'programs')
ARCH = 'x86_64'


def compile_ocaml(name, scratch):
    commands.tool('ocamlopt')
    source, program = f'{scratch}/{name}.ml', f'{scratch}/{name}'
    os.symlink(f'{PROGRAMS}/{name}.ml', source)
    commands.must(['ocamlopt', '-o', program, source])
    return [program], re.compile(rf'caml{name.capitalize()}(?:__|\.)(\w+?)_\d+')


def ocaml(scratch):
    return compile_ocaml('trees', scratch)


def pascal(scratch):
    commands.tool('fpc')
    program = f'{scratch}/program'
    commands.must(['fpc', '-O2', '-Xs-', f'-FE{scratch}', f'-o{program}', f'{PROGRAMS}/trees.pas'])
    return [program], re.compile(r'P\$TREES_\$\$_(\w+?)(?:\$.*)?')


# Of a runtime that calls through jumps (SBCL 2.2), and of one that calls entries (SBCL 2.5).
LISP_CALLS = {True: 100000, False: 10000}


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
        self.jumps = False
        for line in lines:
            _, entry, jump, name = line.split()
            self.names[int(entry, 16)] = name
            self.jumps |= entry != jump
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
        anomalies, calls = sum(trace.stats['anomaly.' + name] for name in recordings.SEVERE), trace.stats['calls']
        need(anomalies * LISP_CALLS[named.jumps] <= calls, where, anomalies, 'anomalies of', calls, 'calls')
    return f'{where}: {len(said)} calls'


def check_effects(scratch):
    version = commands.must(['ocamlopt', '-version']).stdout.decode().strip()
    if int(version.split('.')[0]) < 5:
        print(f'effects: OCaml {version} has none')
        return
    words, symbol = compile_ocaml('effects', scratch)
    for number, qemu in enumerate(qemus.users(ARCH) if paths.LONG else [qemus.user(ARCH)]):
        out = f'{scratch}/effects-{number}'
        done = commands.run([qemu, '-plugin', f'{paths.plugin("uftrace")},output={out}', *words])
        need(done.returncode == 0, 'effects: status', done.returncode, done.stderr[-500:])
        lines = [line for line in done.stdout.decode().splitlines() if line and line != 'stack']
        need(len(lines) > 400, f'effects: only {len(lines)} calls')
        trace = uftrace.Trace(out)
        said = own_trees_check.trees(lines)
        seen = own_trees_check.trees(tree(trace, Named(symbol), {line.strip() for line in lines}))
        counted = sum(trace.stats[f'anomaly.{name}'] for name in [*recordings.SEVERE, 'guessed-stack'])
        wrong = sum((said - seen).values())
        print(f'effects, {qemus.version(qemu)}: {wrong} of {sum(said.values())} trees differ, {counted} anomalies')
        need(wrong <= counted, f'{wrong} trees differ, and {counted} anomalies say so')


def main(language):
    if os.uname().machine != ARCH:
        raise Skip(f'its compiler here makes no programs for {ARCH}')
    with folder(language) as scratch:
        words, symbol = {'ocaml': ocaml, 'pascal': pascal, 'lisp': lisp}[language](scratch)
        regimes = own_trees_check.REGIMES if symbol else [[]]  # Lisp makes a million calls to compile its program
        here = qemus.users(ARCH) if paths.LONG else [qemus.user(ARCH)]
        for number, (qemu, regime) in enumerate(own_trees_check.runs_of(here, regimes)):
            print(check_run(qemu, words, symbol, regime, f'{scratch}/{number}'))
        if language == 'ocaml':
            check_effects(scratch)
    return 0


if __name__ == '__main__':
    sys.exit(status(main, sys.argv[1]))
