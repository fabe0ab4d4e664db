#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares recordings of goroutines with the trees of calls that the program prints of its own (programs/goroutines.go).

    goroutines_check.py ARCH

On one thread and on several, where the collector does not run and no signal preempts goroutines, the calls are those of
the trees and no anomaly is counted, in every run: one each, three with GUESTTRACE_LONG. As programs usually run, on
x86_64, a call may be wrong, but not without an anomaly.
"""
import os
import sys

import own_trees_check
from gttest import commands, paths, qemus, uftrace
from gttest.recordings import SEVERE
from gttest.results import folder, need, status

GOARCH = {'x86_64': 'amd64', 'aarch64': 'arm64', 'riscv64': 'riscv64'}
SEVERAL = {'GODEBUG': 'asyncpreemptoff=1', 'GOGC': 'off'}
ONE = {**SEVERAL, 'GOMAXPROCS': '1'}
RUNS = 3 if paths.LONG else 1


def check_run(arch, program, out, more, exact):
    done = commands.run([qemus.user(arch), '-plugin', f'{paths.plugin("uftrace")},output={out}', program],
                        env={**os.environ, **more})
    need(done.returncode == 0, 'status', done.returncode, done.stderr[-500:])
    lines = done.stdout.decode().splitlines()
    names = {line.strip() for line in lines}
    trace = uftrace.Trace(out)
    recorded = [line for tid in trace.tids() for line in trace.tree(tid, lambda _, name: name in names)]
    said, seen = own_trees_check.trees(lines), own_trees_check.trees(recorded)
    counted = {name: trace.stats[f'anomaly.{name}'] for name in [*SEVERE, 'guessed-stack']}
    counted = {name: n for name, n in counted.items() if n}
    print(len(lines), 'calls,', sum((said - seen).values()), 'of', sum(said.values()), 'trees differ,', counted)
    need(said == seen or counted, 'calls differ, and nothing says so')
    need(not exact or (said == seen and not counted), 'calls differ, or anomalies are counted', more)


def main(arch):
    qemus.user(arch)
    commands.tool('go')
    with folder('goroutines') as scratch:
        program = f'{scratch}/program'
        commands.must(['go', 'build', '-o', program, paths.source('truth', 'programs', 'goroutines.go')],
                      env={**os.environ, 'GOARCH': GOARCH[arch], 'CGO_ENABLED': '0', 'GO111MODULE': 'off',
                           'GOCACHE': f'{scratch}/cache'})
        if arch == 'x86_64':
            check_run(arch, program, f'{scratch}/usual', {}, False)
        for i in range(RUNS):
            check_run(arch, program, f'{scratch}/one{i}', ONE, True)
            check_run(arch, program, f'{scratch}/several{i}', SEVERAL, True)
    return 0


if __name__ == '__main__':
    sys.exit(status(main, sys.argv[1]))
