# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a machine's processes, made here, and what `symbols --sysroot` makes of them.

Tasks make calls one after the other, in a machine with one module. The programs are made of functions
of chance sizes.
"""
import os
import random
import re
import shutil
import struct
import subprocess
import sys

import harness
from harness import CliTest, need

sys.path[:0] = [os.path.join(harness.HERE, '..', folder) for folder in ('tools', 'guest')]
import check_uftrace_dir as checker  # noqa: E402
import trace as tracing  # noqa: E402

SID = 'fedcba9876543210'  # after those of processes
MASK = (1 << 48) - 1
TEXT = 0xffffffff81000000
AT = 0x400000  # where programs are linked


def word(kind, depth, addr):
    return kind | 5 << 3 | depth << 6 | addr << 16


def calls(addrs):
    """Records, at 1 ns, 2 ns...: each address is called and returns; a negative one is what is open
    until the end."""
    out, opened, time = b'', [], 0
    for addr in addrs:
        kept = addr < 0
        addr = abs(addr) & MASK
        out += struct.pack('<QQ', time + 1, word(0, len(opened), addr))
        if kept:
            opened.append(addr)
        else:
            out += struct.pack('<QQ', time + 2, word(1, len(opened), addr))
        time += 2
    while opened:
        addr = opened.pop()
        out += struct.pack('<QQ', time, word(1, len(opened), addr))
    return out


class Sysroot(CliTest):
    def setUp(self):
        super().setUp()
        need('cc', 'nm', 'strip')
        os.mkdir(self.path('root'))
        self.out = self.path('uftrace.data')

    def build(self, name, n=60, seed=1, *options):
        """A program, or with -shared a library; {function: link address}."""
        chance, prefix = random.Random(seed), os.path.basename(name).split('.')[0]
        lines = ['.globl _start', '_start: nop']
        for i in range(n):
            what = f'{prefix}_{i}'
            lines += ['.balign 16', f'.globl {what}', f'.type {what}, @function', f'{what}:',
                      f'.space {chance.randint(1, 400)}, 0x90', f'.size {what}, . - {what}']
        self.write(name + '.s', '\n'.join(['.text', *lines, '']).encode())
        kind = options or ('-static', '-no-pie', f'-Wl,-Ttext-segment={AT:#x}')
        subprocess.run(['cc', '-nostdlib', '-Wl,--build-id', *kind, '-o', name, name + '.s'],
                       check=True, cwd=self.dir, capture_output=True)
        os.unlink(self.path(name + '.s'))
        out = subprocess.run(['nm', name], check=True, cwd=self.dir, capture_output=True, text=True)
        found = [line.split() for line in out.stdout.splitlines()]
        return {what: int(addr, 16) for addr, _, what in found if what.startswith(prefix + '_')}

    def machine(self, tasks, guest=None):
        """tasks: {tid: what it does, see calls()}; guest: guest-tasks.txt."""
        shutil.rmtree(self.out, ignore_errors=True)
        tids = sorted({1, *tasks})
        head = b'Ftrace!\0' + struct.pack('<IHBBQQHHI', 4, 40, 1, 2, 0x62, 0b10001001, 1024, 0, 0)
        listed = ','.join(map(str, tids))
        self.put('info', head + b'exename:guest\ncmdline:guest\ntaskinfo:lines=2\n' +
                 f'taskinfo:nr_tid={len(tids)}\ntaskinfo:tids={listed}\n'.encode())
        self.put('task.txt', f'SESS timestamp=0.000000001 pid=1 sid={SID} exename="guest"\n' +
                 ''.join(f'TASK timestamp=0.000000001 tid={tid} pid=1\n' for tid in tids))
        self.put(f'sid-{SID}.map', '000000000000-fffffffff000 r-xp 00000000 00:00 0 guest\n'
                                   'ffffffffffff-ffffffffffff rw-p 00000000 00:00 0 [stack]\n')
        called = sorted({abs(addr) & MASK for addrs in tasks.values() for addr in addrs} | {0x1000})
        self.put('guest.sym', f'# symbols: {len(called)}\n# path name: guest\n' +
                 ''.join(f'{addr:016x} t 0x{addr:x}\n' for addr in called))
        for tid in tids:
            self.put(f'{tid}.dat', calls(tasks.get(tid, [0x1000])))
        if guest:
            self.put('guest-tasks.txt', guest)

    def execs(self, tasks, guest=None):
        """A recording in which the kernel has names; the address of what a process calls when it
        executes a program."""
        funcs = [TEXT + 64 * i * (i % 7 + 1) for i in range(1, 300)]
        names = {addr: f'k{i}' for i, addr in enumerate(sorted(funcs))}
        exec_at = sorted(funcs)[77]
        names[exec_at] = 'begin_new_exec'
        lines = [f'{TEXT:016x} T _text', f'{TEXT:016x} T _stext']
        lines += [f'{addr:016x} t {what}' for addr, what in sorted(names.items())]
        self.write('System.map', '\n'.join([*lines, f'{TEXT + 0x40000:016x} T _etext\n']).encode())
        self.machine({1: funcs, **tasks(exec_at)}, guest)
        return exec_at

    def put(self, name, data):
        data = data if isinstance(data, bytes) else data.encode()
        self.write('uftrace.data/' + name, data, 0o644)

    def symbols(self, *arguments, status=0):
        done = self.expect(status, 'symbols', *arguments)
        checker.check_files(self.out, False)
        self.trace = tracing.Trace(self.out)
        return done

    def name(self, tid, addr, time=1 << 40):
        return self.trace.name(tid, time, addr & MASK)[1]

    def names(self, tid, funcs, offset=0, time=1 << 40):
        """Each function has its own name in the task."""
        for what, addr in funcs.items():
            self.assertEqual(self.name(tid, addr + offset, time), what)

    def files(self):
        found = {}
        for name in os.listdir(self.out):
            with open(os.path.join(self.out, name), 'rb') as f:
                found[name] = f.read()
        return found

    def ran(self, done):
        return dict(re.findall(r'^/.*/root/(\S+): ran in (\d+) process(?:es)?$', done.stdout, re.M))


GUEST = '1 0 0 swapper/0\n1001 1 1 swapper/0\n1001 1 1 init\n1002 2 2 sh\n1003 3 2 sh\n'

__all__ = ['AT', 'GUEST', 'MASK', 'SID', 'TEXT', 'Sysroot', 'checker', 'harness', 'need', 'tracing']
