#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine of three vCPUs, and of one (guests/vcpus_riscv64.S), on each QEMU: registers of each vCPU,
the order of lines where one thread runs all, functions of an ELF file."""
import re

from gttest import elf, qemus
from gttest.results import Skip, need, read_text, same
from runs import LINE, RISCV_BUILD, RISCV_MACHINE, dump, main, window, within

HARTS, CALLS, TURNS = 3, 10, 20
RAM = 0x80000000
WRONG = 'reports the wrong vCPU'


def build(t, harts, at=RAM):
    return t.build('vcpus_riscv64.S', 'riscv64', *RISCV_BUILD, f'-Wl,-Ttext={at:#x}', f'-DHARTS={harts}',
                   name=f'vcpus-{harts}-{at:x}')


def play_and_say(t, qemu, guest, given, *options):
    """The text, and that of the binary form; what each run said."""
    said = []
    for form in 'text', 'binary':
        done = t.run([qemu, *RISCV_MACHINE, *options, '-kernel', guest, '-plugin',
                    t.word(f'out={t.folder}/{form}', f'format={form}', *given)])
        need(done.status == 0, done)
        said.append(done.said)
    return (read_text(f'{t.folder}/text'), dump(f'{t.folder}/binary')), said


def play(t, qemu, guest, given, *options):
    texts, said = play_and_say(t, qemu, guest, given, *options)
    need(said == [[], []], said)
    return texts


def of_code(text):
    """Without what is before the kernel."""
    return [line for line in text.splitlines(keepends=True)
            if line != '\n' and int(LINE.match(line)[2], 16) >= RAM]


def without(pc, text):
    return [line for line in of_code(text) if int(LINE.match(line)[2], 16) != pc]


def test_registers(t):
    guest = build(t, HARTS)
    work = elf.symbols(guest)['work']
    found = 0
    for version, qemu in qemus.machines('riscv64'):
        if version < (9, 0):
            continue
        found += 1
        for text in play(t, qemu, guest, ['reg=s2'], '-smp', str(HARTS), '-accel', 'tcg,thread=multi'):
            counts = {n: [] for n in range(HARTS)}
            for line in of_code(text):
                vcpu, pc, _, _, rest = LINE.match(line).groups()
                changes = re.findall(r', (\w+) -> 0x([0-9a-f]{16})', rest)
                need(re.fullmatch(r'(, (load|store), 0x\w{8}, [\w.-]+)*(, s2 -> 0x\w{16})?', rest), line)
                if int(pc, 16) == work:
                    counts[int(vcpu)] += [int(value, 16) for _, value in changes]
            want = {n: [n << 12 | i for i in range(1, CALLS + 1)] for n in range(HARTS)}
            need(counts == want, version, counts)
    if not found:
        raise Skip('no QEMU that tells registers')


def test_one_thread(t):
    """Lines are in the order in which they ran, and have their vCPU; a QEMU that does not say which one runs is reported."""
    guest = build(t, HARTS)
    names = elf.symbols(guest)
    for version, qemu in qemus.machines('riscv64'):
        for how in ['-accel', 'tcg,thread=single'], ['-icount', 'shift=0']:
            for text, said in zip(*play_and_say(t, qemu, guest, [], '-smp', str(HARTS), *how)):
                need(not said or version >= (9, 0) and all(WRONG in line for line in said), said)
                steps = [LINE.match(line) for line in of_code(text)]
                steps = [m for m in steps if int(m[2], 16) == names['step']]
                cells = [int(re.search(r'store, 0x(\w+)', m[5])[1], 16) - names['cells'] for m in steps]
                need(cells == [8 * n for n in range(HARTS)] * TURNS, version, how, cells)
                need(said or [int(m[1]) * 8 for m in steps] == cells, version, 'the vCPUs')


def test_one_insn(t):
    """A block has one instruction: the lines are those of any other run."""
    guest = build(t, 1)
    names = elf.symbols(guest)
    off = names['finish'] + 16  # runs until QEMU has ended
    for version, qemu in qemus.machines('riscv64'):
        accel = ['-accel', 'tcg,one-insn-per-tb=on'] if version >= (8, 1) else ['-singlestep']
        want = [without(off, text) for text in play(t, qemu, guest, [])]
        got = [without(off, text) for text in play(t, qemu, guest, [], *accel)]
        for one, other in zip(want, got):
            same(''.join(other), ''.join(one), version)


def test_functions(t):
    guest, moved = build(t, 1), build(t, 1, 0x10000)
    where = elf.symbols(guest)
    work, finish = where['work'], where['finish']
    found = qemus.machines('riscv64')
    for version, qemu in found:
        off = finish + 16  # runs until QEMU has ended
        whole = without(off, play(t, qemu, guest, [])[0])
        for n, (file, given, want) in enumerate((
                (guest, ['sym=work'], within(whole, (work, work + 8))),
                (f'{moved}:{RAM - 0x10000:x}', ['sym=work'], within(whole, (work, work + 8))),
                (guest, ['start=work:4', 'stop=finish'], window(whole, work, finish, 4)),
                (guest, ['sym=work', 'sym=finish', 'start=work:9'],
                 within(window(whole, work, None, 9), (work, work + 8), (finish, finish + 24))),
                (guest, ['stop=work', 'last=2'], window(whole, None, work)[-2:]))):
            need(want, 'nothing is asked for')
            if (version, qemu) not in qemus.by_turns(found, n):
                continue
            for text in play(t, qemu, guest, [f'elf={file}', *given]):
                same(''.join(without(off, text)), ''.join(want), version, file, *given)
        for given, why in (['sym=work'], 'argument sym=work: no such function in any file: expected elf='), \
                          ([f'elf={guest}', 'start=wrok'], 'argument start=wrok: no such function in the'):
            done = t.run([qemu, *RISCV_MACHINE, '-kernel', guest, '-plugin', t.word(*given)])
            need(done.status == 1 and len(done.said) == 1 and done.said[0].startswith(why), done)


if __name__ == '__main__':
    main(globals())
