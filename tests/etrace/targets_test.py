#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests of 32 bits and big-endian ones, programs and machines: what ran is what QEMU logs of the same
run, and the stream says what the guest is."""
import etrace
import exec_test
import machine_test
from etrace import need, run

GUESTS = {'arm': (40, 32, 0), 'i386': (3, 32, 0), 'x86_64': (62, 64, 0)}


def program(t, arch):
    stream, _ = exec_test.check(t, arch, f'target_{arch}.S', flags=['-nostdlib'])
    exec_test.check_times(stream)
    exec_test.check(t, arch, f'target_{arch}.S', ',flags=exec+mem', flags=['-nostdlib'])
    check_accesses(arch, etrace.read_stream(t.out).of('mem'))


def check_accesses(arch, got):
    """A hundred times a store and a load of it; then stores of each size, and loads.
    QEMU 7.2 does not tell values."""
    told = etrace.tells_values(etrace.tool(f'qemu-{arch}'))
    word = exec_test.MACHINES[arch][1] // 8
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
    return ['-M', 'virt', '-cpu', 'cortex-a15', '-kernel', guest], etrace.symbols(guest)['off'], 0


def board_pc(t):
    rom, at = f'{t.folder}/rom', f'{t.folder}/rom.o'
    need(run([etrace.tool('gcc'), '-m32', '-c', '-o', at,
              f'{etrace.HERE}/guests/rom_i386.S']).status == 0, 'the firmware cannot be assembled')
    done = run([etrace.tool('ld'), '-m', 'elf_i386', '--oformat=binary', '-Ttext=0', '-e', '_start',
                '-o', rom, at])
    need(done.status == 0, done.errors)
    return ['-M', 'pc', '-bios', rom, '-device', 'isa-debug-exit,iobase=0xf4,iosize=4'], \
        0xffff0000 + etrace.symbols(at)['off'], 1


def check(arch, version, qemu, t, board):
    options, off, status = board(t)
    for flags in 'exec', 'exec+mem':
        done = run([qemu, *options, '-m', '64', '-display', 'none', '-monitor', 'none', '-serial',
                    'none', '-nodefaults', '-plugin',
                    f'{etrace.PLUGIN},output={t.out},flags={flags}', '-d', 'in_asm,exec,nochain,int',
                    '-D', t.log])
        need(done.status == status, 'status', done.status, done.errors)
        stream = etrace.read_stream(t.out)
        need((stream.guest.machine, stream.guest.bits, stream.guest.big) == GUESTS[arch], 'ARCH',
             stream.guest)
        log = etrace.Log(t.log)
        need(len(log.ran) > 300, 'QEMU logs too little')
        wrong = etrace.same_instructions(stream, log, off)
        need(not wrong, flags, wrong)
    stores = [m for m in stream.of('mem') if m.write]
    need(len(stores) > 150 and {m.vaddr == m.paddr for m in stores} == {True}, len(stores), 'stores')
    if version >= machine_test.TELLS_VALUES:
        values = [m.value for m in stores if m.size == 4]
        need(values[-100:] == list(range(100, 0, -1)), 'values', values[-100:])


def test_machine_arm(t):
    machine_test.each('arm', check, t, board_arm)


def test_machine_i386(t):
    machine_test.each('i386', check, t, board_pc)


def test_machine_x86_64(t):
    machine_test.each('x86_64', check, t, board_pc)


if __name__ == '__main__':
    etrace.main(globals())
