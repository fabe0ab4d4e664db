#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gttest.compact against bytes made by hand: what it says of good ones; that those which are cut or changed are read or
refused by Failure, and nothing else."""
import struct
import zlib

from gttest import cases, compact
from reader_case import ReaderCase

FILE_HEAD = b'gtrace\r\n' + struct.pack('<HHI', 1, 0, 0)


def column(*numbers):
    """Bytes of less than 128 each, not packed."""
    return bytes([len(numbers), 0, *numbers])


def block(kind, payload, flags=0, packer=0, records=0, first=0, last=0, before=0):
    head = b'tBlk' + struct.pack('<BBHIIIIQQQ12x', kind, flags, 0, len(payload), zlib.crc32(payload), packer, records,
                                 first, last, before)
    return head + struct.pack('<I', zlib.crc32(head)) + payload


def word(kind, depth, addr):
    return kind | 5 << 3 | depth << 6 | addr << 16


# Task 5, whose last time was 100, has a function open since 98. It calls another for 7 ns and is left at once.
CALLS = block(1, column(0, 3) + column(5, 100, 1, 3) + column(0, 0, 1) + column(3, 1) + column(0, 1) +
              column(32, 14) + column(14) + column(10) + column(), 3, 9, 3, 110, 117)
CALLS_OF_5 = [(110, word(0, 1, 23)), (117, word(1, 1, 23)), (117, word(1, 0, 16))]
# Task 6 of another packer: an event after 5 ns, one that is known after 499 ns, an odd word 4 ns before it.
CLOCK = block(1, b'\x09' + column(0, 3) + column(6, 100, 0) + column(0, 0, 0, 0) + column(3, 3, 3) + column(2, 6, 3) +
              column(20, 9) + column() + column(7) + column(3) + b'\x03\x00\x05\xf1\xff', 1, 10, 3, 105, 604)
CLOCK_OF_6 = [(105, word(3, 0, 10)), (604, word(3, 0, 10)), (600, 5)]
INFO = block(2, b'\x04info\x03' + b'\x28\xb5\x2f\xfd\x20\x03\x19\x00\x00a=1')


def index(at, *columns):
    """The first one; CALLS begins at 110, INFO is 117 before its end: numbers of two bytes."""
    times = bytes([4, 0, 220 & 127 | 128, 220 >> 7, 233 & 127 | 128, 233 >> 7])
    body = [column(*c) for c in columns]
    return block(3, bytes([0, len(columns[0])]) + b''.join(body[:5]) + times + b''.join(body[5:]) +
                 struct.pack('<Q', at) + b'gtindex\n')


class Compact(ReaderCase):
    def test_records(self):
        file = compact.read(FILE_HEAD + CALLS + CLOCK)
        self.assertEqual(file.records, {5: CALLS_OF_5, 6: CLOCK_OF_6})
        self.assertEqual(file.opened, [(5, 100, [(16, 98)]), (6, 100, [])])
        self.assertEqual((file.version, file.gaps, file.indexed), ((1, 0), [], 16))
        self.assertEqual([b.packer for b in file.blocks], [9, 10])

    def test_texts(self):
        self.assertEqual(compact.read(FILE_HEAD + INFO).texts, {'info': b'a=1'})

    def test_index(self):
        gap = b'tBlk'
        data = FILE_HEAD + CALLS + INFO + gap
        columns = [1, 2, 0], [3, 0], [len(CALLS) - 64, len(INFO) - 64, 4], [18, 17], [3, 0], [7, 0], [0, 5]
        file = compact.read(data + index(len(data), *columns))
        self.assertEqual(file.indexed, len(data) + 64 + file.blocks[-1].size)
        self.assertEqual(file.gaps, [(len(data) - 4, 4)])
        for c in columns:
            for k in range(len(c)):
                c[k] ^= 1
                self.refused(compact.read, data + index(len(data), *columns), 'index')
                c[k] ^= 1
        self.refused(compact.read, data + index(len(data) + 1, *columns), 'an index has no end')

    def test_refused(self):
        for data, words in ((b'gtrace\r', 'no compact file'), (FILE_HEAD[:8] + b'\x02' + FILE_HEAD[9:], 'version 2'),
                            (FILE_HEAD + CALLS.replace(b'\x03\x01', b'\x03\x02'), 'checksum')):
            self.refused(compact.read, data, words)
        second = block(1, CALLS[64:], 2, 9, 3, 110, 117, 3)
        self.refused(compact.read, FILE_HEAD + second, "another segment's block")
        self.refused(compact.read, FILE_HEAD + CALLS + block(1, CALLS[64:], 2, 9, 3, 110, 117, 4), 'come before')

    def test_changed(self):
        """With checksums that fit: what the codec says of any byte."""
        for good, more in ((CALLS, (3, 9, 3, 110, 117)), (CLOCK, (1, 10, 3, 105, 604))):
            self.assertGreater(self.harmless(lambda p, more=more: compact.read(FILE_HEAD + block(1, p, *more)),
                                             good[64:]), 50)
        self.assertGreater(self.harmless(compact.read, FILE_HEAD + CALLS + INFO), 300)


if __name__ == '__main__':
    cases.main()
