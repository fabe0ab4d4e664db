#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests of our own for what upstream's texts do not hold, with the lines written out: each names its
instruction by function and offset, and its accesses by offset in `data`.

Programs run on qemu-x86_64, machines on each QEMU that there is, as text and in the binary form.
"""
import re

from gttest import elf, paths, qemus
from gttest.results import need, read_text
from runs import LINE, QUIET, RISCV_BUILD, RISCV_MACHINE, dump, main, qemu_7_2

MACHINE = {'aarch64': ['-M', 'virt', '-cpu', 'max'],
           'riscv64': ['-M', 'virt', '-cpu', 'rv64,v=true', '-bios', 'none']}
BUILD = {'x86_64': [], 'aarch64': ['-Wl,-Ttext=0x40080000'],
         'riscv64': ['-march=rv64g', '-mabi=lp64d', '-DVECTORS', '-Wl,-Ttext=0x80000000']}

# Accesses: r or w at an offset in `data`, the device, Other's and Changed's code, the device that
# Turns the machine off. S: the stack; P: a constant beside the code. V: the vector, anywhere.
X86 = '''
atomics: r0 w0           | atomics+5: r0 r8 w0 w8 | atomics+10: r4 w4    | atomics+13:
vectors: r0 r8           | vectors+3: w16 w24     | vectors+7: w8        | vectors+11:
vectors+14:              | vectors+18:            | vectors+23: r0 w32   | vectors+23: r1 w33
vectors+23: r2 w34       | vectors+23:            | vectors+25:
fault:                   | fault+2:               | fault+6:
handler: S               | handler+7: S           | restorer:            | restorer+5:
fault+6: r8              | fault+10: w24          | fault+14:
changes:                 | changes: C             | changed:             | changed+3:
changed+6:               | changes:               | changes: C           | changed:
changed+3:               | changed+6:             | changed+8:           | changed+13:
changed+15:
'''
AARCH64 = '''
memory: w0               | memory+4: r4           | memory+8:            | memory+12: w9
memory+16:               | atomics: r0 w0         | atomics+4: r0        | atomics+8: r0 w0
atomics+12: r0 w0        | atomics+16:            | vectors: r0          | vectors+4: w8
vectors+8: r0            | vectors+12:            | fault: P             | fault+4:
fault+8:                 | V                      | handler:             | handler+4:
fault+8: r0              | fault+12: w16          | fault+16:            | device:
device+4: wD             | device+8: rD           | device+12:           | device+16: wD
device+20:               | changes:               | changes+4:           | changes+8: rO
changes+12: wC           | changes+16:            | changes+20:          | changes+24:
changes+28:              | changed:               | changed+4:           | off:
off+4:                   | off+8:
'''
RISCV64 = '''
memory: w0               | memory+4: r4           | memory+8:            | memory+12: w9
memory+16:               | atomics: r0 w0         | atomics+4: r0        | atomics+8: r0 w0
atomics+12: r0 w0        | atomics+16:            | fault:               | fault+4:
fault+8:                 | handler:               | handler+4:           | fault+8: r0
fault+12: w16            | fault+16:              | device:              | device+4: wD
device+8: rD             | device+12:             | device+16: wD        | device+20:
changes:                 | changes+4:             | changes+8:           | changes+12:
changes+16: rO           | changes+20: wC         | changes+24:          | changes+28:
changed:                 | changed+4:             | vectors:             | vectors+4:
vectors+8: r0 r8         | vectors+12: w0 w4      | vectors+16:          | off:
off+4:                   | off+8:                 | off+12: wT
'''
DEVICE = {'aarch64': '0x09000024, pl011', 'riscv64': '0x10000007, anon[0-9a-f]{8}'}
TEST = '0x00100000, riscv.sifive.test'


def build(t, cpu):
    out = t.build(f'own_{cpu}.S', cpu, '-nostdlib', *BUILD[cpu])
    return out, elf.symbols(out)


def opcode_at(path, address):
    code = elf.read(path).bytes_at(address, 4)
    need(code, f'nothing at {address:#x}')
    return int.from_bytes(code, 'little')


def access(cpu, names, word):
    """A pattern for what follows the disassembly."""
    if cpu == 'x86_64' and word == 'C':
        return f', store, {names["changed"] + 1:#010x}'
    if word == 'S':
        return ', (store|load), 0x[0-9a-f]+'
    if word == 'P':
        return ', load, 0x[0-9a-f]{8}, RAM'
    verb, at = {'r': 'load', 'w': 'store'}[word[0]], word[1:]
    where = {'D': DEVICE.get(cpu), 'T': TEST, 'O': f'{names.get("other", 0):#010x}, RAM',
             'C': f'{names["changed"]:#010x}, RAM'}.get(at)
    if not where:
        where = f'{names["data"] + int(at):#010x}' + ('' if cpu == 'x86_64' else ', RAM')
    return f', {verb}, {where}'


def expected(cpu, names, text):
    """(address, pattern of the rest); an address of None is any."""
    for item in re.split(r'\||\n', text):
        item = item.strip()
        if item in ('', 'V'):
            if item:
                yield None, ''
            continue
        where, _, words = item.partition(':')
        name, _, offset = where.partition('+')
        yield (names[name] + int(offset or 0),
               ''.join(access(cpu, names, w) for w in words.split()))


def check(cpu, version, guest, names, text, first):
    """The lines from that function on."""
    want = list(expected(cpu, names, {'x86_64': X86, 'aarch64': AARCH64, 'riscv64': RISCV64}[cpu]))
    lines = text.splitlines()
    got = [LINE.match(line) for line in lines]
    need(all(got), 'a line is none:', [line for line, m in zip(lines, got) if not m][:3])
    start = next(i for i, m in enumerate(got) if int(m[2], 16) == names[first])
    got = got[start:start + len(want)]
    need(len(got) == len(want), len(got), 'lines of', len(want))
    for m, (pc, rest) in zip(got, want):
        if version < (9, 0) and 'sifive' in rest:
            rest = ''  # QEMU 7.2 ends within the access
        need(m[1] == '0' and (pc is None or int(m[2], 16) == pc), m[0], 'is not at', hex(pc or 0))
        need(re.fullmatch(rest, m[5]), m[0], 'does not end with', rest)
        changed = pc == names['changed']
        if pc and cpu != 'x86_64':
            need(int(m[3], 16) == opcode_at(guest, names['other'] if changed else pc), m[0], 'opcode')
    return start + len(want), lines


def play(t, command, *more):
    """The text, and that of the binary form."""
    text = f'{t.folder}/text'
    for out, form in (text, 'text'), (t.out, 'binary'):
        done = t.run([command[0], '-plugin', t.word(f'out={out}', f'format={form}', *more), *command[1:]])
        need(done.status == 0 and not done.said, done)
    return read_text(text), dump(t.out)


def test_program(t):
    guest, names = build(t, 'x86_64')
    for text in play(t, [qemu_7_2('x86_64'), guest]):
        end, lines = check('x86_64', (7, 2), guest, names, text, 'atomics')
        need(end == len(lines), lines[end:])
        opcodes = [int(m[3], 16) for m in map(LINE.match, lines) if int(m[2], 16) == names['changed']]
        need(opcodes == [0x1c183, 0x1c183], 'code that changed', opcodes)


def machine(t, cpu):
    guest, names = build(t, cpu)
    for turn, (version, path) in enumerate(qemus.machines(cpu)):
        for more in qemus.by_turns([[], ['values=off']], turn):
            for text in play(t, [path, *MACHINE[cpu], '-m', '64', *QUIET, '-kernel', guest], *more):
                check(cpu, version, guest, names, text, 'memory')


def test_aarch64(t):
    machine(t, 'aarch64')


def test_riscv64(t):
    machine(t, 'riscv64')


def test_icount(t):
    """Accesses to devices run again on every version, and blocks are cut."""
    guest, names = build(t, 'riscv64')
    for version, path in qemus.machines('riscv64'):
        for text in play(t, [path, *MACHINE['riscv64'], '-m', '64', *QUIET, '-icount', 'shift=0', '-kernel',
                             guest]):
            check('riscv64', version, guest, names, text, 'memory')


LOOPS = 3000


def test_several_vcpus(t):
    """Three harts at once: the lines of each are whole and in its order."""
    guest = t.build(paths.source('etrace', 'guests', 'units_riscv64.S'), 'riscv64', *RISCV_BUILD,
                    '-Wl,-Ttext=0x80000000')
    start = elf.symbols(guest)['_start']
    for version, path in qemus.machines('riscv64'):
        for text in play(t, [path, *RISCV_MACHINE, '-smp', '3', '-accel', 'tcg,thread=multi',
                             '-kernel', guest]):
            cpus = {0: [], 1: [], 2: []}
            for line in text.splitlines():
                m = LINE.match(line)
                need(m and re.fullmatch(r'(, (load|store), 0x[0-9a-f]{8}, [\w.]+)*', m[5]), line)
                if int(m[2], 16) >= start:
                    cpus[int(m[1])].append(int(m[2], 16))
            for cpu, pcs in cpus.items():
                at = pcs.index(start) + 2  # li t0, 3000 is two instructions
                first, second = pcs[at], pcs[at + 1]
                need(second == first + 4 and pcs[at:at + 2 * LOOPS] == [first, second] * LOOPS,
                     version, 'vCPU', cpu, 'ran', [hex(p) for p in pcs[:8]])
                need(pcs[at + 2 * LOOPS] == second + 4, 'after the loop')


if __name__ == '__main__':
    main(globals())
