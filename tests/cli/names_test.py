#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names for machines whose code ran somewhere: found from what was called, or recognised by the
plugin; by `symbols`, and by `record` on its own.

The recordings are fake_qemu.py's: calls one after the other, at addresses that a test chooses.
"""
import json
import os
import random
import re
import shutil
import subprocess

from cli_case import DIRECTORY, GOOD_STATS, CliTest
from gttest import cases
from gttest.cases import need

SID = '0123456789abcdef'
QEMU = 'qemu-system-x86_64'
TEXT = 0xffffffff81000000
MASK = (1 << 48) - 1


def functions(n=400, seed=1, start=TEXT):
    """[(address, name)]: sizes are anything, addresses multiples of 16."""
    chance, at, result = random.Random(seed), start, []
    for i in range(n):
        result.append((at, f'f{seed}_{i}'))
        at += 16 * chance.randint(1, 40)
    return result


class Names(CliTest):
    def setUp(self):
        super().setUp()
        self.fake(QEMU)

    def system_map(self, name, funcs, more=''):
        lines = [f'{funcs[0][0]:016x} T _text', f'{funcs[0][0]:016x} T _stext']
        lines += [f'{addr:016x} t {what}' for addr, what in funcs]
        lines += [f'{funcs[-1][0] + 0x1000:016x} T _etext']
        self.write(name, ('\n'.join(lines) + '\n' + more).encode())
        return name

    def machine(self, entries, *options, qemu=(), more='', **what):
        self.write('machine', json.dumps({'entries': entries, **what}).encode())
        return self.expect(0, 'record', *DIRECTORY, *options, '--', QEMU, *qemu,
                           do=f'machine=machine {GOOD_STATS} {more}')

    def symbols(self, *arguments, status=0):
        done = self.expect(status, 'symbols', *arguments)
        self.check()
        return done

    def check(self):
        if os.path.exists(self.path('uftrace.data', 'info')):
            self.check_recording()

    def map(self):
        found = []
        for line in self.read('uftrace.data', f'sid-{SID}.map').splitlines()[:-1]:
            m = re.match(r'([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ \S+ (\S+)', line)
            found.append((int(m[1], 16), int(m[2], 16), m[3]))
        return found

    def modules(self):
        return [path.replace(self.dir + '/', '') for _, _, path in self.map()
                if not path.startswith('guest')]

    def name_at(self, addr):
        """The name that readers show: the first module of the map that has the address."""
        addr &= MASK
        for start, end, path in self.map():
            if not start <= addr < end:
                continue
            for name in os.listdir(self.path('uftrace.data')):
                text = self.read('uftrace.data', name) if name.endswith('.sym') else ''
                if f'# path name: {path}\n' in text:
                    m = re.search(f'^{addr - start:016x} [^?] (.*)$', text, re.M)
                    return m and m[1]
        return None

    def assert_names(self, funcs, offset):
        for addr, name in funcs:
            self.assertEqual(self.name_at(addr + offset), name, hex(addr))


class Kernels(Names):
    def test_offsets(self):
        funcs = functions()
        self.system_map('System.map', funcs)
        for offset in (0x1a200000, 0, -0x200000):
            self.machine([addr + offset for addr, _ in funcs[::3]], '-q')
            done = self.symbols('System.map')
            sign = '-' if offset < 0 else ''
            self.assertRegex(done.stdout, '^/.*/System.map: 400 functions at 0x[0-9a-f]+-0x[0-9a-f]+'
                             f', KASLR offset {sign}{abs(offset):#x}\n$')
            self.assert_names(funcs[::3], offset)

    def test_among_other_code(self):
        """Ten times as much of something else was called."""
        funcs, chance = functions(), random.Random(2)
        other = [0x400000 + 4 * chance.randrange(1 << 20) for _ in range(3000)]
        other += [0x7f0000000000 + 16 * chance.randrange(1 << 18) for _ in range(1000)]
        self.system_map('System.map', funcs)
        self.machine(other + [addr + 0x40000 for addr, _ in funcs], '-q')
        self.assertIn('offset 0x40000\n', self.symbols('System.map').stdout)
        self.assert_names(funcs[::9], 0x40000)

    def test_before_the_mmu(self):
        """A kernel's first steps at its physical address: two places, the second one small."""
        funcs, physical = functions(), 0x40200000 - TEXT
        self.system_map('System.map', funcs)
        self.machine([addr + 0x10000 for addr, _ in funcs] +
                     [addr + physical for addr, _ in funcs[20:30]], '-q')
        done = self.symbols('System.map').stdout.splitlines()
        self.assertIn(', KASLR offset 0x10000', done[0])
        self.assertRegex(done[1], ': 10 functions called at .*, also at offset '
                                  f'{physical & MASK:#x}$')
        self.assertEqual(len(done), 2)
        self.assert_names(funcs[::7], 0x10000)
        self.assert_names(funcs[20:30], physical)
        start, end, path = self.map()[1]
        self.assertRegex(path, r'/System\.map@0x40201000$')
        self.assertLess(end - start, 0x4000)

    def test_given(self):
        """An OFFSET is believed, whatever was called."""
        funcs = functions()
        self.system_map('System.map', funcs)
        self.machine([addr + 0x10000 for addr, _ in funcs], '-q')
        self.assertNotIn('offset', self.symbols('System.map:0x20000').stdout)
        self.assertEqual(self.map()[0][0], (TEXT + 0x20000) & MASK)
        self.symbols('System.map')
        self.assertEqual(self.modules(), ['System.map'])
        self.assert_names(funcs[::9], 0x10000)

    def refused(self, text, entries, *files):
        self.machine(entries, '-q')
        before = self.map()
        done = self.symbols(*files, status=1)
        self.assertEqual(done.stdout, '')
        self.assertRegex(done.stderr, text)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(self.map(), before)

    def test_refused(self):
        funcs, chance = functions(), random.Random(3)
        self.system_map('System.map', funcs)
        self.refused('no clear place for /.*/System.map: .*; give its load offset with System.map:OFFSET',
                     [TEXT + 16 * chance.randrange(20000) for _ in range(300)], 'System.map')
        self.refused('none of its functions was entered', [0x12345671], 'System.map')
        # Three of four calls are explained, but so few are luck.
        self.refused('at the best', [addr for addr, _ in funcs[:3]], 'System.map')
        # Less than half of what was called there.
        self.refused('explains 120 of 3', [addr for addr, _ in funcs[:120]] +
                     [TEXT + 16 * i + 4 for i in range(200)], 'System.map')

    def test_ambiguous(self):
        """Code that repeats itself fits in several places."""
        funcs = [(TEXT + 0x10000 * i + k, f'f{i}_{k}') for i in range(8) for k in (0, 0x40, 0x300)]
        self.system_map('System.map', funcs)
        self.refused('no clear place for /.*/System.map: 15 functions at .*, 15 at',
                     [addr for addr, _ in funcs[:15]], 'System.map')

    def test_one_of_several(self):
        """What has a place is named, what has none is told, and the exit status says so."""
        funcs = functions()
        self.system_map('System.map', funcs)
        self.system_map('Other.map', functions(seed=2))
        self.machine([addr for addr, _ in funcs], '-q')
        done = self.symbols('Other.map', 'System.map', status=1)
        self.assertIn('System.map: 400', done.stdout)
        self.assertIn('no clear place', done.stderr)
        self.assertEqual(self.modules(), ['System.map'])

    def test_kallsyms(self):
        """A copy of the running kernel's list has its modules, too; one of another boot has not."""
        funcs, loaded = functions(), functions(30, 5, 0xffffffffc0200000)
        lines = ''.join(f'{addr:016x} t {name}\t[ext4]\n' for addr, name in loaded)
        self.system_map('kallsyms', funcs, lines)
        self.machine([addr for addr, _ in funcs + loaded], '-q')
        self.symbols('kallsyms')
        self.assertEqual(self.modules(), ['kallsyms', 'kallsyms/ext4'])
        self.assert_names(loaded, 0)
        self.machine([addr + 0x10000 for addr, _ in funcs] + [addr for addr, _ in loaded], '-q')
        self.symbols('kallsyms')
        self.assertEqual(self.modules(), ['kallsyms'])

    def test_prefix(self):
        funcs = functions()
        self.system_map('System.map', funcs)
        self.machine([addr for addr, _ in funcs], '-q')
        self.symbols('--prefix-symbols', 'System.map')
        self.assertEqual(self.name_at(funcs[5][0]), 'System.map:' + funcs[5][1])


class Elf(Names):
    def setUp(self):
        super().setUp()
        need('cc', 'nm')

    def build(self, name, *options, init=False, extra='', prefix='fn'):
        """[(address, function)] of a file with 60 functions, each as long as it likes."""
        chance = random.Random(7)
        body = extra + ''.join(f'__attribute__((noinline)) void {prefix}{i}(void) {{ __asm__ volatile('
                       f'".space {chance.randint(20, 300)}, {i + 1}"); }}\n' for i in range(60))
        if init:
            body += ''.join('__attribute__((noinline, section(".init.text"))) void '
                            f'in{i}(void) {{ __asm__ volatile(".space {chance.randint(9, 99)}"); }}'
                            '\n' for i in range(20))
        self.write(name + '.c', body.encode())
        subprocess.run(['cc', '-nostdlib', '-ffreestanding', '-O1', '-fno-toplevel-reorder',
                        '-fno-asynchronous-unwind-tables', *options, '-o', self.path(name),
                        name + '.c'], check=True, cwd=self.dir, capture_output=True)
        out = subprocess.run(['nm', self.path(name)], capture_output=True, text=True,
                             check=True).stdout
        found = re.findall(fr'^([0-9a-f]+) T ((?:{prefix}|in)\d+)$', out, re.M)
        return [(int(addr, 16), what) for addr, what in found]

    def firmware(self, name, *more, extra=''):
        return self.build(name, '-static', '-no-pie', '-fno-pic', '-Wl,-N', '-Wl,-Ttext=0x80000000',
                          '-Wl,-e,fn0', '-Wl,--build-id=none', *more, extra=extra)


class Elves(Elf):
    def test_position_independent(self):
        """Firmware that moves itself runs in two places, of which nobody was told."""
        funcs = self.build('fw.so', '-shared', '-fPIC')
        self.machine([addr + 0x40000000 for addr, _ in funcs[:45]] +
                     [addr + 0x7f000000 for addr, _ in funcs], '-q')
        done = self.symbols('fw.so').stdout
        self.assertRegex(done, ', offset 0x7f000000\n.*, also at offset 0x40000000\n$')
        self.assert_names(funcs, 0x7f000000)
        self.assert_names(funcs[:45], 0x40000000)
        self.assertEqual(self.name_at(funcs[50][0] + 0x40000000), None)

    def test_linked_and_moved(self):
        funcs = self.firmware('fw.elf')
        self.machine([addr for addr, _ in funcs[:9]] + [a + 0x123000 for a, _ in funcs], '-q')
        done = self.symbols('fw.elf').stdout
        self.assertRegex(done, r'0x80000000-0x8000[0-9a-f]+\n.*, also at offset 0x123000\n$')
        self.assert_names(funcs[:9], 0)
        self.assert_names(funcs, 0x123000)

    def test_source_lines(self):
        """Readers can tell where a function is, if the file has DWARF."""
        funcs = self.firmware('fw.elf', '-g')
        self.machine([addr for addr, _ in funcs], '-q')
        self.symbols('fw.elf')
        text = self.read('uftrace.data', 'fw.elf.dbg')
        self.assertRegex(text, r'F: 0 fn0\nL: 1 .*fw\.elf\.c\n')
        self.assertEqual(len(re.findall(r'^L: ', text, re.M)), 60)
        self.firmware('fw.elf')  # the same file, without it now
        self.symbols('fw.elf')
        self.assertNotIn('F: ', self.read('uftrace.data', 'fw.elf.dbg'))

    def test_recognised(self):
        """The plugin's word goes before votes."""
        funcs = self.build('fw.so', '-shared', '-fPIC')
        path = self.path('fw.so')
        self.machine([addr + 0x40000000 for addr, _ in funcs] +
                     [addr + 0x50000000 for addr, _ in funcs[5:8]], '-q',
                     found='1 40000000\nnonsense\n1 50000000\n7 10\n0 60000000\n1 70000000\n'
                     '1 12345678901234567890\n')
        self.write('uftrace.data/code.map', '# guesttrace code: 1\n# module: 0 1000 /other\n'
                   f'# module: 1000 2000 {path}\n'.encode())
        done = self.symbols('fw.so').stdout
        self.assertRegex(done, ', offset 0x40000000\n.*, also at offset 0x50000000\n$')
        self.assert_names(funcs, 0x40000000)
        self.assert_names(funcs[5:8], 0x50000000)
        self.write('uftrace.data/code.found', b'1 50000000\n')
        self.symbols('fw.so')  # what was not recognised is voted for
        self.assert_names(funcs[5:8], 0x50000000)
        self.assertEqual(self.modules(), ['fw.so', 'fw.so@0x40001000'])


class Recording(Elf):
    def test_own_files(self):
        """-kernel, -bios and loader devices name their functions without being asked."""
        for qemu in (('-kernel', 'fw,elf'), ('-bios', 'fw,elf'), ('--kernel', 'fw,elf'),
                     ('-pflash', 'fw,elf'), ('-drive', 'if=pflash,file=fw,,elf,format=raw'),
                     ('-device', 'loader,addr=0x10,file=fw,,elf,cpu-num=0')):
            with self.subTest(qemu=qemu):
                funcs = self.firmware('fw,elf')
                self.machine([addr for addr, _ in funcs], qemu=qemu)
                self.assert_names(funcs[:9], 0)

    def test_code_map(self):
        """The plugin gets a map of the code, which stays in the recording."""
        funcs = self.firmware('fw.elf')
        self.machine([addr + 0x2000 for addr, _ in funcs], '--symbols', 'fw.elf', more='code',
                     qemu=('-kernel', 'fw.elf'), found='0 2000\n')
        argument = self.started()[0][1]
        self.assertIn(',code=' + self.path('uftrace.data.code.map'), argument)
        text = self.read('uftrace.data', 'seen.map')
        self.assertEqual(text, self.read('uftrace.data', 'code.map'))
        self.assertEqual(text.splitlines()[0], '# guesttrace code: 1')
        self.assertEqual(text.count(self.path('fw.elf')), 1)
        self.assertRegex(text, r'(?m)^80000000 [0-9a-f]+ [0-9a-f]{16} fn0$')
        self.assert_names(funcs, 0x2000)
        self.assertNotIn('uftrace.data.code.map', os.listdir(self.dir))
        self.check()

    def test_code_map_of_a_failure(self):
        self.firmware('fw.elf')
        for do in ('exit=1', 'kill=KILL'):
            self.run_cli('record', *DIRECTORY, '--', QEMU, '-kernel', 'fw.elf', do=do)
            self.assertNotIn('uftrace.data.code.map', os.listdir(self.dir))
        os.unlink(self.path('bin', QEMU))
        self.run_cli('record', *DIRECTORY, '--', QEMU, '-kernel', 'fw.elf')
        self.assertNotIn('uftrace.data.code.map', os.listdir(self.dir))

    def test_kernel_in_two_forms(self):
        """The code of a vmlinux and of the image made of it is the same, and is in the map once."""
        extra = 'const char banner[] = "Linux version 6.1.0-test (fake)"; __asm__(".globl _stext\\n' \
                '_stext:");\n'
        funcs = self.firmware('vmlinux', extra=extra)
        shutil.copy(self.path('vmlinux'), self.path('Image'))
        self.machine([addr for addr, _ in funcs], '--symbols', 'vmlinux', more='code',
                     qemu=('-kernel', 'Image'))
        text = self.read('uftrace.data', 'code.map')
        self.assertEqual(re.findall(r'(?m)^# module: \S+ \S+ (\S+)$', text), [self.path('vmlinux')])
        self.assertRegex(text, r'(?m)^80000000 [0-9a-f]+ [0-9a-f]{16} fn0$')
        self.assertEqual(self.modules(), ['vmlinux'])

    def test_no_other_files(self):
        funcs = self.firmware('fw.elf')
        for qemu in (('-initrd', 'fw.elf'), ('-drive', 'file=fw.elf,if=virtio'),
                     ('-device', 'virtio-blk,file=fw.elf'), ('-append', 'fw.elf')):
            with self.subTest(qemu=qemu):
                self.machine([addr for addr, _ in funcs], qemu=qemu)
                self.assertEqual(self.modules(), [])

    def test_what_is_said(self):
        funcs = functions()
        self.system_map('Image', funcs)
        self.write('raw', bytes(5000))
        self.write('raw2', bytes(5000))
        done = self.machine([addr + 0x30000 for addr, _ in funcs], qemu=('-kernel', 'Image'))
        self.assertRegex(done.stderr, 'Image: 400 functions at .*, KASLR offset 0x30000\n')
        done = self.machine([1], qemu=('-kernel', 'raw', '-bios', 'raw2'))
        self.assertEqual(done.stderr.count('note: no names from this file: '), 1)
        done = self.machine([0x71], qemu=('-kernel', 'Image'))
        self.assertIn('note: no clear place for', done.stderr)
        done = self.machine([0x71], '-q', qemu=('-kernel', 'Image'))
        self.assertEqual(done.stderr, '')
        done = self.machine([0x71], '-q', '--symbols', 'Image')
        self.assertIn('record: no symbols: no clear place', done.stderr)

    def test_symbols_stand_for_the_kernel(self):
        """A System.map goes before what the image itself says."""
        funcs = functions()
        self.system_map('System.map', funcs)
        self.system_map('Image', [(addr, 'image_' + name) for addr, name in funcs])
        done = self.machine([addr for addr, _ in funcs], '--symbols', 'System.map',
                            qemu=('-kernel', 'Image'))
        self.assertEqual(self.modules(), ['System.map'])
        self.assertNotIn('no clear place', done.stderr)
        self.assert_names(funcs[:5], 0)


if __name__ == '__main__':
    cases.main()
