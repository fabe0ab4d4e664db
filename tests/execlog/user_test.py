#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upstream's texts in user mode. They are QEMU 10.2's; Debian 12's QEMU 7.2 differs from it, with its
own plugin as with ours, in three ways, which as_7_2() makes of them:

- riscv64: a disassembly begins with the encoding, four or eight hex digits padded to 18 columns;
- riscv64: the immediate of lui and auipc is shown shifted, 4096 for 1;
- aarch64: stp and ldp make two accesses of 8 bytes, not one of 16.
"""
import re

import execlog
from execlog import CPUS, LINE, STATUS, arguments, etrace, log, need, same, upstream, zoo

SHIFTED = re.compile(r'((?:lui|auipc) +\w+,)(-?\d+)')


def qemu(cpu):
    path = etrace.takes_plugins(etrace.tool(f'qemu-{cpu}'))
    said = execlog.run([path, '--version']).out.decode()
    if not re.search(r'version 7\.2', said):
        raise etrace.Skip(f'{path} is not QEMU 7.2')
    return path


def shifted(words):
    """A comment after it begins in column 48, or after what reaches further."""
    m = SHIFTED.match(words)
    if not m:
        return words
    operands, comment, after = (words[24:].partition('#') + ('', ''))[:3]
    operands = f'{m[1]}{int(m[2]) << 12}'[24:]
    return words[:24] + (operands.ljust(24) if comment else operands) + comment + after


def line_as_7_2(cpu, line):
    vcpu, pc, opcode, words, rest = LINE.match(line).groups()
    if cpu == 'riscv64':
        wide = int(opcode, 16) & 3 == 3
        words = f'{int(opcode, 16):0{8 if wide else 4}x}'.ljust(18) + shifted(words)
    if cpu == 'aarch64' and words.startswith(('stp', 'ldp')):
        rest = re.sub(r', (store|load), 0x([0-9a-f]+)',
                      lambda m: f'{m[0]}, {m[1]}, 0x{int(m[2], 16) + 8:08x}', rest)
    return f'{vcpu}, 0x{pc}, 0x{opcode}, "{words}"{rest}'


def as_7_2(cpu, text):
    return ''.join(line_as_7_2(cpu, line) + '\n' for line in text.splitlines())


def check(t, cpu, kind, given=None):
    text = log(t, qemu(cpu), arguments(kind, cpu) if given is None else given, zoo(cpu),
               status=STATUS)
    same(text, as_7_2(cpu, upstream(cpu, kind)), cpu, kind)


def test_plain(t):
    for cpu in CPUS:
        check(t, cpu, 'plain')


def test_ifilter(t):
    for cpu in 'aarch64', 'x86_64':
        check(t, cpu, 'ifilter')


def test_ifilter_riscv(t):
    """By the encoding, with which 7.2's disassembly begins; no disassembly begins with ld."""
    lines = upstream('riscv64', 'ifilter').splitlines()
    codes = {f'ifilter={int(LINE.match(line)[3], 16):04x} ' for line in lines}
    check(t, 'riscv64', 'ifilter', sorted(codes))
    text = log(t, qemu('riscv64'), arguments('ifilter', 'riscv64'), zoo('riscv64'), status=STATUS)
    same(text, '\n', 'no line but the end\'s')


def test_afilter(t):
    for cpu in CPUS:
        check(t, cpu, 'afilter')
    check(t, 'x86_64', 'afilter', ['afilter=0x40103B', 'afilter=1'])


def test_one_insn_per_block(t):
    """The text does not depend on how code is cut into blocks."""
    for cpu in CPUS:
        text = log(t, qemu(cpu), [], zoo(cpu), status=STATUS, options=['-singlestep'])
        same(text, as_7_2(cpu, upstream(cpu, 'plain')), cpu)


def test_files(t):
    """out=FILE has what the log has."""
    for cpu in CPUS:
        text = log(t, qemu(cpu), [f'out={t.out}'], zoo(cpu), status=STATUS)
        need(text == '', 'the log has', text[:100])
        same(execlog.read(t.out), as_7_2(cpu, upstream(cpu, 'plain')), cpu)


if __name__ == '__main__':
    execlog.main(globals())
