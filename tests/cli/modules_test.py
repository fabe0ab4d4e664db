#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names for the modules of a kernel: found from what was called, or recognised by the plugin."""
import gzip
import os
import random
import re

from gttest import cases
import names_test


class Modules(names_test.Elf):
    def test_module_file(self):
        """A kernel's module: its code and that of its start, each somewhere."""
        kernel, chance = names_test.functions(), random.Random(9)
        code = self.build('mod.ko', '-c', '-fno-pic', init=True)
        main = [f for f in code if f[1].startswith('fn')]
        start = [f for f in code if f[1].startswith('in')]
        main_at, start_at = 0xffffffffc0455000, 0xffffffffc0460000
        self.system_map('System.map', kernel)
        self.machine([addr for addr, _ in kernel] + [addr + main_at for addr, _ in main] +
                     [addr + start_at for addr, _ in start] +
                     [0x400000 + 4 * chance.randrange(1 << 18) for _ in range(500)], '-q')
        done = self.symbols('mod.ko', 'System.map').stdout
        self.assertRegex(done, f'mod.ko: .*, loaded at {main_at:#x}\n')
        self.assert_names(main, main_at)
        self.assert_names(start, start_at)
        self.assertEqual(self.modules(), ['mod.ko', 'mod.ko+init', 'System.map'])
        self.symbols(f'mod.ko:{main_at + 0x1000:#x}', 'System.map')
        self.assert_names(main, main_at + 0x1000)

    def test_code_map_of_a_module(self):
        """Its functions have their bytes there, but for those that the loader will write."""
        extra = 'void outside(void); void calls(void) { __asm__ volatile(".space 20, 170"); ' \
                'outside(); __asm__ volatile(".space 20, 187"); }\n'
        funcs = self.build('mod.ko', '-c', '-fno-pic', init=True, extra=extra)
        main = [f for f in funcs if f[1].startswith('fn')]
        self.machine([addr + 0xffffffffc0455000 for addr, _ in main[:2]], '--symbols', 'mod.ko',
                     more='code', found='0 ffffffffc0455000\n')
        text = self.read('uftrace.data', 'seen.map')
        self.assertEqual(re.findall(r'(?m)^# module: 0 [0-9a-f]+ (\S+)$', text),
                         [self.path('mod.ko'), self.path('mod.ko+init')])
        self.assertRegex(text, r'(?m)^0 \S+ =[0-9a-f]*(aa){20}([0-9a-f]{2})*(\.\.)+[0-9a-f]*(bb)+[0-9a-f]* '
                               'calls$')
        self.assertRegex(text, r'(?m)^[0-9a-f]+ [0-9a-f]+ =(01){20,64}[0-9a-f]* fn0$')
        self.assert_names(main[:2], 0xffffffffc0455000)

    def test_folder(self):
        """Of a folder's modules those are named that were recognised, and nothing is said of others."""
        os.makedirs(self.path('lib/deep/er'))
        os.symlink(self.dir, self.path('lib/build'))
        for name in ('lib/b.ko', 'lib/deep/er/a.ko', 'lib/c.ko'):
            funcs = sorted(self.build(name, '-c', '-fno-pic', init=True))
        with open(self.path('lib/b.ko'), 'rb') as f:
            self.write('lib/b.ko.gz', gzip.compress(f.read()))
        os.unlink(self.path('lib/b.ko'))
        self.write('lib/none.ko', b'no module')
        main = [f for f in funcs if f[1].startswith('fn')][:9]
        start = [f for f in funcs if f[1].startswith('in')]
        places = 0xffffffffc0455000, 0xffffffffc0465000
        done = self.machine([addr + places[0] for addr, _ in main] +
                            [addr + places[1] for addr, _ in start], '--symbols', 'lib',
                            more='code', found=f'0 {places[0]:x} 0\n5 {places[1]:x}\n')
        listed = re.findall(r'(?m)^# module: 0 [0-9a-f]+ \S+/lib/(\S+)$',
                            self.read('uftrace.data', 'code.map'))
        self.assertEqual(listed, [f + more for f in ('b.ko.gz', 'c.ko', 'deep/er/a.ko')
                                  for more in ('', '+init')])
        self.assertEqual(self.modules(), ['lib/b.ko.gz', 'lib/deep/er/a.ko+init'])
        self.assert_names(main, places[0])
        self.assert_names(start, places[1])
        self.assertIn('note: no names from this file: ', done.stderr)
        self.assertNotIn('c.ko', done.stderr)
        self.assertNotIn('no symbols', done.stderr)
        os.mkdir(self.path('empty'))
        done = self.expect(125, 'record', '--symbols', 'empty', '--', names_test.QEMU)
        self.assertIn('empty: no kernel modules', done.stderr)

    def test_modules_at_one_place(self):
        """Modules that were loaded one after the other share a place: a function has the names of those
        that were seen to run there, or of all where none was."""
        one = sorted(self.build('one.ko', '-c', '-fno-pic'))
        two = sorted(self.build('two.ko', '-c', '-fno-pic', prefix='gn'))
        self.assertEqual([addr for addr, _ in one], [addr for addr, _ in two])
        base = 0xffffffffc0455000
        self.machine([addr + base for addr, _ in one], '--symbols', 'one.ko', '--symbols', 'two.ko',
                     more='code', found=f'0 {base:x} 0 1\n1 {base:x} 1 2 3c ffffffffffffffff\n'
                     f'1 {base + 0x10000:x} 0 x\n')
        names = ['fn0', 'fn1|gn1', 'gn2'] + [f'fn{i}|gn{i}' for i in range(3, 60)]
        self.assert_names([(addr, name) for (addr, _), name in zip(one, names)], base)
        self.assertEqual(self.modules(), ['one.ko+two.ko', 'two.ko'])
        self.assertEqual(self.name_at(base + 0x10000), 'gn0')
        for files in ('two.ko', 'one.ko'), ('one.ko', 'two.ko'):
            said = self.symbols(*files).stdout
            self.assertEqual(sorted(self.modules()), ['one.ko+two.ko', 'two.ko'])
            self.assertRegex(said, 'one.ko, .*two.ko: 60 functions at 0x[0-9a-f]+-0x[0-9a-f]+, '
                             f'loaded at {base:#x}, {base:#x} one after the other\n')
        self.assert_names([(addr, name) for (addr, _), name in zip(one, names)], base)


cases.main()
