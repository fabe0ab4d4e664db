#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares recordings of goroutines with the trees of calls that the program prints of its own (programs/goroutines.go).

    goroutines_check.py ARCH

The guest ends with and without more threads, and prints its trees. Where no anomaly is counted, the calls are those of
the trees. On one thread, without the collector, that is so in some run of a few: the Go runtime's own thread may move
goroutines to another one.
"""
import os
import sys

import own_trees_check
from gttest import commands, paths, qemus, uftrace
from gttest.recordings import SEVERE
from gttest.results import folder, need, status

GOARCH = {'x86_64': 'amd64', 'aarch64': 'arm64', 'riscv64': 'riscv64'}
ONE = {'GOMAXPROCS': '1', 'GODEBUG': 'asyncpreemptoff=1', 'GOGC': 'off'}
RUNS = 6


def check_run(arch, program, out, more):
    """True where all is exact."""
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
    return said == seen and not counted


def main(arch):
    qemus.user(arch)
    commands.tool('go')
    with folder('goroutines') as scratch:
        program = f'{scratch}/program'
        commands.must(['go', 'build', '-o', program, paths.source('truth', 'programs', 'goroutines.go')],
                      env={**os.environ, 'GOARCH': GOARCH[arch], 'CGO_ENABLED': '0', 'GO111MODULE': 'off',
                           'GOCACHE': f'{scratch}/cache'})
        check_run(arch, program, f'{scratch}/threads', {})
        need(any(check_run(arch, program, f'{scratch}/{i}', ONE) for i in range(RUNS)), 'no run is exact')
    return 0


if __name__ == '__main__':
    sys.exit(status(main, sys.argv[1]))
