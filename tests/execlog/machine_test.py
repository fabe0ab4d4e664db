#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upstream's texts on machines, with registers where QEMU can: the same code at the same virtual
addresses (guests/zoo_*.S), on each QEMU. What differs from upstream's text, as_machine():

- an access is physical and says RAM; on aarch64 and riscv64 RAM begins at 0x40000000 and 0x80000000;
- pc is not watched: machines keep it up to date in other places than programs do;
- QEMU 7.2 differs as it does in user mode (runs.py);
- with capstone 5 (Debian 13's QEMUs) it is mov, and the value, for aarch64's movz and movn: decimal below
  10, else hex.
"""
import collections
import re

from gttest import boards, elf, paths, qemus
from gttest.compilers import compile_to
from gttest.results import Skip, need, read_text, same, write
from runs import CPUS, LINE, QUIET, arguments, in_manner, line_as_7_2, main, upstream, zoo

UNWATCHED = 'accesses of what ends a block'
RAM = {'aarch64': 1 << 30, 'riscv64': 2 << 30, 'x86_64': 0}
BOARD = {'aarch64': ['-M', 'virt', '-cpu', 'cortex-a57', '-kernel'],
         'riscv64': ['-M', 'virt', '-bios', 'none', '-kernel'],
         'x86_64': ['-M', 'q35', '-cpu', 'max', '-no-reboot', '-bios']}
TEXT_AT = {'aarch64': 0x48000000, 'riscv64': 0x80000000}


def build(t, cpu):
    vaddr, code = elf.code_of(zoo(cpu))
    start, out = elf.read(zoo(cpu)).entry, f'{t.folder}/zoo-{cpu}'
    binary = write(f'{t.folder}/zoo.bin', code[start - vaddr:])
    source = f'{t.guests}/zoo_{cpu}.S'
    flags = ['-nostdlib', '-static', f'-I{paths.START}', f'-DZOO="{binary}"', f'-DZOO_AT={start:#x}']
    if cpu == 'x86_64':
        return boards.build(cpu, 'zoo', t.folder, [source], *flags[2:]).image
    return compile_to(out, cpu, source, *flags, f'-Wl,-Ttext={TEXT_AT[cpu]:#x}',
                      f'-Wl,--section-start=.zoo={RAM[cpu] + start:#x}')


def play(t, cpu, qemu, guest, given, *options):
    done = t.run([qemu, *BOARD[cpu], guest, '-m', '256', *QUIET, '-plugin', t.word(*given), '-d',
                  'plugin', '-D', t.log, *options])
    need(done.status == 0, f'status {done.status}:', done.errors)
    need(all(UNWATCHED in line for line in done.said), done.said)
    return read_text(t.log)


def of_zoo(cpu, text):
    vaddr, code = elf.code_of(zoo(cpu))
    lines = []
    for line in text.splitlines():
        m = LINE.match(line)
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
        if cpu == 'x86_64' and version < (9, 0) and LINE.match(line)[4].startswith(('call', 'ret', 'jmp', 'syscall')):
            line = re.sub(r', (load|store), 0x[0-9a-f]+', '', line)
        out.append(re.sub(r', (load|store), 0x([0-9a-f]+)',
                          lambda m: f', {m[1]}, 0x{int(m[2], 16) + RAM[cpu]:08x}, RAM', line) + '\n')
    return ''.join(out)


def check(t, kind, turn=None, least=(0, 0)):
    """turn: not on each QEMU, but by turns."""
    found = 0
    for n, cpu in enumerate(CPUS):
        guest = build(t, cpu)
        those = [(version, qemu) for version, qemu in qemus.machines(cpu) if version >= least]
        for version, qemu in those if turn is None else qemus.by_turns(those, turn + n):
            given = [a for a in arguments(kind, cpu) if a != 'reg=pc']
            text = play(t, cpu, qemu, guest, given)
            if cpu == 'aarch64':
                text = MOVE.sub(as_mov, text)
            same(of_zoo(cpu, text), as_machine(cpu, version, in_manner(version >= (11, 1), kind, upstream(cpu, kind))), cpu, version, kind)
            found += 1
    if not found:
        raise Skip('no such QEMU')


def test_plain(t):
    check(t, 'plain')


def test_afilter(t):
    check(t, 'afilter', 0)


def test_ifilter(t):
    check(t, 'ifilter', 0, (9, 0))


def test_reg(t):
    check(t, 'reg', 1, (9, 0))


def test_rdisas(t):
    check(t, 'rdisas', 0, (9, 0))


def test_ifilter_reg(t):
    check(t, 'ifilter-reg', 1, (9, 0))


CALLS = 4000  # of a round of guests/interrupted.c


def check_interrupted(t, version, qemu, machine, given):
    """`call` stores once, `ret` loads once, and `iretq` stores nothing: what an interrupt stores is of no instruction. Where
    QEMU tells these apart too late, their lines have no accesses, which is said."""
    done = t.run(machine.command(qemu, '-accel', 'tcg,tb-size=1', '-plugin', t.word(f'out={t.out}', *given)))
    need(done.status == 0, version, done.errors)
    seen = collections.Counter()
    for line in read_text(t.out).splitlines():
        word = LINE.match(line)[4].split()[0]
        if word in ('call', 'callq', 'ret', 'retq', 'iretq'):
            load, store = line.count(' load,'), line.count(' store,')
            seen[word[:3], (load > 0) if word == 'iretq' else load, store] += 1
    tells = version >= (9, 0)
    want = {('cal', 0, 1), ('ret', 1, 0), ('ire', True, 0)} if tells else {(w, 0, 0) for w in ('cal', 'ret', 'ire')}
    need({(k[0], int(k[1]), k[2]) for k in seen} == {(k[0], int(k[1]), k[2]) for k in want}, version, given, seen)
    need(seen['cal', 0, int(tells)] >= 6 * CALLS, version, seen)
    need(len([line for line in done.said if UNWATCHED in line]) == (not tells), version, done.said)


def test_interrupted(t):
    machine = boards.build_kernel('x86_64', t.folder, f'{t.guests}/interrupted.c')
    for version, qemu in qemus.machines('x86_64'):
        for given in [], ['ifilter=call', 'ifilter=ret', 'ifilter=iret']:
            check_interrupted(t, version, qemu, machine, given)


if __name__ == '__main__':
    main(globals())
