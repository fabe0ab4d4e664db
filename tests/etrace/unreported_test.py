#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions whose accesses QEMU does not report are counted in the stream, by kind: so many more of them as the guest runs
more. Kinds of which an access was reported are not there."""
from gttest import paths, qemus
from gttest.commands import run
from gttest.compilers import compile_to
from gttest.results import Skip, need, skip
from runs import SMALL, board_pc, each, main

# How many instructions of the kind a round has.
KINDS = {
    'aarch64': {'zero-line': 1, 'memory-set': 3, 'memory-copy': 3, 'sve-gather': 2},
    'riscv64': {'zero-line': 1},
    'x86_64': {'x87-80-bits': 3, 'x87-state': 2, 'fxsave': 2, 'xsave': 1},
}


def counted(t, qemu, program, kind, rounds):
    """(count or None, whether an access to what the kind touches was reported, standard error)"""
    done = run([qemu, '-cpu', 'max', '-plugin', f'{paths.plugin("etrace")},output={t.out},flags=exec+mem', program, kind, str(rounds)])
    if done.returncode == -4 or b'unable to find CPU model' in done.stderr:
        return None  # this QEMU has no such instruction
    need(done.returncode == 0, done)
    found = [e.value for e in t.stream().of('event') if (e.device, e.name) == ('etrace', f'unreported.{kind}')]
    need(len(found) <= 1, found)
    need(bool(found) == (f'{kind}: ' in done.stderr.decode()), done.stderr)
    return found[0] if found else 0


def check(t, arch):
    program = f'{t.folder}/unreported'
    compile_to(program, arch, paths.source('etrace', 'guests', 'unreported.c'), '-O1', '-static')
    versions = {}
    for find in qemus.user_with_registers, qemus.user:
        try:
            versions.setdefault(qemus.version(find(arch)), find(arch))
        except Skip as why:
            skip(str(why))
    for version, qemu in versions.items():
        for kind, each in KINDS[arch].items():
            none, some = counted(t, qemu, program, kind, 0), counted(t, qemu, program, kind, 7)
            if some is None:
                continue
            old_x86 = arch == 'x86_64' and qemus.number(version) < (9, 0)  # it reports them
            need(some - none == (0 if old_x86 else 7 * each), version, kind, none, some)


def test_aarch64(t):
    check(t, 'aarch64')


def test_riscv64(t):
    check(t, 'riscv64')


def test_x86_64(t):
    check(t, 'x86_64')


def check_block_ends(arch, version, qemu, t):
    """100 calls and returns of a PC's firmware, and at most 10 others that end blocks and jump to no fixed place. QEMU 7.2 would
    call the callbacks of what ended a block for the stores of an interrupt."""
    options, _, status = board_pc(t)
    done = run([qemu, *options, *SMALL, '-plugin', f'{paths.plugin("etrace")},output={t.out},flags=exec+mem'])
    need(done.returncode == status, version, done)
    found = [e.value for e in t.stream().of('event') if e.name == 'unreported.block-end']
    need(len(found) == 1 and 200 <= found[0] <= 210 if version < (8, 0) else not found, version, found)


def test_block_ends(t):
    each('x86_64', check_block_ends, t)


main(globals())
