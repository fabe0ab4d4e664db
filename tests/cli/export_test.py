#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`export`: a recording between uftrace's directory and one compact file."""
import os
import random
import shutil
import signal
import struct
import zlib

from cli_case import CliTest
from gttest import cases, compact, uftrace, uftrace_write
from gttest.commands import limit_files

SID = '00112233aabbccdd'
NAMES = {0x800: 'before', 0x1000: 'main', 0x1010: 'f', 0x1020: 'rest', 0x40000: 'after'}
RAN = {0x1000: 'main', 0x1010: 'f', 0x1020: 'rest'}
TIDS = [7, 8, 5000000]
HEAD, BLOCK = 16, 64


def exits(depth, addr, time):
    return uftrace_write.record(time, 1, depth, addr)


SPEC = """guesttrace values 1
module - guest
function 1010 f
arg 1 d 4 fd - -
arg 2 s 0 path - -
arg 3 t 12 p pair -
ret - d 8 - - -
"""


def padded(data, to):
    return data + bytes(-len(data) % to)


def valued(time, kind, depth, addr, payload):
    """A record with values."""
    record = bytearray(uftrace_write.record(time, kind, depth, addr))
    record[8] |= 4
    return bytes(record) + padded(payload, 8)


def arguments(fd, path):
    """Those of f, as SPEC has them."""
    return struct.pack('<i', fd) + padded(struct.pack('<H', len(path)) + path, 4) + b'0123456789ab'


def valued_calls(data):
    """The records, with values at each call of f and most of its returns."""
    texts, out, n = [b'a text', b'x' * 256 + b'...', b'<0x1f>', b'\xff' * 4], b'', 0
    for time, kind, depth, addr, at in uftrace.read_records(data):
        if addr != 0x1010 or kind > 1 or n % 9 == 8:
            out += data[at:at + 16]
        elif kind:
            out += valued(time, 1, depth, addr, struct.pack('<q', -time))
        else:
            out += valued(time, 0, depth, addr, arguments([-3, 5, 6, 7][n % 4], texts[n % 4]))
        n += addr == 0x1010 and kind == 0
    return out


def text_block(name, text):
    """A block of a compact file with a text file of the recording, which is packed as raw bytes."""
    frame = struct.pack('<IBI', 0xfd2fb528, 0xa0, len(text)) + (len(text) << 3 | 1).to_bytes(3, 'little') + text
    payload = bytes([len(name)]) + name + bytes([len(text) & 0x7f | 0x80, len(text) >> 7]) + frame
    head = struct.pack('<4sBBHII', b'tBlk', 2, 0, 0, len(payload), zlib.crc32(payload)) + bytes(44)
    return head + struct.pack('<I', zlib.crc32(head)) + payload


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
        self.assertRegex(self.export(1, 'compact', 'note', 'data'), 'note exists and is not a compact recording$')
        self.export(0, 'compact', 'a.gtrace', 'data')
        self.assertRegex(self.export(1, 'uftrace', 'note', 'a.gtrace'), 'note: exists and is not uftrace data')
        self.assertEqual(self.read_bytes('note'), b'mine')

    def test_no_recording(self):
        self.write('note', b'mine', 0o644)
        self.assertRegex(self.export(1, 'uftrace', 'back', 'note'), 'note: a text, expected a recording of calls in one file$')
        self.assertRegex(self.export(1, 'uftrace', 'back', 'none'), 'none: No such file or directory$')
        self.assertRegex(self.export(1, 'compact', 'a.gtrace', 'none'), 'none')
        for words in [[], ['--format', 'uftrace', 'note'], ['--format', 'folded', '-o', 'x']]:
            self.expect(2, 'export', *words)
        self.assertIn('uftrace.gtrace: No such', self.expect(1, 'export', '--format', 'uftrace', '-o', 'x').stderr)

    def test_cut(self):
        """Up to its last whole block; each cut gives a directory or an error, and nothing else."""
        self.make(n=300)
        self.export(0, 'compact', 'a.gtrace', 'data')
        whole = self.read_bytes('a.gtrace')
        for size in range(0, len(whole), 1 + len(whole) // 40):
            self.write('cut', whole[:size], 0o644)
            if size < HEAD:
                self.assertRegex(self.export(1, 'uftrace', 'back', 'cut'), '(not a compact|expected a) recording( of calls in one file)?$')
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

    def make_values(self, spec=SPEC, tids=(7, 8)):
        """A directory whose functions f and rest have values; returns what each file has."""
        self.make(n=300)
        self.write('data/guesttrace.values', spec, 0o644)
        for tid in tids:
            self.write(f'data/{tid}.dat', valued_calls(self.read_bytes('data', f'{tid}.dat')), 0o644)

    def shown(self, name):
        return self.expect(0, 'replay', '--no-pager', name).stdout

    def test_values(self):
        """The file has them, and gives the same bytes back."""
        self.make_values()
        self.assertEqual(self.export(0, 'compact', 'a.gtrace', 'data'), '')
        values = compact.read(self.read_bytes('a.gtrace')).values
        self.assertEqual(sorted(values), [7, 8])
        self.assertIn([2**64 - 3, b'a text', b'0123456789ab'], values[7].values())
        self.assertIn([5, ('cut', b'x' * 256), b'0123456789ab'], values[7].values())
        self.assertIn([6, ('bad', 0x1f), b'0123456789ab'], values[7].values())
        self.assertIn([7, ('bad', 0), b'0123456789ab'], values[7].values())
        self.assertEqual(self.shown('a.gtrace'), self.shown('data'))
        self.assertIn('f(fd=-3, path="a text", p=pair{', self.shown('a.gtrace'))
        self.assertEqual(self.export(0, 'uftrace', 'back', 'a.gtrace'), '')
        self.assertEqual(self.files('data'), self.files('back'))

    def test_values_of_two_programs(self):
        """A process that runs another program: the same address is another function there."""
        self.make_values(tids=[])
        with open(self.path('data/task.txt'), 'a', encoding='ascii') as f:
            f.write('SESS timestamp=0.000005000 pid=1 sid=ffffffffffffffff exename="other"\nTASK timestamp=0.000005000 tid=7 pid=1\n')
        self.write('data/sid-ffffffffffffffff.map', uftrace_write.mappings(name='other'), 0o644)
        self.write('data/other.sym', uftrace_write.symbols({0x1010: 'g'}, name='other', end=0x1020), 0o644)
        self.write('data/guesttrace.values', SPEC + 'module - other\nfunction 1010 g\narg 1 x 8 - - -\n', 0o644)

        def call(time, payload):
            return valued(time, 0, 0, 0x1010, payload) + exits(0, 0x1010, time + 1)
        for plain in range(3):  # records of the first program are in the same batch
            calls = call(4990, arguments(9, b'none')) + \
                b''.join(uftrace_write.calls([0x1000], 4992 + 2 * i) for i in range(plain)) + \
                call(5001, struct.pack('<Q', 0xabc))
            self.write('data/7.dat', calls, 0o644)
            self.export(0, 'compact', 'a.gtrace', 'data')
            for name in 'data', 'a.gtrace':
                self.assertRegex(self.shown(name), r'f\(fd=9, path="none"(.|\n)* g\(0xabc\);')
            self.export(0, 'uftrace', 'back', 'a.gtrace')
            self.assertEqual(self.files('data')['7.dat'], self.files('back')['7.dat'])

    def test_values_unknown(self):
        """Those that nothing describes are left out, and a line says so."""
        self.make_values(SPEC.replace('1010 f', '1018 f'))
        said = self.export(0, 'compact', 'a.gtrace', 'data')
        self.assertRegex(said, r'[78].dat: offset \d+: what values this record has is not known; values are left out, '
                               r'of \d+ records$')
        self.assertEqual(self.export(0, 'uftrace', 'back', 'a.gtrace'), '')
        self.assertEqual(self.shown('a.gtrace'), self.shown('back'))
        self.assertEqual(self.shown('a.gtrace'), self.shown('data'))
        self.write('data/guesttrace.values', SPEC, 0o644)
        self.export(0, 'compact', 'a.gtrace', 'data')
        whole = self.shown('data')
        for line, wrong in ('arg 1 d 4', 'arg 1 d 8'), ('arg 2 s 0', 'arg 2 x 8'), ('arg 3 t 12', 'arg 3 t 11'):
            self.write('data/guesttrace.values', SPEC.replace(line, wrong), 0o644)
            self.export(0, 'compact', 'lies.gtrace', 'data')
            self.expect(0, 'replay', '--no-pager', 'lies.gtrace')
        self.write('data/guesttrace.values', SPEC + 'arg\n', 0o644)
        self.assertRegex(self.export(1, 'compact', 'b.gtrace', 'data'), r'guesttrace.values: values line \d+: ')
        self.assertFalse(os.path.exists(self.path('b.gtrace')))
        self.assertEqual(self.shown('a.gtrace'), whole)

    def test_values_that_do_not_fit(self):
        """A file whose specs are of other values: those are left out of the directory."""
        self.make_values()
        for wrong in SPEC.replace('arg 1 d 4', 'arg 1 s 0'), SPEC.replace('arg 2 s 0 path - -\n', ''), 'guesttrace values 1\n':
            self.write('data/guesttrace.values', SPEC, 0o644)
            self.export(0, 'compact', 'a.gtrace', 'data')
            with open(self.path('a.gtrace'), 'ab') as f:
                f.write(text_block(b'guesttrace.values', wrong.encode()))
            shutil.rmtree(self.path('back'), ignore_errors=True)
            self.assertRegex(self.export(0, 'uftrace', 'back', 'a.gtrace'),
                             r'a.gtrace: \d+ records with values of which guesttrace.values says nothing, or something '
                             r'else; they are left out$')
            self.assertNotIn('path=', self.shown('back'))
            self.expect(0, 'replay', '--no-pager', 'a.gtrace')

    def test_values_cut(self):
        """At each byte: what is whole before comes, or an error, and nothing else."""
        self.make_values(tids=[7])
        data = self.read_bytes('data', '7.dat')
        at = len(data) // 2
        for size in range(at, at + 90):
            self.write('data/7.dat', data[:size], 0o644)
            done = self.run_cli('export', '--format', 'compact', '-o', 'a.gtrace', 'data')
            if done.returncode:
                self.assertRegex(done.stderr, r'7.dat: offset \d+: a record is incomplete; run guesttrace repair$')
                continue
            self.export(0, 'uftrace', 'back', 'a.gtrace')
            back = self.read_bytes('back', '7.dat')
            self.assertEqual(back[:size - 300], data[:size - 300])

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
