# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a machine's processes, made here, and what `symbols --sysroot` makes of them.

Tasks make calls one after the other, in a machine with one module. The programs are made of functions
of chance sizes.
"""
import os
import random
import re
import shutil
import subprocess

from cli_case import CliTest
from gttest import elf, uftrace, uftrace_check, uftrace_write as write
from gttest.cases import need
from gttest.uftrace_write import MASK

SID = 'fedcba9876543210'  # after those of processes
TEXT = 0xffffffff81000000
AT = 0x400000  # where programs are linked


class Sysroot(CliTest):
    def setUp(self):
        super().setUp()
        need('cc', 'strip')
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
        found = sorted(elf.functions(self.path(name)), key=lambda s: s.name)
        return {s.name: s.addr for s in found if s.name.startswith(prefix + '_')}

    def machine(self, tasks, guest=None):
        """tasks: {tid: what it does, see uftrace_write.calls()}; guest: guest-tasks.txt."""
        shutil.rmtree(self.out, ignore_errors=True)
        tids = sorted({1, *tasks})
        called = sorted({abs(addr) & MASK for addrs in tasks.values() for addr in addrs} | {0x1000})
        self.put('info', write.info(tids))
        self.put('task.txt', write.tasks(SID, tids))
        self.put(f'sid-{SID}.map', write.mappings())
        self.put('guest.sym', write.symbols({addr: f'0x{addr:x}' for addr in called}))
        for tid in tids:
            self.put(f'{tid}.dat', write.calls(tasks.get(tid, [0x1000])))
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
        uftrace_check.check_files(self.out)
        self.trace = uftrace.Trace(self.out)
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
