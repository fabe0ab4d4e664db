#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Small machines on each QEMU: what ran is what QEMU logs of the same run, though blocks are left in
the middle; accesses to memory and to a device are those that the program makes.

usage: machine_test.py [test_...]
"""
import collections
import re

from gttest import etrace, paths, qemulog, qemus
from gttest.qemus import TELLS_EXCEPTIONS, TELLS_VALUES
from gttest.results import need
from runs import BOARDS, SMALL, each, main, play

VALUE = 0x1122334455667788
# (written, offset in `data`, bytes, value); None: the address of `data`
KNOWN = {
    'aarch64': [(True, 0, 1, VALUE), (True, 2, 2, VALUE), (True, 4, 4, VALUE), (True, 8, 8, VALUE),
                (True, 16, 8, VALUE), (True, 24, 8, None),
                (False, 0, 1, VALUE), (False, 2, 2, VALUE), (False, 4, 4, VALUE),
                (False, 8, 8, VALUE), (False, 16, 8, VALUE), (False, 24, 8, None)],
    'riscv64': [(True, 0, 1, VALUE), (True, 2, 2, VALUE), (True, 4, 4, VALUE), (True, 8, 8, VALUE),
                (False, 0, 1, VALUE), (False, 2, 2, VALUE), (False, 4, 4, VALUE),
                (False, 8, 8, VALUE)],
}
STORED = (0x88, 0x7788, 0x55667788, VALUE)  # what stores of 1, 2, 4, 8 bytes store of it
INVERSE = ~VALUE & (1 << 64) - 1
BIG = [(True, 0, 1, STORED[0]), (True, 2, 2, STORED[1]), (True, 4, 4, STORED[2]),
       (True, 8, 8, VALUE), (True, 16, 8, VALUE), (True, 24, 8, INVERSE),
       (False, 2, 2, STORED[1]), (False, 4, 4, STORED[2]), (False, 8, 8, VALUE),
       (False, 16, 8, VALUE), (False, 24, 8, INVERSE),
       (False, 2, 1, 0x77), (False, 4, 1, 0x55), (False, 8, 1, 0x11), (False, 16, 1, 0x11),
       (False, 24, 1, 0xee)]
PAIRS = {'aarch64': (4, 9), 'riscv64': ()}  # instructions that make two accesses
DEVICE = {  # (event, bytes, value)
    'aarch64': [('write@0x9000024', 4, 0x5a), ('read@0x9000024', 4, 0x5a),
                ('write@0x9000024', 4, 0x5c), ('read@0x9000018', 4, 0x90)],
    'riscv64': [('write@0x10000007', 1, 0x5a), ('read@0x10000007', 1, 0x5a),
                ('write@0x10000007', 1, 0x5c), ('read@0x10000007', 1, 0x5c)],
}


def check_memory(arch, version, stream, names, instructions):
    data = names['data']
    got = [m for m in stream.of('mem') if data <= m.vaddr < data + 64]
    need(len(got) == len(KNOWN[arch]), len(got), 'accesses')
    at = 0
    for i, (m, (write, offset, size, value)) in enumerate(zip(got, KNOWN[arch])):
        mask = (1 << 8 * size) - 1
        value = (data if value is None else value) & mask if version >= TELLS_VALUES else 0
        need((m.write, m.vaddr - data, m.size, m.value) == (write, offset, size, value), 'access', i,
             m)
        need(m.paddr == m.vaddr, 'physical address', m)
        need(instructions[m.time] == names['known'] + 4 * at, 'time of access', i, m)
        at += 0 if at in PAIRS[arch] and (i == 0 or got[i - 1].time != m.time) else 1


def check_device(arch, version, stream):
    events = [e for e in stream.of('event') if '@0x' in e.name]
    accesses = [m for m in stream.of('mem') if m.paddr == int(DEVICE[arch][0][0].split('@')[1], 16) or
                m.paddr == int(DEVICE[arch][-1][0].split('@')[1], 16)]
    need([m.time for m in accesses] == [e.time for e in events[:len(accesses)]], 'times')
    seen = {}
    for i, (name, size, value) in enumerate(DEVICE[arch]):
        e, m = events[i], accesses[i]
        value = value if version >= TELLS_VALUES else 0
        place = name.split('@')[1]
        need((e.name, e.value, e.previous) == (name, value, seen.get(place, 0)), 'event', i, e)
        need((m.write, m.size, m.value) == (name[0] == 'w', size, value), 'access', i, m)
        need(e.device == 'pl011' if arch == 'aarch64' else e.device == 'device', e.device)
        seen[place] = value


def check(arch, version, qemu, t, *options):
    faults = version >= TELLS_EXCEPTIONS
    for arguments in '', ',flags=exec+mem+gpio':
        stream, names, done = play(t, arch, qemu, arguments, *options)
        log = qemulog.Log(t.log, faults)
        wrong = qemulog.difference(stream, log, names.get('off'))
        need(not wrong, wrong)
        instructions = log.instructions()
        total = sum(e.duration for e in stream.of('exec'))
        need(0 <= total - len(instructions) <= 2, 'the clock ends at', total)
    check_memory(arch, version, stream, names, instructions)
    check_device(arch, version, stream)
    lacks = 'values of memory accesses are 0: this QEMU (plugin ABI 1) does not report them; ' \
            '9.1 and later do'
    need(done.said == ([] if version >= TELLS_VALUES else [lacks]), done.said)
    events = [e for e in stream.of('event') if e.device == 'cpu0' and e.name == 'exception']
    need(any(e.previous < names['work'] for e in events) == faults, 'exceptions', events)


def check_big(arch, version, qemu, t):
    """Data that are big-endian: values are the registers', and the first of a pair has the lower
    address."""
    stream, names, _ = play(t, arch, qemu, ',flags=mem', source='big')
    got = [(m.write, m.vaddr - names['data'], m.size, m.value) for m in stream.of('mem')]
    tells = version >= TELLS_VALUES
    want = [(write, at, size, value if tells else 0) for write, at, size, value in BIG]
    need(got == want, *(f'{g[:3]} {g[3]:#x} not {w[:3]} {w[3]:#x}'
                        for g, w in zip(got, want) if g != w), len(got), 'accesses')


def test_big_endian(t):
    each('aarch64', check_big, t)


def test_aarch64(t):
    each('aarch64', check, t)


def test_riscv64(t):
    each('riscv64', check, t)


def test_icount(t):
    """With -icount QEMU runs accesses to devices again on every version."""
    each('aarch64', check, t, '-icount', 'shift=0')
    each('riscv64', check, t, '-icount', 'shift=0')


def one_insn(version):
    """A block has one instruction."""
    return ['-accel', 'tcg,one-insn-per-tb=on'] if version >= (8, 1) else ['-singlestep']


def check_one_insn(arch, version, qemu, t):
    check(arch, version, qemu, t, *one_insn(version))


def test_one_insn(t):
    each('aarch64', check_one_insn, t)
    each('riscv64', check_one_insn, t)


def check_units(arch, version, qemu, t):
    """One thread runs all: the order of what the vCPUs did is told, and which one it was; a QEMU that does not say which one
    runs is reported."""
    stream, _, done = play(t, arch, qemu, ',clock=insn', '-smp', '3', '-accel', 'tcg,thread=single',
                           source='units')
    log = qemulog.Log(t.log, version >= TELLS_EXCEPTIONS)
    known = not any('reports the wrong vCPU' in line for line in done.said)
    need(known or version >= (9, 0), done.said)
    got = [(e.unit if known else 0, at) for e in stream.of('exec')
           for at in etrace.expand([e], log.following)]
    want = [(cpu if known else 0, at) for cpu, block in log.ran for at in block]
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), None)
    need(got == want, 'the order differs:', len(got), len(want), at)
    need({unit for unit, _ in got} == ({0, 1, 2} if known else {0}), 'units')


def check_threads(arch, version, qemu, t):
    """A thread each: each vCPU's order is told."""
    stream, _, done = play(t, arch, qemu, '', '-smp', '3', '-accel', 'tcg,thread=multi',
                           source='units')
    need(not done.said, done.said)
    log = qemulog.Log(t.log)
    for cpu in range(3):
        got = etrace.expand(stream.of('exec', cpu), log.following)
        need(len(got) > 1000 if cpu else len(got) > 50, 'instructions of', cpu, len(got))
        times = [e.time for e in stream.of('exec', cpu)]
        need(times == sorted(times) and times[0] > 1000, 'the host\'s times')


def check_uftrace(arch, version, qemu, t):
    """Calls: the other tool finds the vCPU that runs, and says nothing."""
    guest = t.guest('units', arch)
    for kind in 'single', 'multi':
        done = t.run([qemu, *BOARDS[arch], *SMALL, '-kernel', guest, '-smp', '3', '-accel',
                      f'tcg,thread={kind}', '-plugin', f'{paths.plugin("uftrace")},output={t.folder}/calls'])
        need(done.status == 0, done.errors)
        need('reports the wrong vCPU' not in done.errors, version, kind, done.errors)


def test_units_of_calls(t):
    each('riscv64', check_uftrace, t)


def test_units(t):
    each('riscv64', check_units, t)


def test_threads(t):
    each('riscv64', check_threads, t)


def check_alone(arch, version, qemu, t):
    """QEMU 7.2 keeps the callbacks of a block of one instruction for later ones, also where it has discarded both."""
    guest = t.guest('kept', arch)
    for arguments in '', ',flags=coverage', ',flags=exec+mem':
        done = t.run([qemu, *BOARDS[arch], *SMALL, '-kernel', guest, '-smp', '2', '-accel',
                      'tcg,thread=multi,tb-size=1', '-plugin', t.word(f'output={t.out}') + arguments])
        need(done.status == 0, version, arguments, done.errors)


def test_alone(t):
    each('riscv64', check_alone, t)


def check_counts(arch, version, qemu, t):
    """Counters of all vCPUs, but for what follows the access that cuts the power."""
    stream, names, _ = play(t, arch, qemu, ',flags=coverage', '-smp', '3', '-accel',
                            'tcg,thread=single', source='units')
    log = qemulog.Log(t.log)
    got, want = etrace.counts(stream, log.following), collections.Counter(log.instructions())
    for at in sorted(set(got) | set(want)):
        need(got[at] == want[at] or at > names['off'], hex(at), 'ran', got[at], 'times, QEMU says',
             want[at])
    need(want[names['_start'] + 8] == 3 * 3000, 'the loop')


def test_counts(t):
    each('riscv64', check_counts, t)


def test_registers(t):
    """A note for each block, with the registers as they are where it begins."""
    for version, qemu in qemus.machines('riscv64'):
        if version < (9, 0):
            continue
        stream, names, _ = play(t, 'riscv64', qemu, ',flags=cpu+exec')
        notes = stream.of('note')
        log = qemulog.Log(t.log)
        need(len(log.ran) >= len(notes) > 50, len(log.ran), 'blocks', len(notes), 'notes')
        counts = [n.text for n in notes if n.text.startswith(f'pc={names["work"]:#x} ')]
        values = [[w for w in n.split() if w.startswith('s0=') or w.startswith('fp=')] for n in counts]
        need([int(v[0].split('=')[1], 16) for v in values] == list(range(20, 0, -1)), values)


def test_lines(t):
    """Notes end with their line, so a reader that prints them as they are prints a line an item."""
    for version, qemu in qemus.machines('riscv64'):
        flags = 'exec+disas' + ('+cpu' if version >= (9, 0) else '')
        stream, _, _ = play(t, 'riscv64', qemu, f',flags={flags}')
        text = ''.join(i.text if i.kind == 'note' else f'E{i.unit} {i.start:x} {i.end:x}\n'
                       for i in stream.items if i.kind in ('note', 'exec'))
        lines = re.findall('^E0 ', text, re.M)
        need(len(lines) == len(stream.of('exec')) > 10, len(lines), 'lines of', len(stream.of('exec')))


if __name__ == '__main__':
    main(globals())
