#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests of 32 bits and big-endian ones, programs and machines: what ran is what QEMU logs of the same
run, and the stream says what the guest is."""
from gttest import elf, qemulog, qemus
from gttest.commands import tool
from gttest.results import need
from runs import MACHINES, SMALL, board_pc, check_program, check_times, each, main


def program(t, arch):
    stream, _ = check_program(t, arch, f'target_{arch}.S', flags=['-nostdlib'])
    check_times(stream)
    check_program(t, arch, f'target_{arch}.S', ',flags=exec+mem', flags=['-nostdlib'])
    check_accesses(arch, t.stream().of('mem'))


def check_accesses(arch, got):
    """A hundred times a store and a load of it; then stores of each size, and loads.
    QEMU 7.2 does not tell values."""
    told = qemus.tells_values(tool(f'qemu-{arch}'))
    word = MACHINES[arch][1] // 8
    known = [(stores, word, 0) for _ in range(100) for stores in (True, False)]
    if arch != 'arm':
        known += [(stores, size, at) for stores in (True, False)
                  for size, at in ((1, 0), (2, 2), (4, 4), (8, 8)) if size <= word]
    need(len(got) == len(known), len(got), 'accesses')
    for i, (m, (write, size, at)) in enumerate(zip(got, known)):
        base = got[0].vaddr if i < 200 else got[200].vaddr
        need((m.write, m.size, m.vaddr - base) == (write, size, at), 'access', i, m)
        need(m.paddr == m.vaddr and (told or m.value == 0), 'access', i, m)


def test_arm(t):
    program(t, 'arm')


def test_mips(t):
    program(t, 'mips')


def test_ppc64(t):
    program(t, 'ppc64')


def test_s390x(t):
    program(t, 's390x')


def board_arm(t):
    guest = t.build('machine_arm.S', 'arm', '-nostdlib', '-Wl,--image-base=0x42000000')
    return ['-M', 'virt', '-cpu', 'cortex-a15', '-kernel', guest], elf.symbols(guest)['off'], 0


def check(arch, version, qemu, t, board):
    options, off, status = board(t)
    for flags in 'exec', 'exec+mem':
        done = t.run([qemu, *options, *SMALL, '-nodefaults', '-plugin', t.word(f'output={t.out}', f'flags={flags}'),
                      '-d', 'in_asm,exec,nochain,int', '-D', t.log])
        need(done.status == status, 'status', done.status, done.errors)
        stream = t.stream()
        need((stream.guest.machine, stream.guest.bits, stream.guest.big) == MACHINES[arch], 'ARCH',
             stream.guest)
        log = qemulog.Log(t.log)
        need(len(log.ran) > 300, 'QEMU logs too little')
        wrong = qemulog.difference(stream, log, off)
        need(not wrong, flags, wrong)
    stores = [m for m in stream.of('mem') if m.write]
    need(len(stores) > 150 and {m.vaddr == m.paddr for m in stores} == {True}, len(stores), 'stores')
    if version >= qemus.TELLS_VALUES:
        values = [m.value for m in stores if m.size == 4]
        need(values[-100:] == list(range(100, 0, -1)), 'values', values[-100:])


def test_machine_arm(t):
    each('arm', check, t, board_arm)


def test_machine_i386(t):
    each('i386', check, t, board_pc)


def test_machine_x86_64(t):
    each('x86_64', check, t, board_pc)


if __name__ == '__main__':
    main(globals())
