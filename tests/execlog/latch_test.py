#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters and watched registers in one block, on every version of the plugin ABI that can: which lines
there are, and on which one a change is shown.

A block of five instructions runs twice, and one of two after it (tests/host/plan.c). Where registers
are watched, the last thing that was logged is logged once more at the end, if it was complete, before QEMU 11.1.
"""
from gttest.results import need, same, write
from gttest.scripted import VERSIONS
from runs import dump, main

REGISTERS = ['r0', 'R1', 'r10']
CODE = ['mov r0, 1', 'add r1, r0', 'mov r1, 2', 'push r1', 'jump', 'inc', 'ret']
BLOCK = '0:s:0 {0:#x} 1:s:1 {1:#x} 2:s:1 {2:#x} 3:w:0x400800 4:s:2 {3:#x}'
RUNS = [(1, 1, 2, 5), (1, 3, 2, 6)]


def plan(t):
    path = f'{t.folder}/plan'
    out = ['target riscv64', 'memory 0x400000 0x1000 any']
    out += [f'words {0x400100 + i:#x} 1 {0x10 + i}' for i in range(len(CODE))]
    out += [f'insn {0x400100 + i:#x} 1 {words}' for i, words in enumerate(CODE)]
    out += [f'reg {name} 2' for name in REGISTERS] + ['vcpu 0']
    out += [f'tb 0 5 -1 {BLOCK.format(*run)}' for run in RUNS]
    out += ['tb 5 2 -1 0:s:0 0x7fff 1:r:0x400800']
    return write(path, '\n'.join(out) + '\n')


def lines(*wanted):
    """(number of the instruction, what follows)"""
    return ''.join(f'0, 0x{0x400100 + i:x}, 0x{0x10 + i:x}, "{CODE[i]}"{rest}\n' if i is not None
                   else '\n' for i, rest in wanted)


def check(t, given, *wanted, versions=tuple(VERSIONS), end=()):
    """`end`: what else there is at the end, before QEMU 11.1."""
    path, always = plan(t), wanted
    for version in versions:
        wanted = always + (tuple(end) if int(version) < 7 else ())
        text, done = t.play(path, version, given)
        need(not done.said, done.said)
        same(text, lines(*wanted), 'version', version, *given)
        t.play(path, version, [*given, 'format=binary', f'out={t.out}'])
        same(dump(t.out), lines(*wanted), 'binary, version', version, *given)


STORE, LOAD = ', store, 0x00400800', ', load, 0x00400800'
WITH_REGISTERS = tuple(VERSIONS[1:])


def test_prefix_twice_in_a_block(t):
    """Both, each time, and nothing after them."""
    check(t, ['ifilter=mov'], (0, ''), (2, ''), (0, ''), (2, ''))


def test_prefixes(t):
    check(t, ['ifilter=pu', 'ifilter=add'], (1, ''), (3, STORE), (1, ''), (3, STORE))
    check(t, ['ifilter=Mov'], end=[(None, '')])


def test_first_of_a_block(t):
    check(t, ['afilter=400100'], (0, ''), (0, ''))


def test_last_of_a_block(t):
    check(t, ['afilter=0x400104', 'afilter=400106'], (4, ''), (4, ''), (6, LOAD))


def test_first_and_last(t):
    check(t, ['afilter=400100', 'afilter=400104'], (0, ''), (4, ''), (0, ''), (4, ''))


def test_both_filters(t):
    check(t, ['afilter=400103', 'ifilter=j'], (3, STORE), (4, ''), (3, STORE), (4, ''))


def test_registers(t):
    """In the host's order, lower case, as wide as they are; one as often as globs match it."""
    check(t, ['reg=R?', 'reg=*1'], (0, ', r0 -> 0x0001'), (1, ', r1 -> 0x0001, r1 -> 0x0001'),
          (2, ', r1 -> 0x0002, r1 -> 0x0002'), (3, STORE), (4, ''),
          (0, ''), (1, ', r1 -> 0x0003, r1 -> 0x0003'), (2, ', r1 -> 0x0002, r1 -> 0x0002'),
          (3, STORE), (4, ''), (5, ', r0 -> 0x7fff'), (6, LOAD), versions=WITH_REGISTERS)


def test_change_by_what_is_not_logged(t):
    """Instruction 1 is not: its change of r1 is on the line of 2, if that does not take it back."""
    check(t, ['reg=r1', 'reg=r0', 'ifilter=mov'], (0, ', r0 -> 0x0001'), (2, ', r1 -> 0x0002'),
          (0, ''), (2, ''), versions=WITH_REGISTERS, end=[(2, '')])
    check(t, ['reg=r1', 'afilter=400100', 'afilter=400103'], (0, ''), (3, STORE + ', r1 -> 0x0002'),
          (0, ''), (3, STORE), versions=WITH_REGISTERS, end=[(3, STORE)])


def test_rdisas(t):
    """Registers are looked at where a block begins, and after what names
    one: what jump did to r10 is seen where the next block begins, what inc did never."""
    check(t, ['reg=r0', 'rdisas=on'],
          (0, ', r0 -> 0x0001'), (1, ''), (2, ''), (3, STORE), (4, ''),
          (0, ''), (1, ''), (2, ''), (3, STORE), (4, ''), (5, ''), (6, LOAD),
          versions=WITH_REGISTERS)
    check(t, ['reg=r10', 'rdisas=on'],
          (0, ''), (1, ''), (2, ''), (3, STORE), (4, ', r10 -> 0x0005'),
          (0, ''), (1, ''), (2, ''), (3, STORE), (4, ', r10 -> 0x0006'), (5, ''), (6, LOAD),
          versions=WITH_REGISTERS)


def test_rdisas_with_filter(t):
    """What names a watched register is logged, too; after it, registers are looked at."""
    check(t, ['reg=r0', 'rdisas=on', 'afilter=400104'],
          (0, ', r0 -> 0x0001'), (1, ''), (4, ''), (0, ''), (1, ''), (4, ''),
          versions=WITH_REGISTERS, end=[(4, '')])


def test_no_such_register(t):
    path = plan(t)
    for given, word in (['reg=r9'], 'r9'), (['reg=r0', 'reg=x*'], 'x*'), (['reg=pc'], 'pc'):
        _, done = t.play(path, '4', given, 1)
        need(done.said == [f'argument reg={word}: the CPU has no register of such a name'], done)
    text, done = t.play(path, '4', ['reg=pc', 'reg=r0', 'afilter=400105'])
    need(not done.said, done.said)
    same(text, lines((5, ', r0 -> 0x7fff'), (5, ', r0 -> 0x7fff')), 'a pc of another name')


if __name__ == '__main__':
    main(globals())
