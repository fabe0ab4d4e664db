#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The command with the real plugin and the QEMU that is installed here."""
import os
import shutil
import signal
import struct
import subprocess

from cli_case import DIRECTORY, SLICES, VARIABLE, CliTest
from gttest import cases, paths
from gttest.cases import need
from gttest.results import Skip
from session import Session

SOURCE = f'''
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) int leaf(int n) {{ __asm__ volatile(""); return n + 1; }}
int main(int argc, char **argv)
{{
    int n = 0;
    for (int i = 0; i < 1000; i++)
        n = leaf(n);
    printf("%s %d %s\\n", argv[0], n, getenv("{VARIABLE}") || getenv("{SLICES}") ? "leaked" : "clean");
    fflush(stdout);
    if (argc > 1)
        raise(atoi(argv[1]));
    return 7;
}}
'''


class Real(CliTest):
    compiler, qemu = 'cc', 'qemu-' + os.uname().machine

    def setUp(self):
        super().setUp()
        need(self.compiler, self.qemu)
        shutil.rmtree(self.bin)
        self.env['GUESTTRACE_PLUGIN_DIR'] = paths.PLUGINS
        self.write('prog.c', SOURCE.encode())
        subprocess.run([self.compiler, '-O1', '-o', 'prog', 'prog.c'], check=True, cwd=self.dir)

    def record(self, *arguments):
        done = self.run_cli('record', *(() if '--tool' in arguments else DIRECTORY), *arguments)
        if 'is statically linked' in done.stderr:
            raise Skip(done.stderr.strip())
        return done

    def check(self, name):
        self.check_recording(name)

    def test_named_like_a_qemu(self):
        """qemu-img and others are programs."""
        os.rename(self.path('prog'), self.path('qemu-tool'))
        done = self.record('-o', 'tool', './qemu-tool')
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(self.calls_of_leaf('tool'), [1000])

    def calls_of_leaf(self, name):
        need('uftrace')
        done = subprocess.run(['uftrace', 'report', '-d', self.path(name), '-F', 'leaf'],
                              capture_output=True, text=True, check=True)
        return [int(line.split()[-2]) for line in done.stdout.split('\n') if line.endswith(' leaf')]

    def test_program(self):
        done = self.record('-o', 'a,b', './prog')
        self.assertEqual((done.returncode, done.stdout), (7, './prog 1000 clean\n'), done.stderr)
        self.assertRegex(done.stderr, r'guesttrace record: [\d,]+ calls in 1 task, ')
        self.check('a,b')
        self.assertEqual(self.calls_of_leaf('a,b'), [1000])

    def test_killed(self):
        for sig in (signal.SIGKILL, signal.SIGSEGV):
            done = self.record('./prog', str(int(sig)))
            self.assertEqual(done.returncode, -sig, done.stderr)
            self.check('uftrace.data')
            self.assertEqual(self.calls_of_leaf('uftrace.data'), [1000])

    def test_argument_that_the_plugin_refuses(self):
        """QEMU prints why and ends; the program has not run."""
        done = self.record('--privilege-levels', './prog')
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn('trace-privilege-level', done.stderr)
        self.assertIn('nothing was recorded', done.stderr)

    def test_plugin_that_is_none(self):
        self.write('none', b'text')
        for tool in 'uftrace', 'etrace', 'execlog':
            done = self.record('--tool', tool, '--plugin', 'none', '-o', tool + '.out', './prog')
            self.assertEqual((done.returncode, done.stdout), (125, ''), done.stderr)
            self.assertIn('Could not load plugin', done.stderr)
            self.assertFalse(os.path.exists(self.path(tool + '.out')))

    def test_qemu_command(self):
        done = self.record('-q', '--', self.qemu, *self.library_options(), './prog')
        self.assertEqual((done.returncode, done.stdout), (7, './prog 1000 clean\n'), done.stderr)
        self.assertEqual(self.calls_of_leaf('uftrace.data'), [1000])

    def library_options(self):
        return []


class Aarch64(Real):
    compiler, qemu = 'aarch64-linux-gnu-gcc', 'qemu-aarch64'

    def library_options(self):
        return ['-L', '/usr/aarch64-linux-gnu']


class Machine(CliTest):
    def test_console(self):
        """OpenSBI on a terminal; then the keys that end QEMU, which read them in its own way."""
        qemu = shutil.which('qemu-system-riscv64')
        need('qemu-system-riscv64')
        self.env['GUESTTRACE_PLUGIN_DIR'] = paths.PLUGINS
        self.write('idle', struct.pack('<II', 0x10500073, 0xffdff06f))  # wfi and back to it
        session = Session(self, '', '-q', *DIRECTORY, '--clock=host', command=[
            '--', qemu, '-M', 'virt', '-m', '64', '-nographic', '-kernel', 'idle'])
        session.await_text(rb'OpenSBI v[\d.]+\s')
        session.await_text(rb'Boot HART')
        os.write(session.master, b'\x01x')
        self.assertEqual(session.end(), 0)
        self.assertIn(b'QEMU: Terminated', session.seen)
        self.assertRegex(self.read('uftrace.data', 'extern.dat'), r'(?m)^\d+\.\d{9} OpenSBI v')
        self.check_recording()

    def test_that_cannot_begin(self):
        """QEMU's own message is the last word on why."""
        qemu = shutil.which('qemu-system-riscv64')
        need('qemu-system-riscv64')
        self.env['GUESTTRACE_PLUGIN_DIR'] = paths.PLUGINS
        done = self.run_cli('record', '--', qemu, '-M', 'virt', '-nographic', '-bios', 'none', '-kernel', 'nothing-here')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("could not load kernel 'nothing-here'", done.stderr)
        self.assertIn('QEMU ended with an error before the guest ran', done.stderr)


cases.main()
