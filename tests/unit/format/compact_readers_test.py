#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What src/calls/file writes is what docs/formats/compact.md says: a reader written from it reads all of it.

usage: compact_readers_test.py COMPACT_MAKE
"""
import os
import struct
import subprocess
import sys
import tempfile
import unittest

from gttest import cases, compact
from gttest.results import Failure, read_bytes

MAKE = sys.argv.pop(1)


def follow(records):
    """Of each record, what is open before it: functions and when they were entered; the time before."""
    stack, before = [], 0
    for time, word in records:
        yield before, list(stack)
        before = time
        kind, depth, addr = word & 3, word >> 6 & 1023, word >> 16
        if word & 0x3c != 5 << 3:
            continue
        if kind == 0 and depth == len(stack) & 1023:
            stack.append((addr, time))
        elif kind == 1 and stack and depth == len(stack) - 1 & 1023 and stack[-1][0] == addr:
            stack.pop()


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = cls.enterClassContext(tempfile.TemporaryDirectory())
        subprocess.run([MAKE, cls.dir], check=True, timeout=60)
        cls.data = read_bytes(os.path.join(cls.dir, 'a.gtrace'))
        cls.file = compact.read(cls.data)

    def dat(self, tid):
        data = read_bytes(os.path.join(self.dir, f'{tid}.dat'))
        return list(struct.iter_unpack('<QQ', data))

    def test_records(self):
        self.assertEqual(sorted(self.file.records), [100, 101, 102, 103])
        for tid, records in self.file.records.items():
            self.assertEqual(records, self.dat(tid), tid)

    def test_values(self):
        read = {'n': lambda x: None, 'w': lambda x: int(x, 16), 'b': bytes.fromhex,
                'a': lambda x: ('bad', int(x, 16)), 'c': lambda x: ('cut', bytes.fromhex(x))}
        for tid in self.file.records:
            with open(os.path.join(self.dir, f'{tid}.values'), encoding='ascii') as f:
                lines = [line.split() for line in f]
            want = {int(index): [read[v[0]](v[1:]) for v in values] for index, *values in lines}
            self.assertGreater(len(want), 20)
            self.assertEqual(self.file.values[tid], want)

    def test_segments(self):
        """Where a task appears in a segment, what it has open and since when."""
        segments = sum(b.type == compact.RECORDS and b.flags & compact.SEGMENT for b in self.file.blocks)
        self.assertGreater(segments, 5)
        self.assertEqual(len(self.file.opened), 4 * segments)
        self.assertGreater(sum(bool(frames) for _, _, frames in self.file.opened), 2 * segments)
        self.assertTrue(all(len(frames) >= 1100 for tid, time, frames in self.file.opened if tid == 100 and time))
        places = {tid: list(follow(self.dat(tid))) for tid in self.file.records}
        for tid, time, frames in self.file.opened:
            self.assertIn((time, frames), places[tid])

    def test_clocks(self):
        exact = [bool(b.flags & compact.EXACT) for b in self.file.blocks if b.type == compact.RECORDS]
        self.assertEqual(exact, sorted(exact, reverse=True))
        self.assertEqual(set(exact), {True, False})

    def test_texts(self):
        self.assertEqual(self.file.texts, {'info': b'new\n', 'empty': b''})

    def test_index(self):
        self.assertEqual(sum(b.type == compact.INDEXES for b in self.file.blocks), 2)
        self.assertEqual(self.file.indexed, len(self.data))
        self.assertEqual([g.size for g in self.file.gaps], [8])
        self.assertEqual(self.data[-8:], b'gtindex\n')

    def test_refused(self):
        """The reader sees what is wrong: it would be no proof otherwise. Without the last index's head it is a
        file that has not ended."""
        gap, last = self.file.gaps[0].at, self.file.blocks[-1].at
        for at in [0, 8] + list(range(60, len(self.data), len(self.data) // 60)):
            if gap <= at < gap + 8:
                continue
            changed = bytearray(self.data)
            changed[at] ^= 1
            if last <= at < last + compact.HEAD:
                self.assertLess(compact.read(bytes(changed)).indexed, last)
                continue
            with self.assertRaises(Failure, msg=at):
                compact.read(bytes(changed))


if __name__ == '__main__':
    cases.main()
