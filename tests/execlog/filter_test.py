#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranges, functions, start and stop, every, last: what they leave of the whole log, as text and in the
binary form; what refuses to load; what a program that crashes leaves.

The whole log is upstream's (runs.py); what is to be left of it is worked out here.
"""
import re

from gttest import elf
from gttest.compilers import compile_to
from gttest.results import need, read_text, same, write
from runs import (LINE, STATUS, as_7_2, dump, main, pc, qemu_7_2, upstream, window, within, zoo)

CPU = 'x86_64'
NOTHING = '\n'  # no line: the end's is left


def whole():
    return as_7_2(CPU, upstream(CPU, 'plain')).splitlines(keepends=True)


def functions():
    """(first address, the first one after it), by name, as the symbol table has them."""
    return {s.name: (s.addr, s.addr + s.size) for s in elf.defined(zoo(CPU)) if s.size}


def play(t, *given):
    """The text, which is that of the binary form, too."""
    path, out = qemu_7_2(CPU), f'{t.folder}/text'
    for name, more in ('text', []), ('binary', ['format=binary']):
        done = t.run([path, '-plugin', t.word(*given, *more, f'out={t.folder}/{name}'),
                    zoo(CPU)])
        need(done.status == STATUS and not done.errors, done)
    text = read_text(out)
    same(dump(f'{t.folder}/binary'), text, 'the binary form,', *given)
    return text


def check(t, given, lines):
    same(play(t, *given), ''.join(lines) or NOTHING, *given)


def test_range(t):
    lines = whole()
    check(t, ['range=0x401040-401047'], within(lines, (0x401040, 0x401047)))
    check(t, ['range=401040-401044', 'range=40100e-401020'],
          within(lines, (0x401040, 0x401044), (0x40100e, 0x401020)))
    check(t, ['range=401040'], within(lines, (0x401040, 0x401041)))
    check(t, ['range=1-2'], [])


def test_functions(t):
    lines, where = whole(), functions()
    check(t, ['sym=fact'], within(lines, where['fact']))
    check(t, ['sym=sum', 'sym=fact', 'range=401000-401001'],
          within(lines, where['sum'], where['fact'], (0x401000, 0x401001)))
    check(t, ['sym=fact', 'ifilter=mov', 'afilter=401044', 'afilter=401000'],
          [line for line in within(lines, where['fact'])
           if LINE.match(line)[4].startswith('mov') or pc(line) == 0x401044])


def test_start_and_stop(t):
    lines, where = whole(), functions()
    fact, total = where['fact'][0], where['sum'][0]
    check(t, ['start=sum'], window(lines, total, None))
    check(t, ['stop=sum'], window(lines, None, total))
    check(t, ['start=fact:4'], window(lines, fact, None, 4))
    check(t, [f'start={fact:#x}:3', 'stop=sum'], window(lines, fact, total, 3))
    check(t, [f'start={fact:#x}', 'stop=0x401046'], window(lines, fact, 0x401046))
    check(t, ['start=0x401046', 'stop=fact'], window(lines, 0x401046, fact))
    check(t, ['start=0x400000'], [])
    for at in 0x401040, 0x401044:  # in the middle and at the end of a block
        check(t, [f'start={at:#x}:2', 'stop=0x401060'], window(lines, at, 0x401060, 2))


def test_every(t):
    lines = whole()
    for n in 1, 2, 7, 100, 1000:
        check(t, [f'every={n}'], lines[::n])
    check(t, ['sym=fact', 'every=3'], within(lines, functions()['fact'])[::3])


def test_last(t):
    lines = whole()
    for n in 1, 5, 232, 233, 234, 100000000:
        check(t, [f'last={n}'], lines[-n:])
    check(t, ['last=3', 'stop=sum'], window(lines, None, functions()['sum'][0])[-3:])
    check(t, ['last=2', 'every=50'], lines[::50][-2:])
    ends, at = [], functions()['fact'][0]
    for line, after in zip(lines, lines[1:]):
        ends += [line] if pc(after) == 0x401046 else []
    check(t, ['last=1', f'start={at:#x}', 'stop=0x401046'], ends)


SHARED = '''
        .globl shared
        .type shared, @function
shared: lea 7(%rdi), %eax
        ret
        .size shared, . - shared
        .section .note.GNU-stack, "", @progbits
'''
CALLER = '''
int shared(int);
__attribute__((noinline)) void own(void) { __asm__ volatile("nop"); }
int main(void)
{
    int n = 0;
    for (int i = 0; i < 5; i++) {
        n = shared(n);
        own();
    }
    return n;
}
'''


def test_shared_library(t):
    """Functions of a library and of a program that may be loaded anywhere."""
    library, guest = f'{t.folder}/libshared.so', f'{t.folder}/caller'
    compile_to(library, 'x86_64', write(f'{t.folder}/shared.S', SHARED), '-shared')
    compile_to(guest, 'x86_64', write(f'{t.folder}/caller.c', CALLER), '-O1', '-pie', '-fPIE', library)
    for given, want in ((['sym=shared'], ['leal', 'retq'] * 5),
                        (['sym=shared', 'sym=own', 'start=shared:3', 'stop=own:4'],
                         ['leal', 'retq', 'nop', 'retq', *['leal', 'retq'] * 2]),
                        (['sym=own', 'start=shared:4', 'ifilter=nop'], ['nop'] * 2)):
        for form in 'text', 'binary':
            done = t.run([qemu_7_2(CPU), '-plugin', t.word(f'out={t.out}', f'format={form}', *given),
                        guest])
            need(done.status == 35 and not done.errors, done)
            text = t.text(f'format={form}')
            got = [LINE.match(line)[4].split()[0] for line in text.splitlines() if line]
            need(got == want, given, form, got)


LONG = '''
        .globl _start
_start: mov $200000, %ecx
1:      incl cell(%rip)
        dec %ecx
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
        .bss
cell:   .long 0
'''


def test_last_of_many(t):
    """More than is kept in one piece."""
    guest = t.assemble(LONG)
    for given in ['last=30000'], ['last=30000', 'format=binary']:
        done = t.run([qemu_7_2(CPU), '-plugin', t.word(f'out={t.out}', *given), guest])
        need(done.status == 0, done.errors)
        text = t.text(given)
        lines = text.splitlines()
        need(len(lines) == 30000, len(lines), 'lines')
        kinds = [LINE.match(line)[4].split()[0] for line in lines]
        need(kinds[-4:] == ['jne', 'movl', 'xorl', 'syscall'], kinds[-4:])
        loop = [['incl', 'decl', 'jne'][(i - len(lines) + 3) % 3] for i in range(len(lines) - 3)]
        need(kinds[:-3] == loop, 'the loop')
        cell = {line.split('"')[2] for line, kind in zip(lines, kinds) if kind == 'incl'}
        need(len(cell) == 1 and re.fullmatch(r', load, (0x\w+), store, \1', cell.pop()), cell)


CRASH = '''
        .globl _start
_start: nop
        xor %eax, %eax
        inc %eax
        mov -1(%rax), %rbx
        nop
'''


def test_crash(t):
    """The guest's fatal signal ends QEMU 7.2 without an exit event; all is there all the same."""
    guest = t.assemble(CRASH)
    for given in [], ['format=binary'], ['last=2'], ['last=2', 'format=binary']:
        done = t.run([qemu_7_2(CPU), '-plugin', t.word(f'out={t.out}', *given), guest],
                   cwd=t.folder)
        need(done.status == -11 and not done.said, done)
        text = t.text(given)
        words = [LINE.match(line)[4].strip() for line in text.splitlines()]
        want = ['nop', 'xorl %eax, %eax', 'incl %eax', 'movq -1(%rax), %rbx']
        need(words == (want[-2:] if 'last=2' in given else want), words)


REFUSED = {
    'range=3-3': 'argument range=3-3: expected a hex address, or LO-HI, HI the first one after it',
    'range=x-5': 'argument range=x-5: expected a hex address',
    'range=10000000000000000': 'argument range=10000000000000000: expected a hex address',
    'start=': 'argument start=: expected 0xADDRESS or a function\'s name, and perhaps :COUNT, from 1',
    'start=main:0': 'argument start=main:0: expected',
    'stop=main:x': 'argument stop=main:x: expected',
    'stop=0x12g': 'argument stop=0x12g: expected',
    'every=0': 'argument every=0: expected a number from 1',
    'last=-1': 'argument last=-1: expected a number from 1 to 100000000',
    'sym=': 'argument sym=: expected a function\'s name',
    'elf=/nowhere': '/nowhere: ',
    'elf=/dev/null:z': 'argument elf=/dev/null:z: expected FILE, or FILE:OFFSET, in hex',
    'afilter=main': 'argument afilter=main: expected a hex address',
    'afilter=': 'argument afilter=: expected a hex address',
    'afilter=123456789abcdef01': 'argument afilter=123456789abcdef01: expected a hex address',
    'ifilter=': 'argument ifilter=: expected how a disassembly begins',
    'reg=rax': 'argument reg=rax: this QEMU (plugin ABI 1) cannot read registers; 9.0 and later can',
    'rdisas=maybe': 'argument rdisas=maybe: expected on or off',
    'format=binary': 'argument format=binary: expected output=FILE or output=unix:PATH, too',
    'format=xml': 'argument format=xml: expected one of text, binary',
    'colour=red': 'unknown argument colour=red: expected one of ifilter, afilter, reg, rdisas',
    'out=/nowhere/x': '/nowhere/x: cannot be opened: No such file or directory',
}


def test_refused(t):
    """One clear line, and nothing runs."""
    path = qemu_7_2(CPU)
    for word, why in REFUSED.items():
        done = t.run([path, '-plugin', t.word(word), zoo(CPU)], cwd=t.folder)
        need(done.status == 1 and len(done.said) == 1, word, done)
        need(done.said[0].startswith(why), done.said, 'is not', why)


KEPT = '''
        .globl _start
_start: mov $ROUNDS, %ebx
1:      call f
        fxsave area(%rip)
        dec %ebx
        jnz 1b
        mov $60, %eax
        mov $STATUS, %edi
        syscall
f:      ret
        .bss
        .balign 16
area:   .skip 512
'''


def test_no_access_of_others(t):
    """QEMU 7.2 goes on with the callbacks of an instruction that ended its block (ret) where it emulates a later one that
    has none (fxsave): each line has the accesses of its own instruction, a load here."""
    rounds = 20
    source = write(f'{t.folder}/kept.S', KEPT)
    guest = compile_to(f'{t.folder}/kept', CPU, source, '-nostdlib', '-static', f'-DROUNDS={rounds}', f'-DSTATUS={STATUS}')
    path = qemu_7_2(CPU)
    done = t.run([path, '-plugin', t.word('ifilter=ret', f'out={t.out}'), guest])
    need(done.status == STATUS, done)
    lines = [line for line in read_text(t.out).splitlines() if 'ret' in line]
    wrong = [line for line in lines if line.count('load') != 1 or 'store' in line]
    need(len(lines) in (rounds, rounds + 1) and not wrong, len(lines), 'lines; wrong:', wrong[:3])


def test_never_seen(t):
    done = t.run([qemu_7_2(CPU), '-plugin', t.word('sym=nosuch', f'out={t.out}'), zoo(CPU)])
    need(done.status == STATUS, done)
    need(done.said == ['argument sym=nosuch: no function of that name was seen'], done.said)


if __name__ == '__main__':
    main(globals())
