#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader is connected to the socket of libetrace or libexeclog and never reads: QEMU ends all the same, as without
us, and what is lost is reported."""
import array
import fcntl
import os
import re
import select
import signal
import sys
import termios

from gttest import commands, compilers, functions, paths, qemus, sockets
from gttest.plugin_runs import PluginTest
from gttest.results import need, write

TOOLS = {'etrace': 'flags=exec+mem', 'execlog': 'format=text'}
STATUS = 7
# Less than the plugin keeps for a reader (16 MiB), more than a socket does.
PROGRAM = '''
        .globl _start
_start: mov $30000, %ecx
1:      incl cell(%rip)
        dec %ecx
        jnz 1b
        mov $60, %eax
        mov $7, %edi
        syscall
        .bss
cell:   .long 0
'''
# It goes on as another program.
EXECS = PROGRAM.replace("""        mov $60, %eax
        mov $7, %edi
        syscall
""", """        mov $59, %eax
        lea path(%rip), %rdi
        lea words(%rip), %rsi
        xor %edx, %edx
        syscall
        hlt
        .data
path:   .string "/bin/sh"
option: .string "-c"
text:   .string "exit 7"
words:  .quad path, option, text, 0
""")
# It never ends, and accesses memory, so that more waits for the reader soon than the plugin keeps.
MACHINE = '''
        .globl _start
_start: la t0, cell
1:      ld t1, (t0)
        sd t1, (t0)
        j 1b
        .balign 8
cell:   .quad 0
'''
GIVEN_UP = re.compile(r'the reader is connected, but took nothing for 1 s after \d+ bytes; the rest is dropped')
LOST = re.compile(r'^\d+ bytes were written, [1-9]\d* bytes dropped$')


class ReaderTest(PluginTest):
    def begin(self, tool, qemu, *command):
        """QEMU, with a reader that reads nothing."""
        self.plugin = tool
        path = f'{self.folder}/{tool}'
        with sockets.listen(path) as server:
            child = commands.start([qemu, '-plugin', self.word(f'output=unix:{path}', TOOLS[tool], 'wait=1'),
                                    *command])
            reader = server.accept()[0]
        os.unlink(path)
        return child, reader


def lost(t, child, reader, status):
    done = t.finish(child)
    need(done.status == status, 'status', done.status, done.errors)
    need(any(GIVEN_UP.search(line) for line in done.said), 'that it was given up is not said', done.errors)
    need(any(LOST.search(line) for line in done.said), 'how much is lost is not said', done.errors)
    written = int(next(line for line in done.said if LOST.search(line)).split()[0])
    got = 0
    while some := reader.recv(1 << 16):
        got += len(some)
    need(got == written, 'written', written, 'but there are', got)


def test_programs(t):
    source = write(f'{t.folder}/guest.S', PROGRAM)
    guest = compilers.compile_to(f'{t.folder}/guest', 'x86_64', source, '-nostdlib', '-static')
    for tool in TOOLS:
        child, reader = t.begin(tool, qemus.user('x86_64'), guest)
        with reader:
            lost(t, child, reader, STATUS)


def test_exec(t):
    """What is written before an execve does not keep the guest from it, and that is said by then."""
    source = write(f'{t.folder}/guest.S', EXECS)
    guest = compilers.compile_to(f'{t.folder}/guest', 'x86_64', source, '-nostdlib', '-static')
    for tool in TOOLS:
        child, reader = t.begin(tool, qemus.user('x86_64'), guest)
        with reader:
            done = t.finish(child)
            need(done.status == STATUS, 'status', done.status, done.errors)
            need(any(GIVEN_UP.search(line) for line in done.said), 'that it was given up is not said', done.errors)


def waiting(reader):
    """Bytes that the reader has not read."""
    n = array.array('i', [0])
    fcntl.ioctl(reader, termios.FIONREAD, n)
    return n[0]


def is_asleep(child):
    """No thread of it runs."""
    for task in os.listdir(f'/proc/{child.pid}/task'):
        with open(f'/proc/{child.pid}/task/{task}/stat', encoding='utf-8') as f:
            if f.read().rpartition(')')[2].split()[0] == 'R':
                return False
    return True


def until_it_runs(child, reader):
    """Code has run: the stream's head is shorter."""
    while waiting(reader) < 10000:
        need(child.poll() is None, 'QEMU has ended:', child.poll())


def until_its_vcpu_waits(child, reader):
    """In the plugin, for the reader; or until that is given up, as it is at any time where QEMU does not say that it
    ends."""
    looks, gone = 0, select.poll()
    gone.register(reader, 0)
    while looks < 100 and not gone.poll(0):
        need(child.poll() is None, 'QEMU has ended:', child.poll())
        looks = looks + 1 if is_asleep(child) else 0


def test_machines(t):
    """QEMU is told to end while its vCPU waits for the reader."""
    source = write(f'{t.folder}/guest.S', MACHINE)
    guest = compilers.compile_to(f'{t.folder}/guest', 'riscv64', source, '-nostdlib', '-static', '-march=rv64g',
                                 '-mabi=lp64d', '-Wl,-Ttext=0x80000000')
    for version, qemu in qemus.machines('riscv64'):
        for tool in TOOLS:
            child, reader = t.begin(tool, qemu, '-M', 'virt', '-bios', 'none', '-m', '64', *qemus.QUIET,
                                    '-kernel', guest)
            with reader:
                until_it_runs(child, reader)
                until_its_vcpu_waits(child, reader)
                child.send_signal(signal.SIGTERM)
                lost(t, child, reader, 0)


if __name__ == '__main__':
    sys.exit(functions.main(globals(), ReaderTest))
