#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams of real programs: names and call stacks are those that the source says."""
import json
import subprocess

from cli_case import CliTest
from gttest import cases, paths
from gttest.cases import need
from gttest.paths import GUESTTRACE

SOURCE = b'''
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static jmp_buf place;
static volatile int hits;
__attribute__((noinline)) static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
__attribute__((noinline)) static void deep(int n)
{
    if (n == 0)
        longjmp(place, 1);
    deep(n - 1);
    hits++;
}
__attribute__((noinline)) static void handler(int signal)
{
    hits += signal;
}
int main(void)
{
    if (!setjmp(place))
        deep(2);
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    return fib(6);
}
'''


class X86(CliTest):
    arch, machine, compiler = 'x86_64', 'x86_64', 'gcc'

    def setUp(self):
        super().setUp()
        need(self.compiler)
        self.qemu = self.real_qemu(self.arch)
        self.write('p.c', SOURCE)
        self.must(self.compiler, '-O1', '-fno-inline', '-static', 'p.c', '-o', 'p.elf')
        done = self.record('t.etrace')
        self.assertEqual(done.returncode, 8, done.stderr)

    def record(self, output, tool='etrace'):
        return self.run_in(self.qemu, '-plugin', f'{paths.plugin(tool)},output={output}', 'p.elf')

    def test_stacks(self):
        out = self.expect(0, 'etrace', 'export', '-f', 'folded', '-e', 'p.elf', 't.etrace').stdout
        stacks = [line.rpartition(' ')[0].split(';') for line in out.split('\n')]
        found = {' '.join(s[s.index('main'):]) for s in stacks if 'main' in s}
        for depth in range(1, 7):
            self.assertIn('main' + depth * ' fib', found)
        for depth in range(1, 4):
            self.assertIn('main' + depth * ' deep', found)
        self.assertNotIn('main' + 7 * ' fib', found)
        self.assertNotIn('main' + 4 * ' deep', found)
        self.assertTrue(any(s.startswith('main deep deep deep longjmp') for s in found), found)
        handlers = [s for s in found if s.split()[-1] == 'handler']
        self.assertEqual(len(handlers), 1)
        self.assertTrue(handlers[0].startswith('main raise '), handlers)
        for stack in found:
            if 'fib' in stack.split():
                self.assertEqual(set(stack.split()), {'main', 'fib'})

    def test_calls(self):
        out = self.expect(0, 'etrace', 'export', '-e', 'p.elf', 't.etrace').stdout
        events = [e for e in json.loads(out)['traceEvents'] if e['ph'] in 'BE']
        names = [e.get('name') for e in events if e['ph'] == 'B']
        for thread in {e['tid'] for e in events}:
            depth, time = 0, 0
            for event in (e for e in events if e['tid'] == thread):
                depth += 1 if event['ph'] == 'B' else -1
                self.assertGreaterEqual(depth, 0)
                self.assertGreaterEqual(event['ts'], time)
                time = event['ts']
            self.assertEqual(depth, 0)
        self.assertEqual([names.count(n) for n in ('main', 'fib', 'deep', 'handler')],
                         [1, 25, 3, 1])

    def own_calls(self, text):
        """Of a trace in JSON, what the program's own functions do: (begins?, name, how deep, how many
        instructions after main's first; where a handler ends, its return may be told or not)."""
        trace = json.loads(text)
        events = [e for e in trace['traceEvents'] if e['ph'] in 'BE']
        self.assertLessEqual({'ph', 'pid', 'ts'}, set.intersection(*map(set, events)))
        self.assertEqual(len({(e['pid'], e.get('tid')) for e in events}), 1)
        stack, out = [], []
        for e in events:
            if e['ph'] == 'B':
                stack.append(e['name'])
            name = stack[-1]
            if name in ('main', 'fib', 'deep', 'handler'):
                ended = (e['ph'], name) == ('E', 'handler')
                out.append((e['ph'], name, sum(n == name for n in stack),
                            None if ended else round(e['ts'] * 1000)))
            if e['ph'] == 'E':
                stack.pop()
                self.assertEqual(e.get('name', name), name)
        first = out[0][3]
        return [(*o[:3], o[3] and o[3] - first) for o in out]

    def test_chrome_is_uftrace_s(self):
        """uftrace makes the same JSON of calls that were recorded by themselves."""
        need('uftrace')
        self.assertEqual(self.record('d', 'uftrace').returncode, 8)
        done = subprocess.run(['uftrace', 'dump', '--chrome', '-d', 'd'], cwd=self.dir,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = self.expect(0, 'etrace', 'export', '-e', 'p.elf', 't.etrace').stdout
        self.assertEqual(self.own_calls(ours), self.own_calls(done.stdout))

    def test_names(self):
        lines = self.expect(0, 'dump', '-e', 'p.elf', 't.etrace').stdout.split('\n')
        self.assertIn(f'guest arch={self.machine} 64bit', lines)
        names = {line.split()[3] for line in lines if len(line.split()) == 4}
        self.assertLessEqual({'_start', 'main', 'fib', 'deep', 'handler', 'raise'}, names)

    def test_live(self):
        """A reader that waits sees what a file would have held, as far as the program's own code is
        concerned: its libraries' depends on where the kernel puts things."""
        with subprocess.Popen([GUESTTRACE, 'dump', '-e', 'p.elf', 'unix:s'], text=True,
                              cwd=self.dir, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as reader:
            self.assertIn('waiting', reader.stderr.readline())
            done = self.record('unix:s')
            out, errors = reader.communicate(timeout=60)
            self.assertEqual((done.returncode, reader.returncode, errors), (8, 0, ''))
        known = self.expect(0, 'dump', '-e', 'p.elf', 't.etrace').stdout
        own = [[line for line in text.split('\n')
                if line.split()[3:] in (['main'], ['fib'], ['deep'], ['handler'])]
               for text in (out, known)]
        self.assertEqual(own[0], own[1])
        self.assertGreater(len(own[0]), 50)
        self.assertEqual(out.split('\n')[-2:], known.split('\n')[-2:])


class Aarch64(X86):
    arch, machine, compiler = 'aarch64', 'aarch64', 'aarch64-linux-gnu-gcc'


class Riscv64(X86):
    arch, machine, compiler = 'riscv64', 'riscv', 'riscv64-linux-gnu-gcc'


cases.main()
