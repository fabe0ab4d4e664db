#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a log goes: QEMU's log, files, sockets; full disks, readers that go, threads, fork, exec,
SIGKILL. The guest always ends as without us, with its status."""
import os
import re
import signal
import socket
import threading

import execlog
from execlog import LINE, PLUGIN, etrace, need, run, same
from user_test import qemu

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


def build(t, text, name='guest', **defines):
    source, guest = f'{t.folder}/{name}.S', f'{t.folder}/{name}'
    with open(source, 'w', encoding='utf-8') as f:
        f.write(text)
    done = run([etrace.tool('gcc'), '-nostdlib', '-static', *[f'-D{k}={v}' for k, v in
                                                             defines.items()], '-o', guest, source])
    need(done.status == 0, done.errors)
    return guest


def command(guest, *given):
    return [qemu('x86_64'), '-plugin', ','.join([PLUGIN, *given]), guest]


def good(done, *said):
    need(done.status == STATUS, done)
    need(len(done.said) == len(said), done.said)
    for line, words in zip(done.said, said):
        need(re.search(words, line), line, 'is not', words)


def whole(t, guest):
    good(run(command(guest, f'out={t.folder}/whole')))
    text = execlog.read(f'{t.folder}/whole')
    need(len(text.splitlines()) == 3 * LOOPS + 4, 'lines')
    return text


def test_names(t):
    """`output` and `out` are one argument, of every plugin."""
    guest = build(t, LONG, LOOPS=3)
    for tool in 'execlog', 'etrace', 'uftrace':
        plugin = os.path.join(os.path.dirname(PLUGIN), f'lib{tool}.so')
        for word in 'output', 'out':
            place = f'{t.folder}/{tool}-{word}'
            run([qemu('x86_64'), '-plugin', f'{plugin},{word}={place}', guest])
            need(os.path.exists(place), plugin, word)


class Reader(threading.Thread):
    """Listens at a socket and reads: all, or the first bytes only."""

    def __init__(self, path, most=None):
        super().__init__(daemon=True)
        self.most, self.data = most, bytearray()
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(path)
        self.server.listen()
        self.start()

    def run(self):
        with self.server, self.server.accept()[0] as s:
            while self.most is None or len(self.data) < self.most:
                some = s.recv(1 << 16)
                if not some:
                    break
                self.data.extend(some)


def test_socket(t):
    guest = build(t, LONG, LOOPS=LOOPS)
    text = whole(t, guest)
    for given in [], ['format=binary']:
        path = f'{t.folder}/sock{len(given)}'
        reader = Reader(path)
        good(run(command(guest, f'out=unix:{path}', *given)))
        reader.join(etrace.SECONDS)
        with open(t.out, 'wb') as f:
            f.write(reader.data)
        same(execlog.dump(t.out) if given else reader.data.decode(), text, 'what came', *given)


def test_reader_goes(t):
    guest = build(t, LONG, LOOPS=5 * LOOPS)
    for given in [], ['format=binary']:
        path = f'{t.folder}/sock{len(given)}'
        reader = Reader(path, most=1)
        done = run(command(guest, f'out=unix:{path}', *given))
        reader.join(etrace.SECONDS)
        if given and not done.said:
            continue  # it all went in one piece
        good(done, r'the reader is gone \(.*\) after \d+ bytes; the rest is dropped',
             r'^\d+ bytes were written, \d+ bytes dropped')


def test_no_reader(t):
    guest = build(t, LONG, LOOPS=LOOPS)
    done = run(command(guest, f'out=unix:{t.folder}/sock', 'wait=0'))
    # That it waits is told unless it is over before anybody asks.
    told = ['waits for a reader'] if len(done.said) == 3 else []
    good(done, *told, 'no reader came', 'bytes dropped')
    need(not os.path.exists(f'{t.folder}/sock'), 'the socket is left')


def test_full_disk(t):
    guest = build(t, LONG, LOOPS=LOOPS)
    for given in [], ['format=binary'], ['last=1000']:
        done = run(command(guest, 'out=/dev/full', *given))
        need(done.status == STATUS and done.said, done)
        need('/dev/full: No space left on device after 0 bytes; the rest is dropped' in done.said[0],
             done.said)


def test_log_is_whole_where_the_guest_waits(t):
    """A system call: QEMU's log has all lines before it, though the guest never comes back."""
    guest = build(t, 'nop; mov $0x3c, %ecx; dec %ecx; mov $34, %eax; syscall'.join(
        ['.globl _start\n_start: ', '\n']))
    child = etrace.start([qemu('x86_64'), '-plugin', PLUGIN, '-d', 'plugin', guest])
    said = b''
    while b'"movl $0x22, %eax"\n' not in said:
        some = child.stderr.read1()
        need(some, 'the log ends:', said)
        said += some
    os.kill(child.pid, signal.SIGKILL)
    need(etrace.finish(child).status == -signal.SIGKILL, 'killed')
    need(len(said.splitlines()) == 4, said)


def test_killed(t):
    """SIGKILL: the binary log is good up to where it ends."""
    guest = build(t, LONG, LOOPS=LOOPS * 1000)
    fifo = f'{t.folder}/fifo'
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    child = etrace.start(command(guest, f'out={fifo}', 'format=binary'))
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
    etrace.finish(child)
    os.close(reader)
    with open(t.out, 'wb') as f:
        f.write(data)
    done = run([os.environ['GUESTTRACE'], 'dump', t.out])
    lines = done.out.decode().splitlines()
    need(len(lines) > 10000, len(lines), 'lines', done.errors)
    kinds = [LINE.match(line)[4].split()[0] for line in lines]
    need(kinds == ['movl'] + [['incl', 'decl', 'jne'][i % 3] for i in range(len(lines) - 1)],
         'the lines')


def test_threads(t):
    """Lines of several threads: whole, and in the order of each."""
    guest = f'{t.folder}/threads'
    done = run([etrace.tool('gcc'), '-static', '-O1', '-pthread', '-o', guest,
                f'{execlog.HERE}/../etrace/guests/threads.c'])
    need(done.status == 0, done.errors)
    where = etrace.symbols(guest)
    span = f'range={where["work"]:x}-{where["work"] + 0x20:x}'
    for given in ['every=50'], ['every=50', 'format=binary'], ['every=50', span]:
        done = run([*command(guest, f'out={t.out}', *given), 'threads'])
        need(done.status == 42 and not done.said, done)
        text = execlog.dump(t.out) if 'format=binary' in given else execlog.read(t.out)
        vcpus = set()
        for line in text.splitlines():
            m = LINE.match(line)
            need(m or (span in given and not line), 'no line:', line)
            vcpus.add(m and m[1])
        need(len(vcpus) > 2, 'vCPUs', vcpus)


def test_fork(t):
    """QEMU's log is the child's, too; a file is the parent's."""
    guest = build(t, FORKS)
    text = execlog.log(t, qemu('x86_64'), [], guest, status=STATUS)
    words = [LINE.match(line)[4].strip() for line in text.splitlines()]
    need(words.count('movl $0x39, %eax') == 1, words)
    need(words.count('clc') == 1 and words.count('nop') == 1, words)
    need(words.count('movl $7, %edi') == 2, words)
    need(words.count('testl %eax, %eax') == 2, words)
    for given in [], ['format=binary']:
        good(run(command(guest, f'out={t.out}', *given)),
             '1 forked process of the guest is not recorded')
        text = execlog.dump(t.out) if given else execlog.read(t.out)
        words = [LINE.match(line)[4].strip() for line in text.splitlines()]
        need('clc' not in words and words[-1] == 'syscall' and words.count('nop') == 1, words)
    done = run([etrace.tool('gcc'), '-static', '-O1', '-pthread', '-o', guest,
                f'{execlog.HERE}/../etrace/guests/threads.c'])
    need(done.status == 0, done.errors)
    done = run([*command(guest, f'out={t.out}', 'every=50'), 'fork'])
    need(done.status == 42 and '6 forked processes of the guest are not recorded' in done.said[0],
         done)


if __name__ == '__main__':
    execlog.main(globals())
