#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`symbols` and `record --symbols`: ELF files name the addresses of a recorded machine.

The recording is fake_qemu.py's: one module, guest, 0x40000000 to 0x40010000, with made-up names at
+0, +0x1000, +0x1400 and +0x9000.
"""
import os
import re
import subprocess

from cli_case import DIRECTORY, GOOD_STATS, CliTest
from gttest import cases
from gttest.cases import need

BASE = 0x40000000
SID = '0123456789abcdef'
SOURCE = '''
__attribute__((noinline, aligned(64))) void alpha(void) { __asm__ volatile("nop"); }
__attribute__((noinline, aligned(1024))) void beta(void) { __asm__ volatile("nop"); }
void _start(void) { alpha(); beta(); }
'''


class Symbols(CliTest):
    def setUp(self):
        super().setUp()
        self.fake('qemu-system-x86_64')
        need('cc', 'strip')
        self.write('fw.c', SOURCE.encode())

    def build(self, name, text=BASE + 0x1000, *more):
        """A firmware whose code is linked at `text`: beta is 1024 bytes after its beginning."""
        subprocess.run(['cc', '-nostdlib', '-static', '-no-pie', '-fno-pic', '-ffreestanding', '-O1',
                        '-fno-asynchronous-unwind-tables', '-fno-toplevel-reorder', '-Wl,--build-id',
                        '-Wl,-N', f'-Wl,-Ttext={text:#x}', *more, '-o', self.path(name), 'fw.c'],
                       check=True, cwd=self.dir, capture_output=True)
        return name

    def record(self, *options):
        return self.expect(0, 'record', '-q', *DIRECTORY, *options, 'qemu-system-x86_64',
                           do='record ' + GOOD_STATS)

    def symbols(self, *arguments, status=0):
        return self.expect(status, 'symbols', *arguments)

    def map(self):
        """[(start, end, basename)] relative to BASE, without the stack."""
        lines = self.read('uftrace.data', f'sid-{SID}.map').strip().split('\n')
        self.assertIn('[stack]', lines[-1])
        found = [re.match(r'([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ \S+ (\S+)', line).groups()
                 for line in lines[:-1]]
        return [(int(a, 16) - BASE, int(b, 16) - BASE, os.path.basename(p)) for a, b, p in found]

    def names(self, module):
        """{address relative to BASE: name} of the module."""
        start = next(a for a, _, name in self.map() if name == module)
        lines = self.read('uftrace.data', module + '.sym').split('\n')
        found = [re.match(r'([0-9a-f]{16}) (.) (.*)', line) for line in lines]
        return {int(m[1], 16) + start: m[3] for m in found if m and m[2] != '?'}

    def shown(self):
        """The functions that uftrace shows, in the order of the calls; checks the directory too."""
        need('uftrace')
        self.check_recording()
        out = subprocess.run(['uftrace', 'replay', '-d', self.path('uftrace.data'), '-f', 'none',
                              '--no-pager'], capture_output=True, text=True, check=True).stdout
        return re.findall(r'(\S+)\(\)[;| ]', out)


class Place(Symbols):
    def test_as_linked(self):
        self.record()
        self.build('fw.elf')
        done = self.symbols('fw.elf')
        self.assertRegex(done.stdout, r'^/.*/fw\.elf: 3 functions at 0x40001000-0x40001\w+\n$')
        fw, before, after = self.map()
        self.assertEqual((fw[0], fw[2]), (0x1000, 'fw.elf'))
        self.assertEqual(before, (0, 0x1000, 'guest'))
        self.assertEqual((after[0], after[1]), (fw[1], 0x10000))
        names = self.names('fw.elf')
        self.assertEqual(names[0x1000], 'alpha')
        self.assertEqual(names[0x1400], 'beta')
        self.assertEqual(self.names('guest')[0], '0x40000000')
        self.assertEqual(self.names(after[2]), {0x9000: '0x40009000'})
        self.assertEqual(self.shown(), ['0x40000000', 'alpha', 'beta', '0x40009000'])

    def test_offset(self):
        self.record()
        self.build('fw.elf', 0x600000)
        for offset in (hex(BASE + 0x1000 - 0x600000), str(BASE + 0x1000 - 0x600000)):
            self.symbols('fw.elf:' + offset)
            self.assertEqual(self.names('fw.elf')[0x1400], 'beta')
        self.build('fw.elf', BASE + 0x9000)
        self.symbols('fw.elf:-0x8000')
        self.assertEqual(self.names('fw.elf')[0x1400], 'beta')

    def test_48_bits(self):
        self.record()
        self.build('fw.elf', 0x600000)
        self.symbols(f'fw.elf:{0xffff000000000000 + BASE + 0x1000 - 0x600000:#x}')
        self.assertEqual(self.names('fw.elf')[0x1000], 'alpha')

    def test_again_elsewhere(self):
        """A wrong offset can be corrected: the names that were covered are back."""
        self.record()
        self.build('fw.elf')
        before = self.read('uftrace.data', f'sid-{SID}.map')
        self.symbols('fw.elf:0x100000')
        self.symbols('fw.elf')
        right = self.map()
        self.symbols('fw.elf:0x8000')
        self.assertEqual(self.map()[0][0], 0x9000)
        self.assertEqual(self.names('guest')[0x1000], '0x40001000')
        self.symbols('fw.elf')
        self.assertEqual(self.map(), right)
        self.assertEqual(self.read('uftrace.data', f'sid-{SID}.map.recorded'), before)

    def test_earlier_files_stay(self):
        self.record()
        self.build('a.elf')
        self.build('b.elf', BASE + 0x9000)
        self.symbols('a.elf')
        one = self.map()[0]
        self.symbols('b.elf')
        names = [name for _, _, name in self.map()]
        self.assertEqual(names[:2], ['b.elf', 'a.elf'])
        self.assertIn(one, self.map())
        self.assertEqual(self.names('b.elf')[0x9000], 'alpha')

    def test_twice_in_one_call(self):
        """As firmware that moves itself: one file, two places."""
        self.record()
        self.build('fw.elf')
        self.symbols('fw.elf', 'fw.elf:0x8000')
        self.assertEqual(self.names('fw.elf')[0x1400], 'beta')
        self.assertEqual(self.names('fw.elf+0x8000')[0x9400], 'beta')
        self.symbols('fw.elf')
        self.assertNotIn('fw.elf+0x8000', [name for _, _, name in self.map()])

    def test_same_base_name(self):
        self.record()
        os.mkdir(self.path('x'))
        self.build('fw.elf')
        self.build('x/fw.elf', BASE + 0x9000)
        self.symbols('fw.elf', 'x/fw.elf')
        files = [n for n in os.listdir(self.path('uftrace.data')) if n.startswith('fw.elf')]
        self.assertEqual(len(files), 2)
        self.assertEqual(self.shown(), ['0x40000000', 'alpha', 'beta', 'alpha'])

    def test_names_between_functions_stay(self):
        """What was called where the file has no function is named by file and place."""
        self.record()
        self.build('fw.elf')
        subprocess.run(['strip', '-N', 'beta', self.path('fw.elf')], check=True)
        self.symbols('fw.elf')
        names = self.names('fw.elf')
        self.assertEqual(names[0x1000], 'alpha')
        self.assertEqual(names[0x1400], 'fw.elf+0x400')

    def test_size_that_is_guessed(self):
        """A symbol without a size does not swallow the functions that were called behind it."""
        self.record()
        self.write('fw.c', b'__asm__(".globl _start\\n_start: .space 0x800, 0x90");')
        self.build('fw.elf')
        self.symbols('fw.elf')
        names = self.names('fw.elf')
        self.assertEqual(names[0x1000], '_start')
        self.assertEqual(names[0x1400], 'fw.elf+0x400')

    def test_prefix(self):
        self.record()
        self.build('fw.elf')
        self.symbols('--prefix-symbols', 'fw.elf')
        self.assertEqual(self.names('fw.elf')[0x1400], 'fw.elf:beta')

    def test_record_option(self):
        self.build('fw.elf')
        self.record('--symbols', 'fw.elf')
        self.assertEqual(self.names('fw.elf')[0x1400], 'beta')
        os.unlink(self.log)
        done = self.expect(125, 'record', '--symbols=fw.elf', '--symbols=no.elf',
                           'qemu-system-x86_64')
        self.assertIn('no.elf', done.stderr)
        self.assertFalse(os.path.exists(self.log), 'QEMU was started all the same')


class Refused(Symbols):
    def refuse(self, text, *arguments):
        done = self.symbols(*arguments, status=1)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, '')

    def test_files(self):
        self.record()
        before = self.map()
        self.refuse('nosuch', 'nosuch')
        self.refuse('nosuch', 'nosuch:0x10')
        self.write('text', b'hello')
        self.refuse('text', 'text')
        self.write('cut', b'\x7fELF')
        self.refuse('cut', 'cut')
        self.assertEqual(self.map(), before)

    def test_position_independent(self):
        self.record()
        subprocess.run(['cc', '-nostdlib', '-shared', '-fPIC', '-O1', '-o', 'fw.so', 'fw.c'],
                       check=True, cwd=self.dir)
        self.refuse('give its load offset with fw.so:OFFSET', 'fw.so')
        self.symbols('fw.so:0x40000000')

    def test_overlap(self):
        self.record()
        self.build('a.elf')
        self.build('b.elf')
        before = self.map()
        self.refuse('overlap: one of the offsets is wrong', 'a.elf', 'b.elf')
        self.assertEqual(self.map(), before)
        self.symbols('a.elf')
        self.refuse('overlap', 'b.elf')

    def test_no_recording(self):
        self.build('fw.elf')
        self.assertIn('no uftrace.data here', self.symbols('fw.elf', status=2).stderr)
        os.mkdir(self.path('empty'))
        self.refuse('empty: a folder that is not a recording, expected a recording of calls', '-d', 'empty', 'fw.elf')

    def test_range(self):
        self.record()
        self.build('fw.elf')
        self.refuse('do not fit', f'fw.elf:{(1 << 48) - 0x10 - BASE - 0x1000:#x}')


cases.main()
