#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The reader of Perfetto's traces against bytes made by hand: see readers_test.py."""
from gttest import cases, perfetto
from reader_case import ReaderCase


def field(number, value):
    """A varint below 128, or bytes."""
    if isinstance(value, int):
        return bytes([*([number << 3] if number < 16 else [(number << 3 & 0x7f) | 0x80, number >> 4]), value])
    head = [number << 3 | 2] if number < 16 else [((number << 3 | 2) & 0x7f) | 0x80, number >> 4]
    return bytes([*head, len(value)]) + value


def packet(*parts):
    return field(1, field(10, 5) + b''.join(parts))


def state(time):
    clocks = field(1, field(1, 64) + field(2, time) + field(3, 1)) + field(1, field(1, 6) + field(2, time))
    return packet(field(13, 1), field(59, field(58, 64) + field(11, field(11, 22))), field(6, clocks))


class Perfetto(ReaderCase):
    """Process 3, its task 9, which calls a function 100 ns after 2 and returns 1 ns later; an instant."""
    TRACKS = packet(field(60, field(1, 21) + field(3, field(1, 3) + field(2, b'/x/p') + field(6, b'p')))) + \
        packet(field(60, field(1, 22) + field(5, 21) + field(4, field(1, 3) + field(2, 9) + field(5, b't'))))
    STATE = state(2)
    BEGIN = packet(field(13, 2), field(8, 100), field(12, field(2, field(1, 4) + field(2, b'fn'))),
                   field(11, field(9, 1) + field(10, 4)))
    END = packet(field(13, 2), field(8, 1), field(11, field(9, 2)))
    INSTANT = packet(field(13, 2), field(8, 0), field(11, field(9, 3) + field(23, b'hello')))

    def test_calls(self):
        trace = perfetto.Trace(self.TRACKS + self.STATE + self.BEGIN + self.END + self.INSTANT)
        self.assertEqual(trace.calls(), {9: [('enter', 102, 0, 'fn'), ('leave', 103, 0, 'fn')]})
        self.assertEqual(trace.instants(), [(103, 9, 'hello')])
        self.assertEqual(trace.thread(22), (3, 9, 't'))

    def test_values(self):
        def value(field_of_value):
            return field(4, field(10, b'n') + field_of_value)
        def values(*annotations):
            begin = packet(field(13, 2), field(8, 1), field(12, field(2, field(1, 4) + field(2, b'fn'))),
                           field(11, field(9, 1) + field(10, 4) + b''.join(annotations)))
            return perfetto.Trace(self.TRACKS + self.STATE + begin + self.END).events[0].values
        self.assertEqual(values(), {})
        self.assertEqual(values(value(field(3, 5))), {'n': 5})
        self.assertEqual(values(value(b'\x20' + b'\xff' * 9 + b'\x01')), {'n': -1})
        self.assertEqual(values(value(field(7, 16))), {'n': '0x10'})
        self.assertEqual(values(value(field(6, b'text'))), {'n': 'text'})
        self.refused(values, value(field(3, 5) + field(4, 5)), 'a value of')

    def test_state(self):
        """A state has no names yet; without one nothing is read, and that is wrong at the beginning of a file."""
        begun = self.TRACKS + self.STATE + self.BEGIN + state(110)
        self.assertEqual(perfetto.Trace(begun + self.END).calls()[9][-1], ('leave', 111, 0, 'fn'))
        unnamed = packet(field(13, 2), field(8, 1), field(11, field(9, 1) + field(10, 4)))
        self.refused(perfetto.Trace, begun + unnamed, 'KeyError')
        self.refused(perfetto.Trace, begun + self.STATE, 'back in time')
        part = self.END + self.TRACKS + self.STATE + self.BEGIN
        self.refused(perfetto.Trace, part, 'before the state')
        trace = perfetto.Trace(self.TRACKS + part, len(self.TRACKS))
        self.assertEqual((trace.skipped, len(trace.events)), (1, 1))
        self.refused(lambda data: perfetto.Trace(data).calls(), self.TRACKS + self.STATE + self.BEGIN, 'without an end')
        self.refused(lambda data: perfetto.Trace(data).calls(), self.TRACKS + self.STATE + self.END, 'without a begin')

    def test_cut_or_changed(self):
        whole = self.TRACKS + self.STATE + self.BEGIN + self.END
        pieces = [self.TRACKS, self.STATE, self.BEGIN, self.END]
        good = [0, len(packet(field(60, field(1, 21) + field(3, field(1, 3) + field(2, b'/x/p') + field(6, b'p')))))]
        good += [sum(map(len, pieces[:n])) for n in range(1, 4)]
        self.refuses_cuts(perfetto.Trace, whole, good)
        self.assertGreater(self.harmless(lambda data: perfetto.Trace(data).calls(), whole), 300)


cases.main()
