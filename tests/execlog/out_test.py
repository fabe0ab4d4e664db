#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a log goes: QEMU's log, files, sockets; full disks, readers that go, threads, fork, exec,
SIGKILL. The guest always ends as without us, with its status."""
import os
import re
import signal

from gttest import commands, elf, paths
from gttest.paths import GUESTTRACE
from gttest.results import need, read_text, same, write
from gttest.sockets import Reader
from runs import LINE, dump, main, qemu_7_2

LOOPS = 30000
LONG = '''
        .globl _start
_start: mov $LOOPS, %ecx
1:      incl cell(%rip)
        dec %ecx
        jnz 1b
        mov $60, %eax
        mov $7, %edi
        syscall
        .bss
cell:   .long 0
'''
FORKS = '''
        .globl _start
_start: mov $57, %eax
        syscall
        test %eax, %eax
        jz child
        mov %eax, %edi
        xor %esi, %esi
        xor %edx, %edx
        xor %r10d, %r10d
        mov $61, %eax
        syscall
        nop
        jmp out
child:  clc
out:    mov $60, %eax
        mov $7, %edi
        syscall
'''
STATUS = 7


def command(t, guest, *given):
    return [qemu_7_2('x86_64'), '-plugin', t.word(*given), guest]


def good(done, *said):
    need(done.status == STATUS, done)
    need(len(done.said) == len(said), done.said)
    for line, words in zip(done.said, said):
        need(re.search(words, line), line, 'is not', words)


def threads(t):
    return t.build(paths.source('etrace', 'guests', 'threads.c'), 'x86_64', '-O1', '-pthread')


def whole(t, guest):
    good(t.run(command(t, guest, f'out={t.folder}/whole')))
    text = read_text(f'{t.folder}/whole')
    need(len(text.splitlines()) == 3 * LOOPS + 4, 'lines')
    return text


def test_names(t):
    """`output` and `out` are one argument, of every plugin."""
    guest = t.assemble(LONG, LOOPS=3)
    for tool in 'execlog', 'etrace', 'uftrace':
        plugin = paths.plugin(tool)
        for word in 'output', 'out':
            place = f'{t.folder}/{tool}-{word}'
            t.run([qemu_7_2('x86_64'), '-plugin', f'{plugin},{word}={place}', guest])
            need(os.path.exists(place), plugin, word)


def test_socket(t):
    guest = t.assemble(LONG, LOOPS=LOOPS)
    text = whole(t, guest)
    for given in [], ['format=binary']:
        path = f'{t.folder}/sock{len(given)}'
        reader = Reader(path)
        good(t.run(command(t, guest, f'out=unix:{path}', *given)))
        reader.join(commands.SECONDS)
        write(t.out, reader.data)
        same(dump(t.out) if given else reader.data.decode(), text, 'what came', *given)


def test_reader_goes(t):
    guest = t.assemble(LONG, LOOPS=5 * LOOPS)
    for given in [], ['format=binary']:
        path = f'{t.folder}/sock{len(given)}'
        reader = Reader(path, most=1)
        done = t.run(command(t, guest, f'out=unix:{path}', *given))
        reader.join(commands.SECONDS)
        if given and not done.said:
            continue  # it all went in one piece
        good(done, r'the reader is gone \(.*\) after \d+ bytes; the rest is dropped',
             r'^\d+ bytes were written, \d+ bytes dropped')


def test_no_reader(t):
    guest = t.assemble(LONG, LOOPS=LOOPS)
    done = t.run(command(t, guest, f'out=unix:{t.folder}/sock', 'wait=0'))
    # That it waits is told unless it is over before anybody asks.
    told = ['waits for a reader'] if len(done.said) == 3 else []
    good(done, *told, 'no reader came', 'bytes dropped')
    need(not os.path.exists(f'{t.folder}/sock'), 'the socket is left')


def test_full_disk(t):
    guest = t.assemble(LONG, LOOPS=LOOPS)
    for given in [], ['format=binary'], ['last=1000']:
        done = t.run(command(t, guest, 'out=/dev/full', *given))
        need(done.status == STATUS and done.said, done)
        need('/dev/full: No space left on device after 0 bytes; the rest is dropped' in done.said[0],
             done.said)


def test_log_is_whole_where_the_guest_waits(t):
    """A system call: QEMU's log has all lines before it, though the guest never comes back."""
    guest = t.assemble('nop; mov $0x3c, %ecx; dec %ecx; mov $34, %eax; syscall'.join(
        ['.globl _start\n_start: ', '\n']))
    child = commands.start([qemu_7_2('x86_64'), '-plugin', t.word(), '-d', 'plugin', guest])
    said = b''
    while b'"movl $0x22, %eax"\n' not in said:
        some = child.stderr.read1()
        need(some, 'the log ends:', said)
        said += some
    os.kill(child.pid, signal.SIGKILL)
    need(t.finish(child).status == -signal.SIGKILL, 'killed')
    need(len(said.splitlines()) == 4, said)


def test_killed(t):
    """SIGKILL: the binary log is good up to where it ends."""
    guest = t.assemble(LONG, LOOPS=LOOPS * 1000)
    fifo = f'{t.folder}/fifo'
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    child = commands.start(command(t, guest, f'out={fifo}', 'format=binary'))
    data = b''
    while len(data) < 600:
        some = os.read(reader, 65536)
        data += some
    os.kill(child.pid, signal.SIGKILL)
    while True:
        some = os.read(reader, 65536)
        if not some:
            break
        data += some
    t.finish(child)
    os.close(reader)
    write(t.out, data)
    done = t.run([GUESTTRACE, 'dump', t.out])
    lines = done.out.decode().splitlines()
    need(len(lines) > 10000, len(lines), 'lines', done.errors)
    kinds = [LINE.match(line)[4].split()[0] for line in lines]
    need(kinds == ['movl'] + [['incl', 'decl', 'jne'][i % 3] for i in range(len(lines) - 1)],
         'the lines')


def test_threads(t):
    """Lines of several threads: whole, and in the order of each."""
    guest = threads(t)
    where = elf.symbols(guest)
    span = f'range={where["work"]:x}-{where["work"] + 0x20:x}'
    for given in ['every=50'], ['every=50', 'format=binary'], ['every=50', span]:
        done = t.run([*command(t, guest, f'out={t.out}', *given), 'threads'])
        need(done.status == 42 and not done.said, done)
        text = t.text(given)
        vcpus = set()
        for line in text.splitlines():
            m = LINE.match(line)
            need(m or (span in given and not line), 'no line:', line)
            vcpus.add(m and m[1])
        need(len(vcpus) > 2, 'vCPUs', vcpus)


def test_fork(t):
    """QEMU's log is the child's, too; a file is the parent's."""
    guest = t.assemble(FORKS)
    text = t.logged(qemu_7_2('x86_64'), [], guest, status=STATUS)
    words = [LINE.match(line)[4].strip() for line in text.splitlines()]
    need(words.count('movl $0x39, %eax') == 1, words)
    need(words.count('clc') == 1 and words.count('nop') == 1, words)
    need(words.count('movl $7, %edi') == 2, words)
    need(words.count('testl %eax, %eax') == 2, words)
    for given in [], ['format=binary']:
        good(t.run(command(t, guest, f'out={t.out}', *given)),
             '1 forked process of the guest is not recorded')
        text = t.text(given)
        words = [LINE.match(line)[4].strip() for line in text.splitlines()]
        need('clc' not in words and words[-1] == 'syscall' and words.count('nop') == 1, words)
    guest = threads(t)
    done = t.run([*command(t, guest, f'out={t.out}', 'every=50'), 'fork'])
    need(done.status == 42 and '6 forked processes of the guest are not recorded' in done.said[0],
         done)


if __name__ == '__main__':
    main(globals())
