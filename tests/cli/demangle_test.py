#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names in dump, convert and coverage: demangled as c++filt does it, and hostile ones left alone;
what stripped files still have of names, against the same files before they were stripped."""
import re
import subprocess
import unittest

from cli_case import CliTest
from gttest import etrace_write as es
from gttest.cases import need

PROGRAM = b'''
#include <map>
#include <string>
namespace { struct Hidden { Hidden(int v); template <class T> T twice(T x) { return x + x; } int v; };
Hidden::Hidden(int v) : v(v) {} }
namespace outer { int f(std::map<std::string, int> &m) { return (int)m.size(); } }
bool operator<(const Hidden &a, int b) { return a.v < b; }
extern "C" int plain(int x) { return x; }
int main() {
    std::map<std::string, int> m;
    Hidden h(3);
    auto l = [&](int x) { return h.twice(x); };
    return outer::f(m) + (int)h.twice(2.0) + l(plain(4)) + (h < 2);
}
'''

CROSS = {'x86_64': ('gcc', es.X86_64, 'jmp', 'ret', 'je', 'nop'),
         'aarch64': ('aarch64-linux-gnu-gcc', es.AARCH64, 'b', 'ret', 'b.eq', 'nop'),
         'riscv64': ('riscv64-linux-gnu-gcc', es.RISCV, 'j', 'ret', 'beqz a0,', 'nop')}


class Demangled(CliTest):
    def setUp(self):
        super().setUp()
        need('g++', 'c++filt', 'nm')
        self.write('p.cc', PROGRAM, mode=0o644)
        self.tool('g++', '-g', '-O0', '-no-pie', 'p.cc', '-o', 'p')
        symbols = [line.split() for line in
                   self.tool('nm', '-S', '--defined-only', 'p').splitlines()]
        places = sorted({int(s[0], 16) for s in symbols if len(s) == 4 and s[2] in 'tTwW'})
        entries = [(1, a, a + 1) for a in places]
        self.write('s', es.start() + es.execs(0, 0, entries), mode=0o644)

    def tool(self, *command, **more):
        return subprocess.run(command, cwd=self.dir, check=True, stdout=subprocess.PIPE, text=True,
                              **more).stdout

    def filtered(self, names, *options):
        return self.tool('c++filt', *options, input='\n'.join(names)).splitlines()

    def shown(self, *options):
        done = self.expect(0, 'dump', *options, '-e', 'p', 's')
        return [line.split(' ', 3)[3] for line in done.stdout.splitlines()[1:]]

    def test_dump(self):
        plain, people = self.shown('--no-demangle'), self.shown()
        self.assertEqual(people, self.filtered(plain))
        self.assertEqual(people, self.shown('--no-demangle', '--demangle'))
        self.assertIn('(anonymous namespace)::Hidden::Hidden(int)', people)
        self.assertIn('operator<((anonymous namespace)::Hidden const&, int)', people)
        self.assertIn('main::{lambda(int)#1}::operator()(int) const', people)
        self.assertIn('plain', people)
        for name in '_ZN5outer1fE', '_ZltRKN12_GLOBAL__N_16HiddenEi':
            self.assertTrue(any(p.startswith(name) for p in plain))

    def test_convert(self):
        text = self.expect(0, 'etrace', 'export', '-f', 'folded', '-e', 'p', 's').stdout
        raw = self.expect(0, 'etrace', 'export', '-f', 'folded', '--no-demangle', '-e', 'p', 's').stdout
        self.assertIn('outer::f(std::map<', text)
        self.assertNotIn('_ZN', text)
        self.assertIn('_ZN', raw)

    def test_coverage(self):
        names = {}
        for option in '--demangle', '--no-demangle':
            text = self.expect(0, 'etrace', 'coverage', option, '-f', 'lcov', '-e', 'p', 's').stdout
            names[option] = sorted(re.findall(r'^FN:\d+,(.*)$', text, re.M))
        # constructors of both kinds have one name
        self.assertEqual(names['--demangle'], sorted(set(self.filtered(names['--no-demangle']))))
        self.assertIn('(anonymous namespace)::Hidden::Hidden(int)', names['--demangle'])

    def test_hostile(self):
        """Names that would be gigabytes, are no names, or nest deeply."""
        more = ''.join(f'S_IS{digits(i)}_S{digits(i)}_E' for i in range(100))
        names = ['_Z1f1AIiiE' + more, '_Z', '_ZN', '_ZN3foo', '_R', '_RNvC1a', '_Z' + 'P' * 2000 + 'i',
                 '_ZN' + '1aI' * 900 + 'i' + 'E' * 901 + 'v', '_Z1fv', '_RNvC5crate4main',
                 '_ZN5crate4main17h0123456789abcdefE']
        text = ''.join(f'.globl "{n}"\n.type "{n}",%function\n"{n}": .skip 16\n.size "{n}",16\n'
                       for n in names)
        self.write('h.S', text.encode(), mode=0o644)
        self.tool('gcc', '-nostdlib', '-static', '-no-pie', '-Wl,-Ttext=0x401000', 'h.S', '-o', 'p',
                  stderr=subprocess.DEVNULL)
        self.write('s', es.start() + es.execs(0, 0, [(1, 0x401000 + 16 * i, 0x401001 + 16 * i)
                                                     for i in range(len(names))]), mode=0o644)
        shown = self.shown()
        self.assertRegex(shown[0], r'^f\(A<int, int>, .*~[0-9a-f]{16}$')
        self.assertEqual(len(shown[0]), 4095)
        self.assertEqual(shown[1:8], self.filtered(names[1:8], '-r'))
        self.assertEqual(shown[8:], ['f()', 'crate::main', 'crate::main'])

    def test_long(self):
        """Names above 1,024 letters, for which c++filt wants -r; one that is cut stays another name."""
        long = ['_Z' + f'{len(n)}{n}' + 'I' + '9parameterI' * deep + 'i' + 'E' * deep + 'Evv'
                for n, deep in (('f', 158), ('g', 20), ('h', 180))]
        cut = ['_Z1f' + '9parameter' + 'I' + 'iS_' * 300 + f'Li{i}E' + 'E' for i in (1, 2)]
        text = ''.join(f'.globl {n}\n.type {n},%function\n{n}: .skip 16\n.size {n},16\n' for n in long + cut)
        self.write('h.S', text.encode(), mode=0o644)
        self.tool('gcc', '-nostdlib', '-static', '-no-pie', '-Wl,-Ttext=0x401000', 'h.S', '-o', 'p', stderr=subprocess.DEVNULL)
        self.write('s', es.start() + es.execs(0, 0, [(1, 0x401000 + 16 * i, 0x401001 + 16 * i)
                                                     for i in range(len(long + cut))]), mode=0o644)
        shown, whole = self.shown(), self.filtered(long + cut, '-r')
        self.assertEqual(len(long[0]), 1905)
        self.assertEqual(shown[:3], whole[:3])
        self.assertFalse([n for n in shown if n.startswith('_Z')])
        self.assertEqual([n[:4000] for n in shown[3:]], [n[:4000] for n in whole[3:]])
        self.assertNotEqual(*shown[3:])


def digits(i):
    """A number of a substitution."""
    if i == 0:
        return '0'
    text = ''
    while i:
        text = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'[i % 36] + text
        i //= 36
    return text


class Stripped(CliTest):
    """Labels of hand-written code say no size; what lies behind them has lost its name."""

    def check(self, arch):
        compiler, machine, jump, ret, branch, nop = CROSS[arch]
        need(compiler)
        body = f'''
.globl first, second, third, known
first: {nop}
 {branch} 1f
 {ret}
1: {nop}
 {jump} 2f
 .local lost1
lost1: {nop}
2: {nop}
 {ret}
 .skip 4096, 0
second: {nop}
3: {nop}
 {branch} 3b
 {jump} 3b
 .local lost2
 .type lost2,%function
lost2: {nop}
 {ret}
third: {nop}
 .type known,%function
known: {nop}
 {ret}
 .size known, .-known
'''
        self.write('l.S', body.encode(), mode=0o644)
        subprocess.run([compiler, '-nostdlib', '-shared', '-Wl,-Ttext=0x1000', 'l.S', '-o', 'l.so'],
                       cwd=self.dir, check=True)
        prefix = compiler[:-len('gcc')]
        for tool in 'nm', 'strip':
            need(prefix + tool)
        symbols = sorted((int(line.split()[0], 16), line.split()[2]) for line in subprocess.run(
            [prefix + 'nm', 'l.so'], cwd=self.dir, check=True, stdout=subprocess.PIPE,
            text=True).stdout.splitlines() if line.split()[1] in 'tT')
        subprocess.run([prefix + 'strip', 'l.so', '-o', 'stripped.so'], cwd=self.dir, check=True)
        step = 1 if arch == 'x86_64' else 2
        places = list(range(symbols[0][0], symbols[-1][0] + 8, step))
        self.write('s', es.start(machine=machine) + es.execs(0, 0, [(1, a, a + step) for a in places]),
                   mode=0o644)
        lines = self.expect(0, 'dump', '-e', 'stripped.so:0', 's').stdout.splitlines()[1:]
        found = dict(zip(places, [' '.join(line.split()[3:]) for line in lines]))
        whole = {a: [n for s, n in symbols if s <= a][-1] for a in places}
        # each name that is shown is the right one, and each label has its name
        self.assertEqual({a: n for a, n in found.items() if n and n != whole[a]}, {})
        for addr, name in symbols:
            self.assertEqual(found[addr], '' if name.startswith('lost') else name)
        # a branch within is not the end
        first = [a for a in places if found[a] == 'first']
        self.assertGreater(max(first), symbols[0][0] + 2 * step)
        self.assertEqual(found[max(first) + step], '')

    def test_x86_64(self):
        self.check('x86_64')

    def test_aarch64(self):
        self.check('aarch64')

    def test_riscv64(self):
        self.check('riscv64')


if __name__ == '__main__':
    unittest.main(verbosity=2)
