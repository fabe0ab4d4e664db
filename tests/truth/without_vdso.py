# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of x86_64 under QEMU's user mode that do not see its vDSO, as programs under valgrind see none.

QEMU 8.2 and later give programs a vDSO: the entry AT_SYSINFO_EHDR of the auxiliary vector has its address. The C library
then looks its functions up and calls them, and makes system calls where there is none. So that both runs
call the same functions, the entry is changed at the program's first instruction, before anything has read it.
"""
import os
import struct
import subprocess

from gttest.commands import SECONDS, finish, start
from gttest.gdbstub import Stub
from gttest.results import need

AT_NULL, AT_IGNORE, AT_SYSINFO_EHDR = 0, 1, 33
MOST_WORDS = 10000


def words(stub, at):
    """(address, value) of the words from there on."""
    for word in range(at, at + 8 * MOST_WORDS, 8):
        yield word, struct.unpack('<Q', stub.read_memory(word, 8))[0]


def hide(stub):
    stack = words(stub, struct.unpack('<Q', stub.read_register('rsp'))[0])
    next(stack)  # the number of arguments
    for _ in ('arguments', 'environment'):
        need(any(value == 0 for _, value in stack), 'the stack of a program that begins has no end')
    for at, kind in stack:
        if kind == AT_SYSINFO_EHDR:
            stub.write_memory(at, struct.pack('<Q', AT_IGNORE))
        if kind == AT_NULL:
            return
        next(stack)


def run(qemu, command, data, folder, env):
    """Runs QEMU with these arguments and this standard input to its end; its subprocess.CompletedProcess."""
    path = os.path.join(folder, 'gdb')
    child = start([qemu, '-g', path, *command], cwd=folder, env=env, stdin=subprocess.PIPE)
    stub = Stub(path, child)
    hide(stub)
    stub.let_go()
    return finish(child, SECONDS, data)
