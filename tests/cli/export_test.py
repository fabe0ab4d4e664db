#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`export`: a recording between uftrace's directory and one compact file."""
import os
import random
import shutil
import signal
import struct

from cli_case import CliTest
from gttest import cases, uftrace, uftrace_write
from gttest.commands import limit_files

SID = '00112233aabbccdd'
NAMES = {0x800: 'before', 0x1000: 'main', 0x1010: 'f', 0x1020: 'rest', 0x40000: 'after'}
RAN = {0x1000: 'main', 0x1010: 'f', 0x1020: 'rest'}
TIDS = [7, 8, 5000000]
HEAD, BLOCK = 16, 64


def exits(depth, addr, time):
    return uftrace_write.record(time, 1, depth, addr)


def some_calls(seed, n, clock):
    """Calls of a few functions, as deep as 20; some odd records among them."""
    number = random.Random(seed)
    out, stack, time = [], [], 1000
    for _ in range(n):
        time += clock(number)
        if stack and (len(stack) > 20 or number.random() < 0.5):
            addr = stack.pop()
            out.append(exits(len(stack), addr, time))
        else:
            addr = 0x1000 + 16 * number.randrange(12)
            out.append(uftrace_write.record(time, 0, len(stack), addr))
            stack.append(addr)
        if number.random() < 0.01:
            out.append(uftrace_write.record(time, 3, len(stack), 200002))
    return b''.join(out)


class Export(CliTest):
    def make(self, clock=lambda number: 5, n=4000):
        os.mkdir(self.path('data'))
        self.write('data/info', uftrace_write.info(TIDS), 0o644)
        self.write('data/task.txt', uftrace_write.tasks(SID, TIDS), 0o644)
        self.write(f'data/sid-{SID}.map', uftrace_write.mappings(), 0o644)
        self.write('data/guest.sym', uftrace_write.symbols(NAMES), 0o644)
        self.write('data/empty.txt', b'', 0o644)
        for seed, tid in enumerate(TIDS):
            self.write(f'data/{tid}.dat', some_calls(seed, n, clock), 0o644)

    def files(self, folder):
        """What each has; of symbols, the names of functions that ran."""
        out = {}
        for name in sorted(os.listdir(self.path(folder))):
            out[name] = self.read_bytes(folder, name)
            if name.endswith('.sym'):
                symbols = uftrace.read_symbols(self.path(folder, name)).functions()
                out[name] = {addr: symbol for addr, symbol in symbols.items() if addr in RAN}
        return out

    def export(self, status, form, to, source, **more):
        done = self.expect(status, 'export', '--format', form, '-o', to, source, **more)
        self.assertEqual(done.stdout, '')
        self.assertEqual([n for n in os.listdir(self.dir) if '.tmp' in n], [])
        return done.stderr.strip().removeprefix('guesttrace export: ')

    def test_there_and_back(self):
        self.make()
        self.assertEqual(self.export(0, 'compact', 'a.gtrace', 'data'), '')
        self.assertEqual(self.export(0, 'uftrace', 'back', 'a.gtrace'), '')
        self.assertEqual(self.files('data'), self.files('back'))
        self.assertEqual(uftrace.read_symbols(self.path('back/guest.sym')).functions(), RAN)
        records = sum(len(data) for name, data in self.files('data').items() if name.endswith('.dat'))
        self.assertLess(os.path.getsize(self.path('a.gtrace')), records / 10)

    def test_times_of_a_host(self):
        self.make(lambda number: number.randrange(100000))
        self.export(0, 'compact', 'a.gtrace', 'data')
        self.export(0, 'uftrace', 'back', 'a.gtrace')
        self.assertEqual(self.files('data'), self.files('back'))

    def test_over_an_older_one(self):
        self.make()
        self.export(0, 'compact', 'a.gtrace', 'data')
        first = self.read_bytes('a.gtrace')
        self.export(0, 'compact', 'a.gtrace', 'data')
        self.assertEqual(self.read_bytes('a.gtrace'), first)
        self.export(0, 'uftrace', 'back', 'a.gtrace')
        self.export(0, 'uftrace', 'back', 'a.gtrace')
        self.assertEqual(self.files('back'), self.files('back.old'))

    def test_something_else_is_there(self):
        self.make()
        self.write('note', b'mine', 0o644)
        self.assertRegex(self.export(1, 'compact', 'note', 'data'), 'note exists and is no compact recording$')
        self.export(0, 'compact', 'a.gtrace', 'data')
        self.assertRegex(self.export(1, 'uftrace', 'note', 'a.gtrace'), 'note: exists and is not uftrace data')
        self.assertEqual(self.read_bytes('note'), b'mine')

    def test_no_recording(self):
        self.write('note', b'mine', 0o644)
        self.assertRegex(self.export(1, 'uftrace', 'back', 'note'), 'note: it is no compact recording$')
        self.assertRegex(self.export(1, 'uftrace', 'back', 'none'), 'none: No such file or directory$')
        self.assertRegex(self.export(1, 'compact', 'a.gtrace', 'none'), 'none')
        for words in [[], ['--format', 'uftrace', 'note'], ['--format', 'uftrace', '-o', 'x']]:
            self.expect(2, 'export', *words)

    def test_cut(self):
        """Up to its last whole block; each cut gives a directory or an error, and nothing else."""
        self.make(n=300)
        self.export(0, 'compact', 'a.gtrace', 'data')
        whole = self.read_bytes('a.gtrace')
        for size in range(0, len(whole), 1 + len(whole) // 40):
            self.write('cut', whole[:size], 0o644)
            if size < HEAD:
                self.assertRegex(self.export(1, 'uftrace', 'back', 'cut'), 'it is no compact recording$')
                continue
            shutil.rmtree(self.path('back'), ignore_errors=True)
            self.export(0, 'uftrace', 'back', 'cut')
            for name, data in self.files('back').items():
                self.assertEqual(data, self.files('data')[name])

    def test_damaged(self):
        self.make(n=300)
        self.export(0, 'compact', 'a.gtrace', 'data')
        whole = bytearray(self.read_bytes('a.gtrace'))
        whole[HEAD + BLOCK + 3] ^= 1
        self.write('bad', bytes(whole), 0o644)
        self.assertRegex(self.export(0, 'uftrace', 'back', 'bad'),
                         f'bad: offset {HEAD}: the block.s checksum does not fit it; it and what needs it are '
                         r'left out, 9\d\d records$')
        self.assertEqual(self.files('back')['task.txt'], self.files('data')['task.txt'])
        self.write('new', struct.pack('<8sHHI', b'gtrace\r\n', 9, 5, 0), 0o644)
        self.assertRegex(self.export(1, 'uftrace', 'back', 'new'),
                         r'of version 9\.5; this guesttrace reads version 1\.1$')

    def test_incomplete_record(self):
        self.make(n=300)
        with open(self.path('data/7.dat'), 'ab') as f:
            f.write(b'12345')
        self.assertRegex(self.export(1, 'compact', 'a.gtrace', 'data'),
                         r'7.dat: offset \d+: a record is incomplete; run guesttrace repair$')
        self.assertFalse(os.path.exists(self.path('a.gtrace')))

    def test_values(self):
        """They are refused, not taken for records."""
        self.make(n=300)
        records = bytearray(self.read_bytes('data', '8.dat'))
        records[16 * 40 + 8] |= 4
        for more in bytes(8), b'':  # a size of whole records, and another one
            self.write('data/8.dat', records[:16 * 41] + struct.pack('<Q', 42) + records[16 * 41:] + more, 0o644)
            self.assertRegex(self.export(1, 'compact', 'a.gtrace', 'data'),
                             r'8.dat: offset 640: a record has values, .*; record with --format compact$')
            self.assertFalse(os.path.exists(self.path('a.gtrace')))

    def test_full(self):
        self.make()
        full = {'preexec_fn': lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), limit_files(3000))}
        self.assertRegex(self.export(1, 'compact', 'a.gtrace', 'data', **full), 'File too large$')
        self.assertFalse(os.path.exists(self.path('a.gtrace')))
        self.export(0, 'compact', 'a.gtrace', 'data')
        self.assertRegex(self.export(1, 'uftrace', 'back', 'a.gtrace', **full), 'cannot be written: ')
        self.assertFalse(os.path.exists(self.path('back')))


if __name__ == '__main__':
    cases.main()
