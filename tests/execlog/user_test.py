#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upstream's texts in user mode, as QEMU 7.2 has them: see runs.py."""
from gttest import qemus
from gttest.results import need, read_text, same
from runs import CPUS, LINE, STATUS, arguments, as_7_2, main, qemu_7_2, upstream, zoo


def check(t, cpu, kind, given=None):
    text = t.logged(qemu_7_2(cpu), arguments(kind, cpu) if given is None else given, zoo(cpu),
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
    text = t.logged(qemu_7_2('riscv64'), arguments('ifilter', 'riscv64'), zoo('riscv64'), status=STATUS)
    same(text, '\n', 'no line but the end\'s')


def test_afilter(t):
    for cpu in CPUS:
        check(t, cpu, 'afilter')
    check(t, 'x86_64', 'afilter', ['afilter=0x40103B', 'afilter=1'])


def test_one_insn_per_block(t):
    """The text does not depend on how code is cut into blocks."""
    for cpu in CPUS:
        text = t.logged(qemu_7_2(cpu), [], zoo(cpu), status=STATUS, options=['-singlestep'])
        same(text, as_7_2(cpu, upstream(cpu, 'plain')), cpu)


def test_files(t):
    """out=FILE has what the log has."""
    for cpu in CPUS:
        text = t.logged(qemu_7_2(cpu), [f'out={t.out}'], zoo(cpu), status=STATUS)
        need(text == '', 'the log has', text[:100])
        same(read_text(t.out), as_7_2(cpu, upstream(cpu, 'plain')), cpu)


def test_as_upstream(t):
    """A QEMU whose disassembler and registers are those of upstream's texts has the texts themselves."""
    for cpu in CPUS:
        qemu = qemus.user(cpu)
        if qemus.number_of(qemu) < (10, 0):
            return
        for kind in ('plain', 'ifilter', 'afilter', 'reg', 'rdisas', 'ifilter-reg'):
            text = t.logged(qemu, arguments(kind, cpu), zoo(cpu), status=STATUS)
            same(text, upstream(cpu, kind), cpu, kind)


if __name__ == '__main__':
    main(globals())
