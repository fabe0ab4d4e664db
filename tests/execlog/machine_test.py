#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upstream's texts on machines, with registers where QEMU can: the same code at the same virtual
addresses (guests/zoo_*.S), on each QEMU. What differs from upstream's text, as_machine():

- an access is physical and says RAM; on aarch64 and riscv64 RAM begins at 0x40000000 and 0x80000000;
- pc is not watched: machines keep it up to date in other places than programs do;
- QEMU 7.2 differs as it does in user mode (user_test.py);
- with capstone 5 (Debian 13's QEMUs) it is mov, and the value, for aarch64's movz and movn: decimal below
  10, else hex.
"""
import re
import struct

import execlog
from execlog import CPUS, PLUGIN, arguments, etrace, need, run, same, upstream, zoo
from user_test import line_as_7_2

RAM = {'aarch64': 1 << 30, 'riscv64': 2 << 30, 'x86_64': 0}
BOARD = {'aarch64': ['-M', 'virt', '-cpu', 'cortex-a57', '-kernel'],
         'riscv64': ['-M', 'virt', '-bios', 'none', '-kernel'],
         'x86_64': ['-M', 'q35', '-no-reboot', '-bios']}
TEXT_AT = {'aarch64': 0x48000000, 'riscv64': 0x80000000}
QUIET = ['-m', '256', '-display', 'none', '-monitor', 'none', '-serial', 'none', '-nodefaults']


def code_of(cpu):
    """The program's code: address, bytes."""
    with open(zoo(cpu), 'rb') as f:
        elf = f.read()
    at, = struct.unpack_from('<Q', elf, 0x20)
    n, = struct.unpack_from('<H', elf, 0x38)
    for i in range(n):
        kind, flags, offset, vaddr, _, size = struct.unpack_from('<IIQQQQ', elf, at + 56 * i)
        if kind == 1 and flags & 1:
            return vaddr, elf[offset:offset + size]
    raise etrace.Failure('no code')


def entry(cpu):
    with open(zoo(cpu), 'rb') as f:
        return struct.unpack_from('<Q', f.read(), 0x18)[0]


def build(t, cpu):
    vaddr, code = code_of(cpu)
    binary, out = f'{t.folder}/zoo.bin', f'{t.folder}/zoo-{cpu}'
    start = entry(cpu)
    with open(binary, 'wb') as f:
        f.write(code[start - vaddr:])
    compiler = etrace.tool(etrace.COMPILERS[cpu][0])
    source = f'{execlog.HERE}/guests/zoo_{cpu}.S'
    flags = ['-nostdlib', '-static', f'-DZOO="{binary}"', f'-DZOO_AT={start:#x}', source]
    if cpu == 'x86_64':
        done = run([compiler, *flags, '-c', '-o', out + '.o'])
        need(done.status == 0, done.errors)
        done = run([etrace.tool('ld'), '--oformat=binary', '-Ttext=0', '-o', out, out + '.o'])
    else:
        done = run([compiler, *flags, f'-Wl,-Ttext={TEXT_AT[cpu]:#x}',
                    f'-Wl,--section-start=.zoo={RAM[cpu] + start:#x}', '-o', out])
    need(done.status == 0, done.errors)
    return out


def play(t, cpu, qemu, guest, given, *options):
    done = run([qemu, *BOARD[cpu], guest, *QUIET, '-plugin', ','.join([PLUGIN, *given]), '-d',
                'plugin', '-D', t.log, *options])
    need(done.status == 0, f'status {done.status}:', done.errors)
    need(not done.said, done.said)
    return execlog.read(t.log)


def of_zoo(cpu, text):
    vaddr, code = code_of(cpu)
    lines = []
    for line in text.splitlines():
        m = execlog.LINE.match(line)
        if m and vaddr <= int(m[2], 16) < vaddr + len(code):
            lines.append(line + '\n')
    return ''.join(lines)


MOVE = re.compile(r'"mov([zn]) (\w+), #(\w+)"')


def as_mov(m):
    value = int(m[3], 0) if m[1] == 'z' else ~int(m[3], 0)
    return f'"mov {m[2]}, #{value if abs(value) < 10 else hex(value)}"'


def as_machine(cpu, version, text):
    out = []
    for line in text.splitlines():
        line = re.sub(r', pc -> 0x[0-9a-f]+', '', line)
        if version < (10, 0):
            line = line_as_7_2(cpu, line)
        if cpu == 'aarch64':
            line = MOVE.sub(as_mov, line)
        out.append(re.sub(r', (load|store), 0x([0-9a-f]+)',
                          lambda m: f', {m[1]}, 0x{int(m[2], 16) + RAM[cpu]:08x}, RAM', line) + '\n')
    return ''.join(out)


def check(t, kind, least=(0, 0)):
    found = 0
    for cpu in CPUS:
        guest = build(t, cpu)
        for version, qemu in etrace.machines(cpu):
            if version < least:
                continue
            given = [a for a in arguments(kind, cpu) if a != 'reg=pc']
            text = play(t, cpu, qemu, guest, given)
            if cpu == 'aarch64':
                text = MOVE.sub(as_mov, text)
            same(of_zoo(cpu, text), as_machine(cpu, version, upstream(cpu, kind)), cpu, version, kind)
            found += 1
    if not found:
        raise etrace.Skip('no such QEMU')


def test_plain(t):
    check(t, 'plain')


def test_afilter(t):
    check(t, 'afilter')


def test_ifilter(t):
    check(t, 'ifilter', (9, 0))


def test_reg(t):
    check(t, 'reg', (9, 0))


def test_rdisas(t):
    check(t, 'rdisas', (9, 0))


def test_ifilter_reg(t):
    check(t, 'ifilter-reg', (9, 0))


if __name__ == '__main__':
    execlog.main(globals())
