#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compilers write indirect calls and returns against speculation in several ways: each time the program's
calls are those of the program without them.

    thunks_check.py COMPILER

On every user-mode QEMU that is there, in each regime and with blocks of one instruction. No anomaly may be counted.
Without GUESTTRACE_LONG only one QEMU runs in each regime, the others in the usual one.
"""
import os
import sys

import own_trees_check as own
from gttest import paths, qemus, recordings, uftrace
from gttest.commands import must, run, tool
from gttest.results import Skip, Tally, folder, need, status

SOURCE = paths.source('truth', 'programs', 'thunked.c')
FLAGS = ['-O2', '-g0', '-static', '-fcf-protection=none', '-Wall']
FUNCTIONS = '''add twice by_pointer tail tail_only by_members nested switched computed compare sorted thrower catcher
    main'''.split()
EXTERN = ['-mindirect-branch=thunk-extern', '-mfunction-return=thunk-extern']
KINDS = {
    'gcc': {
        'indirect': ['-mindirect-branch=thunk'],
        'return': ['-mfunction-return=thunk'],
        'both': ['-mindirect-branch=thunk', '-mfunction-return=thunk'],
        'inline': ['-mindirect-branch=thunk-inline', '-mfunction-return=thunk-inline'],
        'inline-only-calls': ['-mindirect-branch=thunk-inline'],
        'inline-registers': ['-mindirect-branch=thunk-inline', '-mfunction-return=thunk-inline',
                             '-mindirect-branch-register'],
        'inline-unoptimised': ['-O0', '-fno-inline', '-mindirect-branch=thunk-inline', '-mfunction-return=thunk-inline'],
        'extern': [*EXTERN, '-mindirect-branch-register', '-DEXTERNAL=RETURNS'],
        'extern-jump': [*EXTERN, '-mindirect-branch-register', '-DEXTERNAL=BY_JUMP'],
        'extern-safe': [*EXTERN, '-mindirect-branch-register', '-DEXTERNAL=BY_JUMP', '-DSAFE'],
        'extern-stuffed': [*EXTERN, '-mindirect-branch-register', '-DEXTERNAL=RETURNS', '-DSTUFFED'],
    },
    'clang': {
        'retpoline': ['-mretpoline'],
        'retpoline-unoptimised': ['-O0', '-mretpoline'],
        'external': ['-mretpoline', '-mretpoline-external-thunk', '-DEXTERNAL=RETURNS'],
    },
}
REGIMES = [([], []), (['clock=host'], []), ([], ['-singlestep'])]


def tree_of(qemu, program, regime, out):
    arguments, options = regime
    if options and qemus.number_of(qemu) >= (8, 1):
        options = ['-one-insn-per-tb']
    plugin = ','.join([paths.plugin('uftrace'), f'output={out}', *arguments])
    done = run([qemu, *options, '-plugin', plugin, program])
    need(done.returncode == 0, f'exit status {done.returncode}: {done.stderr!r}')
    trace = uftrace.Trace(out)
    recordings.check_severe(trace.stats)
    return [line for tid in trace.tids() for line in trace.tree(tid, lambda _, name: name in FUNCTIONS)]


def compile_program(compiler, flags, out):
    must([compiler, *FLAGS, *flags, '-o', out, SOURCE])
    return out


def check(compiler, kind, scratch):
    flags = KINDS[compiler][kind]
    plain = compile_program(compiler, [f for f in flags if f.startswith(('-O', '-fno-inline'))], f'{scratch}/plain')
    program = compile_program(compiler, flags, f'{scratch}/program')
    for qemu, regime in own.runs_of(qemus.users('x86_64'), REGIMES):
        where = f'{kind}, QEMU {qemus.version(qemu)}, {regime}'
        said = own.trees(tree_of(qemu, plain, regime, f'{scratch}/plain.data'))
        seen = own.trees(tree_of(qemu, program, regime, f'{scratch}/program.data'))
        need(said == seen, f'{where}: {own.difference(said, seen)}' if said != seen else '')
        for name in 'plain', 'program':
            must(['rm', '-r', f'{scratch}/{name}.data'])
    print(f'{compiler}, {kind}: good with QEMU {", ".join(map(qemus.version, qemus.users("x86_64")))}')


def main(compiler):
    tool(compiler)
    if os.uname().machine != 'x86_64':
        raise Skip('no compiler of x86_64')
    tally = Tally()
    for kind in KINDS[compiler]:
        with folder(f'thunks-{kind}') as scratch:
            tally.run(f'{compiler}, {kind}', check, compiler, kind, scratch)
    return tally.status()


if __name__ == '__main__':
    sys.exit(status(main, sys.argv[1]))
