#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Position-independent programs in etrace streams: where they ran is in the stream, or is found."""
import os
import re
import subprocess

from cli_case import CliTest
from gttest import cases, etrace, etrace_write as es, paths, qemus, sockets
from gttest.cases import need
from gttest.paths import GUESTTRACE

PROGRAM = b'''
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
__attribute__((noinline)) static int add(int n, int k)
{
    return n + k;
}
__attribute__((noinline)) static int never(int n)
{
    return add(n, n);
}
static void show_maps(void)
{
    static char text[1 << 16]; /* all in one: its lines are not as many in each run */
    FILE *maps = fopen("/proc/self/maps", "r");
    fwrite(text, 1, fread(text, 1, sizeof text, maps), stdout);
    fclose(maps);
}
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum = add(sum, fib(i));
    if (argc > 5)
        return never(sum);
    if (argc > 1) {
        void *library = dlopen(argv[1], RTLD_NOW);
        int (*in_library)(int) = (int (*)(int))dlsym(library, "in_library");
        sum = in_library(sum);
    }
    show_maps();
    return sum == 88 || sum == 89 ? 0 : 1;
}
'''
LIBRARY = b'int in_library(int n)\n{\n    return n + 1;\n}\n'


def without_mappings(data):
    """The stream as another writer makes it."""
    return b''.join(es.packet(kind, unit, body) for kind, unit, body, _ in etrace.packets(data)
                    if kind != es.NOTE or not body[8:].startswith(b'mapping '))


class X86(CliTest):
    arch, compiler, prefix = 'x86_64', 'gcc', []

    def setUp(self):
        super().setUp()
        need(self.compiler)
        self.qemu = qemus.user(self.arch)
        self.write('p.c', PROGRAM, mode=0o644)
        self.write('l.c', LIBRARY, mode=0o644)
        self.build('-pie', '-fPIE', 'p.c', '-o', 'p')
        self.build('-no-pie', '-fno-pie', 'p.c', '-o', 'fixed')
        self.build('-shared', '-fPIC', 'l.c', '-o', 'l.so')

    def build(self, *words):
        subprocess.run([self.compiler, '-g', '-O0', *words, '-ldl'], cwd=self.dir, check=True)

    def record(self, output, program, *words, flags='exec'):
        return self.must(self.qemu, *self.prefix, '-plugin',
                         f'{paths.plugin("etrace")},output={output},flags={flags}', './' + program, *words).stdout

    def mappings(self, stream):
        out = self.expect(0, 'dump', stream).stdout
        return [line for line in out.splitlines() if line.startswith('mapping ')]

    def test_mappings(self):
        """They are what the guest's kernel says; build-ids are those of readelf."""
        maps = self.record('t', 'p', './l.so')
        found = {}
        for line in self.mappings('t'):
            _, place, base, build_id, path = line.split(' ', 4)
            found[os.path.basename(path)] = path, place.split('-'), base, build_id
        for name in 'p', 'l.so':
            path, place, base, build_id = found[name]
            self.assertEqual(path, self.path(name))
            own = [line for line in maps.splitlines() if line.endswith('/' + name)]
            first = min(int(line.split('-')[0], 16) for line in own)
            self.assertEqual((int(base, 16), int(place[0], 16)), (first, first))
            said = subprocess.run(['readelf', '-n', path], capture_output=True, text=True,
                                  check=True).stdout
            self.assertEqual(re.search(r'Build ID: (\w+)', said)[1], build_id)
        self.assertTrue(any(name.startswith('libc') for name in found), found)
        self.assertEqual(len(set(self.mappings('t'))), len(self.mappings('t')))

    def names(self, *words):
        out = self.expect(0, 'dump', *words).stdout
        return {line.split()[3] for line in out.splitlines()
                if line[0] == 'E' and len(line.split()) == 4}

    def folded(self, *words):
        out = self.expect(0, 'etrace', 'export', '-f', 'folded', *words).stdout
        return {line.rpartition(' ')[0] for line in out.splitlines()}

    def check_all(self, stream, fixed):
        names = self.names('-e', 'p', stream)
        self.assertTrue({'main', 'fib', 'add', 'show_maps'} <= names, names)
        self.assertNotIn('never', names)
        self.assertTrue(any('main;fib;fib' in s for s in self.folded('-e', 'p', stream)))
        done = self.expect(0, 'etrace', 'coverage', '-f', 'qcov', '-e', 'p', stream)
        self.assertEqual(done.stdout, fixed)
        self.assertRegex(done.stderr, r'^guesttrace etrace coverage: \S*/p: \d+ functions at'
                         r' 0x\w+-0x\w+, offset 0x\w+\n$')

    def test_program(self):
        """All as of the same program that is linked for an address; the stream's notes say where it
        ran, or its code does."""
        self.record('t', 'p')
        self.record('f', 'fixed')
        fixed = self.expect(0, 'etrace', 'coverage', '-f', 'qcov', '-e', 'fixed', 'f').stdout
        self.check_all('t', fixed)
        with open(self.path('t'), 'rb') as f:
            self.write('u', without_mappings(f.read()), mode=0o644)
        self.check_all('u', fixed)

    def test_counts(self):
        self.record('t', 'p', flags='coverage')
        self.record('f', 'fixed', flags='coverage')
        fixed = self.expect(0, 'etrace', 'coverage', '-f', 'qcov', '-e', 'fixed', 'f').stdout
        self.assertEqual(self.expect(0, 'etrace', 'coverage', '-f', 'qcov', '-e', 'p', 't').stdout, fixed)
        with open(self.path('t'), 'rb') as f:
            self.write('u', without_mappings(f.read()), mode=0o644)
        self.assertEqual(self.expect(0, 'etrace', 'coverage', '-f', 'qcov', '-e', 'p', 'u').stdout, fixed)

    def test_library(self):
        self.record('t', 'p', './l.so')
        self.assertIn('in_library', self.names('-e', 'p', '-e', 'l.so', 't'))
        done = self.expect(0, 'etrace', 'coverage', '-f', 'qcov', '-e', 'l.so', 't')
        self.assertRegex(done.stdout, r'(?m)^ +1:? .*return n \+ 1;')

    def test_stripped_of_its_symbols(self):
        """The program that ran had no symbols; the build-id says that this file is the same."""
        subprocess.run(['cp', 'p', 'full'], cwd=self.dir, check=True)
        strip = self.compiler.replace('gcc', 'strip')
        subprocess.run([strip, 'p'], cwd=self.dir, check=True)
        self.record('t', 'p')
        self.assertIn('fib', self.names('-e', 'full', 't'))

    def test_pipe(self):
        self.record('t', 'p')
        with open(self.path('t'), 'rb') as f:
            data = f.read()
        for command in ['dump'], ['etrace', 'export', '-f', 'folded'], ['etrace', 'coverage']:
            done = subprocess.run([GUESTTRACE, *command, '-e', 'p', '-'], cwd=self.dir,
                                  input=data, env=self.env, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b'fib', done.stdout)
            self.assertIn(b'offset 0x', done.stderr)

    def test_live(self):
        """dump waits for nothing."""
        self.record('t', 'p')
        with open(self.path('t'), 'rb') as f:
            data = f.read()
        ours = sockets.listen(self.path('s'))
        reader = subprocess.Popen([GUESTTRACE, 'dump', '-e', 'p', 'unix:s'], cwd=self.dir,
                                  env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        with reader, ours.accept()[0] as peer:
            peer.sendall(data)
            while b' fib\n' not in reader.stdout.readline():
                pass
            peer.close()
            self.assertIn(b' main\n', reader.stdout.read())
        self.assertEqual(reader.returncode, 0)
        ours.close()

    def test_other_program(self):
        """A file that did not run: an error, and nothing is written."""
        self.record('t', 'p')
        self.build('-pie', '-fPIE', '-DOTHER', '-O1', 'p.c', '-o', 'other')
        with open(self.path('t'), 'rb') as f:
            self.write('u', without_mappings(f.read()), mode=0o644)
        self.build('-shared', '-fPIC', 'l.c', '-o', 'other.so')
        for stream, why in ('t', 'the stream has no mapping of its build-id'), ('u', 'no clear'):
            for command in ['dump'], ['etrace', 'export', '-o', 'out'], ['etrace', 'coverage', '-o', 'out']:
                done = self.expect(1, *command, '-e', 'other.so', stream)
                self.assertEqual(done.stdout, '')
                self.assertIn(why, done.stderr)
                self.assertIn('other.so:OFFSET', done.stderr)
                self.assertFalse(os.path.exists(self.path('out')))
            done = self.expect(1, 'dump', '-e', 'other.so', '-e', 'p', stream)
            self.assertIn(' fib\n', done.stdout)
        done = self.expect(1, 'etrace', 'export', '-o', 'out', '-e', 'p:0x1000', 't')
        self.assertIn('no function of the files of --elf ran', done.stderr)
        self.assertFalse(os.path.exists(self.path('out')))
        done = self.expect(1, 'dump', '-e', 'p:0x1000', 't')
        self.assertIn('no function of the files of --elf ran', done.stderr)


class Aarch64(X86):
    arch, compiler, prefix = 'aarch64', 'aarch64-linux-gnu-gcc', ['-L', '/usr/aarch64-linux-gnu']


class Riscv64(X86):
    arch, compiler, prefix = 'riscv64', 'riscv64-linux-gnu-gcc', ['-L', '/usr/riscv64-linux-gnu']


if __name__ == '__main__':
    cases.main()
