#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The ranges of a stream, expanded, are the instructions that libexeclog.so logs of the same run.

Where an instruction ends is what its opcode says; on x86 it is what objdump says of the program, or
QEMU's own disassembly of the run, for a machine."""
import re

from gttest import elf, etrace, execlog, paths, qemulog, qemus
from gttest.commands import printed, tool
from gttest.results import need
from runs import BOARDS, SMALL, board_pc, each, main

HANDLERS = {'aarch64': 'handlers', 'riscv64': 'skip'}
OBJDUMP = re.compile(r' *([0-9a-f]+):\t((?:[0-9a-f]{2} )+)')
HALVES = ('aarch64', 'arm', 'riscv64')  # whose opcodes are numbers, of 4 bytes at most


class Words(dict):
    """What did not run has no line: the rest of a block whose store cut the power."""

    def __missing__(self, at):
        return at + 4

    def __contains__(self, at):
        return True


class Logged:
    def __init__(self, path, arch):
        """`ran`: (vCPU, address) of each instruction; `following`: where one ends. An opcode is its
        bytes, or a number: of one with 4 digits or less 2 bytes, where there are such."""
        self.ran, self.following = [], {}
        with open(path, encoding='utf-8') as f:
            for line in f:
                found = execlog.LINE.match(line)
                need(found, 'a line', line)
                vcpu, at = int(found[1]), int(found[2], 16)
                self.ran.append((vcpu, at))
                self.following[at] = at + self.size(found[3], arch)

    @staticmethod
    def size(opcode, arch):
        if arch == 'aarch64':
            return 4
        return 2 if arch in HALVES and int(opcode, 16) & 3 != 3 else 4 if arch in HALVES else 0


def ranges_expanded(stream, logged, handlers):
    """(unit, address) of each instruction. QEMU before 10.2 does not tell that an exception leaves a
    block: the rest of an entry is left out where execlog goes on in one of the handlers."""
    out = []
    for e in stream.of('exec'):
        for at in etrace.expand([e], logged.following):
            following = logged.ran[len(out):len(out) + 1]
            if following and following[0][1] in handlers and at not in handlers:
                break
            out.append((e.unit, at))
    return out


def compare(stream, logged, last=None, handlers=()):
    got, want = ranges_expanded(stream, logged, handlers), logged.ran
    if last is not None:
        got, want = ([x for x in y[:1 + [a for _, a in y].index(last)]] for y in (got, want))
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    need(got == want, len(got), 'instructions, execlog says', len(want), '; from number', at,
         [hex(a) for _, a in got[at:at + 4]], 'execlog', [hex(a) for _, a in want[at:at + 4]])
    need(len(want) > 100, 'too little')


def both(t, arguments=''):
    return ['-plugin', t.word(f'output={t.out}') + arguments, '-plugin',
            f'{paths.plugin("execlog")},out={t.log}']


def program(t, arch):
    qemu = qemus.user(arch)
    guest = t.build('sums.c', arch, '-O1')
    done = t.run([qemu, *both(t), guest])
    need(done.status == 42, done.errors)
    logged = Logged(t.log, arch)
    if arch == 'x86_64':
        logged.following = disassembled(guest)
    compare(t.stream(), logged)


def disassembled(path):
    """Where each instruction of a program ends."""
    found = (OBJDUMP.match(line) for line in printed([tool('objdump'), '-d', '-w', path]).splitlines())
    return {int(f[1], 16): int(f[1], 16) + len(f[2].split()) for f in found if f}


def test_program_x86_64(t):
    program(t, 'x86_64')


def test_program_aarch64(t):
    program(t, 'aarch64')


def test_program_riscv64(t):
    program(t, 'riscv64')


def check(arch, version, qemu, t):
    if version < (10, 0):
        return
    guest = t.guest('machine', arch)
    done = t.run([qemu, *BOARDS[arch], *SMALL, '-kernel', guest, *both(t)])
    need(done.status == 0, done.errors)
    logged = Logged(t.log, arch)
    logged.following = Words(logged.following)
    names, faults = elf.symbols(guest), version < qemus.TELLS_EXCEPTIONS
    first = names[HANDLERS[arch]]
    handlers = range(first, first + 0x800, 0x80) if arch == 'aarch64' else [first]
    compare(t.stream(), logged, names.get('off'), handlers if faults else ())


def check_pc(_, version, qemu, t):
    """Real mode, then protected mode."""
    options, off, status = board_pc(t)
    said = f'{t.folder}/said'
    done = t.run([qemu, *options, *SMALL,
                '-nodefaults', *both(t), '-d', 'in_asm', '-D', said])
    need(done.status == status, version, done.errors)
    logged = Logged(t.log, 'x86_64')
    logged.following = qemulog.Log(said).following
    compare(t.stream(), logged, off)


def test_machine_x86_64(t):
    each('x86_64', check_pc, t)


def test_machine_aarch64(t):
    each('aarch64', check, t)


def test_machine_riscv64(t):
    each('riscv64', check, t)


main(globals())
