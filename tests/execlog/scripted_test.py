#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upstream's texts, with and without registers, on every version of the plugin ABI: the scripted host
of tests/host plays the same guests, block by block, from what upstream wrote of them."""
import re
from types import SimpleNamespace

from gttest.qemus import by_turns
from gttest.results import need, read_text, same, write
from gttest.scripted import VERSIONS, write_plan as write_script
from runs import CPUS, LINE, REGISTER, arguments, dump, in_manner, main, upstream

PLAIN, WITH_REGISTERS = ['plain', 'ifilter', 'afilter'], ['reg', 'rdisas', 'ifilter-reg']
# Control transfers: what follows them begins a block.
ENDS = {'aarch64': re.compile(r'b\.|bl |b |ret|cb|tb|svc'),
        'riscv64': re.compile(r'j|b|ret|ecall'),
        'x86_64': re.compile(r'j|call|ret|syscall')}
MORE = re.compile(r', (?:(load|store), 0x([0-9a-f]+)|(\w+) -> 0x([0-9a-f]+))')


def parse(text):
    """The lines of a log: instructions that ran, in order."""
    out = []
    for line in text.splitlines():
        vcpu, pc, opcode, words, rest = LINE.match(line).groups()
        step = SimpleNamespace(vcpu=int(vcpu), pc=int(pc, 16), opcode=int(opcode, 16), words=words,
                               accesses=[], changes=[])
        for kind, address, name, value in MORE.findall(rest):
            if kind:
                step.accesses.append((kind[0].replace('s', 'w').replace('l', 'r'), address))
            else:
                step.changes.append((name, value))
        out.append(step)
    return out


def sizes(cpu, steps):
    """Bytes of each instruction: up to the one that follows without a jump."""
    if cpu == 'aarch64':
        return {s.pc: 4 for s in steps}
    if cpu == 'riscv64':
        return {s.pc: 4 if s.opcode & 3 == 3 else 2 for s in steps}
    pcs = sorted({s.pc for s in steps})
    return {a: min(b - a, 15) for a, b in zip(pcs, pcs[1:] + [pcs[-1] + 2])}


def write_plan(path, cpu, steps, registers):
    """A plan (tests/host/plan.c) that runs these steps."""
    size = sizes(cpu, steps)
    pcs = sorted(size)
    number = {pc: i for i, pc in enumerate(pcs)}
    words = {s.pc: s for s in steps}
    out = [f'target {cpu}', f'memory {pcs[0] & ~0xfff:#x} 0x10000 any']
    for pc in pcs:
        code = ' '.join(str(b) for b in words[pc].opcode.to_bytes(4, 'little')[:size[pc]])
        out += [f'words {pc:#x} 1 {code}', f'insn {pc:#x} {size[pc]} {words[pc].words}']
    out += [f'reg {name} 8' for name in registers] + ['vcpu 0']
    block = []
    for i, s in enumerate(steps):
        block.append(s)
        follows = i + 1 < len(steps) and number[steps[i + 1].pc] == number[s.pc] + 1
        if follows and not ENDS[cpu].match(s.words):
            continue
        does = [f'{k}:{kind}:0x{address}' for k, b in enumerate(block)
                for kind, address in b.accesses]
        does += [f'{k}:s:{registers.index(name)} 0x{value}' for k, b in enumerate(block)
                 for name, value in b.changes]
        out.append(' '.join([f'tb {number[block[0].pc]} {len(block)} -1', *does]))
        block = []
    write(path, '\n'.join(out) + '\n')


def plan_of(t, cpu):
    """With the registers that upstream saw; x86_64's program counter is named rip."""
    path = f'{t.folder}/{cpu}.plan'
    names = ['r15', REGISTER[cpu].upper(), 'rip' if cpu == 'x86_64' else 'pc', 'x00']
    steps = parse(upstream(cpu, 'reg'))
    for s in steps:
        s.changes = [(n.upper() if n != 'pc' else n, v) for n, v in s.changes]
    write_plan(path, cpu, steps, names)
    return path


def check(t, kind, versions):
    """Each version with each guest, by turns of the kinds."""
    plans = {cpu: plan_of(t, cpu) for cpu in CPUS}
    for version in versions:
        for cpu in by_turns(CPUS, int(version) + (PLAIN + WITH_REGISTERS).index(kind)):
            plan = plans[cpu]
            text, done = t.play(plan, version, arguments(kind, cpu))
            same(text, in_manner(int(version) >= 7, kind, upstream(cpu, kind)), cpu, kind, 'version', version)
            need(not done.said, done.said)


def by_vcpu(text):
    """But for vCPUs that ran nothing: whether they begin before the end is chance."""
    found = {}
    for line in filter(None, text.splitlines()):
        found.setdefault(line.split(',')[0], []).append(line)
    return found


SCRIPTS = ['calls', 'exit', 'faults', 'flush', 'jumps', 'machine', 'many-threads', 'pieces', 'setjmp',
           'threads']


def test_versions_agree(t):
    """Hosts with stores in the code, which move, and those with a callback for each instruction: blocks
    that are left in the middle, flushes, threads."""
    for turn, name in enumerate(SCRIPTS):
        plan = write_script(name, t.folder)
        first = None
        for version in VERSIONS:
            for given in by_turns([[], [f'out={t.out}', 'format=binary'], ['last=100000']], turn + int(version)):
                text, done = t.play(plan, version, given)
                need(not done.said, done.said)
                got = by_vcpu(dump(t.out) if 'format=binary' in given else text)
                need(got, name, 'nothing was logged')
                first = first or got
                need(got == first, name, 'version', version, *given, 'differs from version 1')


def test_nothing_logged(t):
    """Where no line is, a vCPU has an empty one before QEMU 11.1."""
    for version in VERSIONS:
        want = '' if int(version) >= 7 else '\n'
        text, _ = t.play(plan_of(t, CPUS[0]), version, ['afilter=1'])
        same(text, want, version)
        t.play(plan_of(t, CPUS[0]), version, ['afilter=1', f'out={t.out}', 'format=binary'])
        same(dump(t.out), want, version, 'binary')


def test_binary(t):
    for turn, kind in enumerate([*PLAIN, *WITH_REGISTERS]):
        for n, cpu in enumerate(CPUS):
            for version in by_turns(VERSIONS[1:] if kind in WITH_REGISTERS else VERSIONS, 3 * turn + n):
                text, _ = t.play(plan_of(t, cpu), version,
                               [*arguments(kind, cpu), f'out={t.out}', 'format=binary'])
                need(text == '', 'the log has', text[:100])
                same(dump(t.out), in_manner(int(version) >= 7, kind, upstream(cpu, kind)), cpu, kind, 'version', version)


MANY = 20000  # accesses of one instruction


def test_long_line(t):
    """Text is cut where a line has more than a buffer, and that is told; the binary form has it all."""
    plan = f'{t.folder}/long.plan'
    accesses = ' '.join(f'1:w:{0x10000 + i:#x}' for i in range(MANY))
    with open(plan, 'w', encoding='utf-8') as f:
        f.write('target x86_64\nmemory 0x400000 0x1000 any\nwords 0x400000 1 144 144 144 144\n' +
                ''.join(f'insn {0x400000 + i:#x} 1 nop{i}\n' for i in range(4)) +
                f'vcpu 0\ntb 0 4 -1 {accesses} 2:w:0x5000\ntb 0 2 -1 {accesses}\n')
    head = '0, 0x400000, 0x90, "nop0"\n'
    line = '0, 0x400001, 0x90, "nop1"' + ''.join(f', store, {0x10000 + i:#010x}' for i in range(MANY))
    after = '0, 0x400002, 0x90, "nop2", store, 0x00005000\n0, 0x400003, 0x90, "nop3"\n'
    whole = f'{head}{line}\n{after}{head}{line}\n'
    _, done = t.play(plan, '1', [f'out={t.out}', 'format=binary'])
    need(not done.said, done.said)
    same(dump(t.out), whole)
    for given in [f'out={t.out}'], []:
        text, done = t.play(plan, '1', given)
        text = read_text(t.out) if given else text
        got = text.split('\n')
        need(len(got[1]) > 250000 and line.startswith(got[1]) and got[1] == got[5], len(got[1]))
        same(text, whole.replace(line, got[1]))
        need(len(done.said) == 2, done.said)
        need(done.said[0] == f'a line of more than 256 KiB is cut: {line[:100]}...', done.said[0])
        need(done.said[1] == '2 lines of more than 256 KiB are cut', done.said[1])


def test_wide_values(t):
    """16 bytes are one number, whatever the order of the data; the first host that tells values is 4."""
    plan = f'{t.folder}/wide.plan'
    numbers = ['0x1122334455667788 0xeeddccbbaa998877', '0 0x99', '0x1 0x2']
    with open(plan, 'w', encoding='utf-8') as f:
        f.write('target aarch64\nmemory 0x400000 0x1000 any\nwords 0x400000 4 1 2\n'
                'insn 0x400000 4 stp\ninsn 0x400004 4 ldp\nvcpu 0\n' +
                ''.join(f'tb 0 2 -1 0:W:0x5000 {order} {n} 1:R:0x5010 {order} {n}\n'
                        for order in ('big', 'little') for n in numbers))
    lines, values = '', ''
    for _ in 'big', 'little':
        for n in ['1122334455667788eeddccbbaa998877', '99', '10000000000000002']:
            store = '0, 0x400000, 0x1, "stp", store, 0x00005000'
            load = '0, 0x400004, 0x2, "ldp", load, 0x00005010'
            lines += f'{store}\n{load}\n'
            values += f'{store} = 0x{n}\n{load} = 0x{n}\n'
    for version in VERSIONS:
        text, done = t.play(plan, version, [])
        same(text, lines, 'version', version)
        _, done = t.play(plan, version, [f'out={t.out}', 'format=binary'])
        same(dump(t.out), lines, 'version', version)
        same(dump(t.out, '--values'), values if int(version) >= 4 else lines, 'version',
             version, *done.said)


def test_large_register(t):
    """Text has a register of any size; a binary log says which ones it leaves out."""
    plan = f'{t.folder}/large.plan'
    with open(plan, 'w', encoding='utf-8') as f:
        f.write('target x86_64\nmemory 0x400000 0x1000 any\nwords 0x400000 1 144 144\n'
                'insn 0x400000 1 nop0\ninsn 0x400001 1 nop1\nreg za 5000\nreg ax 8\n'
                'vcpu 0\ntb 0 2 -1 0:s:0 0x12 0:s:1 0x34\n')
    text, done = t.play(plan, '4', ['reg=za', 'reg=ax'])
    need(not done.said, done.said)
    large = re.search(r', za -> 0x[0-9a-f]{10000}', text)
    need(large and ', ax -> 0x0000000000000034' in text, text[:200])
    _, done = t.play(plan, '4', ['reg=za', 'reg=ax', f'out={t.out}', 'format=binary'])
    need(done.said == ['register za has 5000 bytes: a binary log has registers of at most 4096, its '
                       'changes are left out; format=text has them'], done.said)
    same(dump(t.out), text.replace(large[0], ''))


def test_plain(t):
    check(t, 'plain', VERSIONS)


def test_ifilter(t):
    check(t, 'ifilter', VERSIONS)


def test_afilter(t):
    check(t, 'afilter', VERSIONS)


def test_reg(t):
    check(t, 'reg', VERSIONS[1:])


def test_rdisas(t):
    check(t, 'rdisas', VERSIONS[1:])


def test_ifilter_reg(t):
    check(t, 'ifilter-reg', VERSIONS[1:])


if __name__ == '__main__':
    main(globals())
