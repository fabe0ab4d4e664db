#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How a recording may end: execve, SIGTERM, QEMU's abort(). A program in whose place another one comes,
and functions of shared libraries."""
import collections
import signal
import struct

from gttest import commands, qemus
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.results import need, read_text, write
from runs import LINE, main, qemu_7_2

EXECS = '''
        .globl _start
_start: lea absent(%rip), %rdi
        xor %esi, %esi
        xor %edx, %edx
        mov $59, %eax
        syscall
        nop
        lea program(%rip), %rdi
        lea arguments(%rip), %rsi
        mov $59, %eax
        syscall
        hlt
absent: .asciz "/nowhere"
program: .asciz "/bin/sh"
command: .asciz "-c"
script: .asciz "exit 42"
        .data
arguments: .quad program, command, script, 0
'''
EXEC_WORDS = ['leaq', 'xorl', 'xorl', 'movl', 'syscall', 'nop', 'leaq', 'leaq', 'movl']
LOOPS = '''
        .globl _start
_start: mov $1, %edi
        lea out(%rip), %rsi
        mov $1, %edx
1:      mov $10000, %ebx
2:      dec %ebx
        jnz 2b
        mov $1, %eax
        syscall
        jmp 1b
out:    .byte 'x'
'''
MACHINE_LOOPS = '''
        .option norvc
        .globl _start
_start: li t0, 0x10000000
        li t1, 'x'
1:      li t2, 10000
2:      addi t2, t2, -1
        bnez t2, 2b
        sb t1, 0(t0)
        j 1b
'''


def words(text):
    return [LINE.match(line)[4].split()[0] for line in text.splitlines() if line]


def read(t, given, whole=True):
    """The text; a binary log may have no end."""
    if 'format=binary' not in given:
        return read_text(t.out)
    done = t.run([GUESTTRACE, 'dump', t.out])
    need(done.status == (0 if whole else 1) and ('has no end' in done.errors) != whole, done)
    return done.out.decode()


def test_exec(t):
    """The log has what was before it, but for the system call's own line; a binary one has an end, although
    an execve before had failed."""
    guest = t.assemble(EXECS)
    command = [qemu_7_2('x86_64'), '-plugin']
    for given in [], ['format=binary'], ['last=3'], ['last=3', 'format=binary']:
        done = t.run([*command, t.word(f'out={t.out}', *given), guest])
        need(done.status == 42 and done.said == ['the program went on as /bin/sh outside QEMU: that is not recorded'], done)
        # the first one fails: the last lines before it were written, too
        want = EXEC_WORDS[2:5] + EXEC_WORDS[-2:] if 'last=3' in given else EXEC_WORDS
        need(words(read(t, given)) == want, given, words(read(t, given)))
    done = t.run([*command, t.word(), '-d', 'plugin', '-D', t.log, guest])
    need(done.status == 42 and words(read_text(t.log)) == EXEC_WORDS, done)


def check_loop(text):
    got = words(text)
    loop = sum(n for _, n in collections.Counter(got).most_common(2))
    need(len(got) == 1000 and loop > 980, len(got), loop, got[-9:])


def interrupt(t, command, given, number, status):
    """A guest that prints a character now and then, and runs for ever, is sent a signal."""
    plugin = t.word(f'out={t.out}', 'last=1000', *given)
    child = commands.start([command[0], '-plugin', plugin, *command[1:]])
    need(child.stdout.read(1) == b'x', 'the guest does not begin')
    child.send_signal(number)
    done = t.finish(child)
    need(done.status == status and not done.said, done)
    check_loop(read(t, given))


def test_terminated(t):
    guest = t.assemble(LOOPS)
    for number in signal.SIGTERM, signal.SIGINT:
        for given in [], ['format=binary']:
            interrupt(t, [qemu_7_2('x86_64'), guest], given, number, -number)


def test_machine_terminated(t):
    source = write(f'{t.folder}/loops.S', MACHINE_LOOPS)
    guest = compile_to(f'{t.folder}/loops', 'riscv64', source, '-nostdlib', '-static', '-Wl,-Ttext=0x80000000')
    for _, path in qemus.machines('riscv64'):
        for given in [], ['format=binary']:
            interrupt(t, [path, '-M', 'virt', '-bios', 'none', '-m', '64', '-nographic', '-monitor',
                          'none', '-kernel', guest], given, signal.SIGTERM, 0)


def test_machine_aborts(t):
    """A fault in the handler of faults: the CPU locks up, and QEMU calls abort()."""
    kernel = f'{t.folder}/kernel'
    with open(kernel, 'wb') as f:  # the stack, handlers; nop, nop, an undefined instruction
        f.write(struct.pack('<16I', 0x20001000, *[0x41] * 15) + struct.pack('<3H', 0xbf00, 0xbf00, 0xde00))
    for version, path in qemus.machines('arm'):
        for given in [], ['format=binary'], ['last=4'], ['last=4', 'format=binary']:
            done = t.run([path, '-M', 'mps2-an385', '-nographic', '-monitor', 'none', '-kernel', kernel,
                        '-plugin', t.word(f'out={t.out}', *given)], cwd=t.folder)
            need(done.status == -signal.SIGABRT and 'Lockup' in done.errors, version, done)
            got = words(read(t, given))
            need(got == (['nop', 'nop', 'udf'] * 2)[-4 if 'last=4' in given else 0:], version, got)


if __name__ == '__main__':
    main(globals())
