#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares recordings of goroutines with the trees of calls that the programs print of their own.

    goroutines_check.py ARCH

On one thread and on several, where the collector does not run and no signal preempts goroutines (programs/goroutines.go),
the calls are those of the trees and no anomaly is counted, in every run: one each, three with GUESTTRACE_LONG. On
several threads one of TRIES: where the host stops a thread in the very instructions in which it leaves a goroutine that
another one continues (1 run of 150 on a busy host), the other one cannot know that stack, which is reported. As programs usually run, a call may be wrong, but not without an anomaly; also where signals preempt them all the time
(programs/preempted.go), and on QEMUs that do not tell registers. There the stack pointer is seldom known, and return
addresses are searched for in Go's heap, all of which can be read, in vain: the recording ends nevertheless.
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
TRIES = 3

PREEMPTED = 20  # signals, at least


def check_run(qemu, program, out, more):
    """The recording; whether the calls are right and no anomaly is counted."""
    done = commands.run([qemu, '-plugin', f'{paths.plugin("uftrace")},output={out}', program],
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
    return trace, said == seen and not counted


def check_preempted(arch, program, out):
    """Calls that no code makes begin at the entry that a signal's handler has the goroutine continue at."""
    trace, _ = check_run(qemus.user(arch), program, out, {'GOMAXPROCS': '3'})
    calls = sum(trace.name(tid, call.time, call.addr)[1] == 'runtime.asyncPreempt.abi0'
                for tid in trace.tids() for call in trace.records(tid) if call.kind == 'enter')
    signals = int(trace.stats['count.signals'])
    print(signals, 'signals,', calls, 'preempt')
    need(signals >= PREEMPTED and calls, signals, calls)


def check_exact(qemu, program, out, more, tries=1):
    need(any(check_run(qemu, program, f'{out}-{i}', more)[1] for i in range(tries)), 'not exact, each time:', more)


def build(arch, source, scratch):
    program = f'{scratch}/{source}'
    commands.must(['go', 'build', '-o', program, paths.source('truth', 'programs', source + '.go')],
                  env={**os.environ, 'GOARCH': GOARCH[arch], 'CGO_ENABLED': '0', 'GO111MODULE': 'off',
                       'GOCACHE': f'{scratch}/cache'},
                  timeout=4 * commands.SECONDS)  # it compiles Go's library as well
    return program


def main(arch):
    usual = qemus.user(arch)
    commands.tool('go')
    with folder('goroutines') as scratch:
        check_preempted(arch, build(arch, 'preempted', scratch), f'{scratch}/stopped')
        program = build(arch, 'goroutines', scratch)
        check_run(usual, program, f'{scratch}/usual', {})
        for qemu in qemus.users(arch):
            if qemus.number_of(qemu) < qemus.TELLS_REGISTERS:
                print('QEMU', qemus.version(qemu))
                check_run(qemu, program, f'{scratch}/{qemus.version(qemu)}', SEVERAL)
        for i in range(RUNS):
            check_exact(usual, program, f'{scratch}/one{i}', ONE)
            check_exact(usual, program, f'{scratch}/several{i}', SEVERAL, TRIES)
    return 0


if __name__ == '__main__':
    sys.exit(status(main, sys.argv[1]))
