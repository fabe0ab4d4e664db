#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The readers of pprof's and callgrind's profiles, and the sums of records, against bytes made by hand."""
import gzip

from gttest import call_sums, callgrind_profile, cases, pprof, uftrace, uftrace_write
from gttest.results import Failure
from reader_case import ReaderCase


def number(value):
    out = b''
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(key, value):
    """A number, or bytes."""
    if isinstance(value, int):
        return number(key << 3) + number(value)
    return number(key << 3 | 2) + number(len(value)) + value


TEXTS = [b'', b'calls', b'count', b'main', b'f', b'a.c', b'task', b'init', b'tid', b'/bin/prog']
FUNCTIONS = field(5, field(1, 1) + field(2, 3) + field(3, 3) + field(4, 5) + field(5, 300)) + \
    field(5, field(1, 2) + field(2, 4))
LOCATIONS = field(4, field(1, 1) + field(2, 1) + field(3, 4096) + field(4, field(1, 1) + field(2, 300))) + \
    field(4, field(1, 2) + field(4, field(1, 2)))
SAMPLE = field(2, field(1, number(2) + number(1)) + field(2, number(1000)) +
               field(3, field(1, 6) + field(2, 7)) + field(3, field(1, 8) + field(3, 12)))
MAPPING = field(3, field(1, 1) + field(5, 9))


def profile(*parts, texts=tuple(TEXTS)):
    data = field(1, field(1, 1) + field(2, 2)) + b''.join(parts) + b''.join(field(6, t) for t in texts)
    return gzip.compress(data, mtime=0)


class Pprof(ReaderCase):
    def test_all(self):
        read = pprof.Profile(profile(SAMPLE, MAPPING, LOCATIONS, FUNCTIONS))
        self.assertEqual(read.types, [('calls', 'count')])
        self.assertEqual(read.samples, [pprof.Sample(('main', 'f'), [1000], {'task': 'init', 'tid': 12})])
        self.assertEqual(read.functions[1], pprof.Function('main', 'main', 'a.c', 300))
        self.assertEqual(read.locations[1][:2], ('/bin/prog', 4096))
        self.assertEqual((read.locations[1].line, read.locations[2].mapping), (300, None))

    def test_damage(self):
        for parts, texts in (([SAMPLE, MAPPING, LOCATIONS, FUNCTIONS], TEXTS[1:]),  # the first is not empty
                             ([SAMPLE, MAPPING, LOCATIONS, FUNCTIONS], [*TEXTS, b'main']),
                             ([MAPPING, LOCATIONS, FUNCTIONS, FUNCTIONS], TEXTS),
                             ([FUNCTIONS, field(2, field(2, number(1) + number(2)))], TEXTS),
                             ([number(1 << 3 | 5)], TEXTS)):
            with self.assertRaises(Failure):
                pprof.Profile(profile(*parts, texts=tuple(texts)))
        with self.assertRaises(Failure):
            pprof.Profile(gzip.compress(b'', mtime=1))


CALLGRIND = '''# callgrind format
version: 1
creator: x
cmd: y
part: 1

positions: line
event: Ir : Instructions
events: Ir

ob=(1) /bin/prog
fl=(1) a.c
fn=(1) main
3 5
cfn=(2) f
calls=2 9
3 30
cob=(2) lib
cfi=(2) ???
cfn=(3) g
calls=1 0
3 4

ob=(1)
fl=(1)
fn=(2)
9 30
cfn=(2)
calls=4 9
9 0

totals: 35
'''


class Callgrind(ReaderCase):
    def test_all(self):
        read = callgrind_profile.Profile(CALLGRIND.encode())
        place = callgrind_profile.Place
        main, f, g = place('/bin/prog', 'a.c', 'main'), place('/bin/prog', 'a.c', 'f'), place('lib', '???', 'g')
        self.assertEqual((read.event, read.total, read.costs), ('Ir', 35, {main: (3, 5), f: (9, 30)}))
        self.assertEqual(read.edges, {(main, f): (2, 30, 9), (main, g): (1, 4, 0), (f, f): (4, 0, 9)})
        self.assertEqual(read.inclusive(), {main: 39, f: 30})

    def test_damage(self):
        for old, new in (('totals: 35', 'totals: 34'), ('fn=(1) main', 'fn=main'), ('cfn=(2)\n', 'cfn=(7)\n'),
                         ('(3) g', '(2) g'), ('(3) g', '(3) f'), ('version: 1', 'version: 2'), ('totals: 35\n', ''),
                         ('fn=(2)\n9 30', 'fn=(1)\n9 30')):
            with self.assertRaises(Failure, msg=new):
                callgrind_profile.Profile(CALLGRIND.replace(old, new, 1).encode())


class Sums(ReaderCase):
    """main 10-100 with f 20-60, in which f 30-40, and f 70-75; g 200-210; f from 300 on, to the last record at 330."""

    RECORDS = [(10, 0, 0, 1), (20, 0, 1, 2), (30, 0, 2, 2), (40, 1, 2, 2), (60, 1, 1, 2), (70, 0, 1, 2), (75, 1, 1, 2),
               (100, 1, 0, 1), (200, 0, 0, 3), (210, 1, 0, 3), (300, 0, 0, 2), (310, 0, 1, 3), (330, 1, 1, 3)]

    def paths(self, **window):
        records = uftrace.read_records(uftrace_write.records(*self.RECORDS))
        found = call_sums.paths_of(records, lambda addr: ' mfg'[addr], **window)
        return {''.join(path): tuple(s) for path, s in found.items()}

    def test_all(self):
        self.assertEqual(self.paths(), {'m': (1, 90, 45), 'mf': (2, 45, 35), 'mff': (1, 10, 10), 'g': (1, 10, 10),
                                        'f': (1, 30, 10), 'fg': (1, 20, 20)})

    def test_windows(self):
        self.assertEqual(self.paths(window=(25, 72)), {'m': (1, 47, 10), 'mf': (2, 37, 27), 'mff': (1, 10, 10)})
        self.assertEqual(self.paths(depth=1), {'m': (1, 90, 90), 'g': (1, 10, 10), 'f': (1, 30, 30)})
        self.assertEqual(self.paths(min_time=20), {'m': (1, 90, 50), 'mf': (1, 40, 40), 'f': (1, 30, 10),
                                                   'fg': (1, 20, 20)})

    def test_functions_and_edges(self):
        paths = {('m',): (1, 90, 45), ('m', 'f'): (2, 45, 35), ('m', 'f', 'f'): (1, 10, 10)}
        self.assertEqual({n: tuple(s) for n, s in call_sums.functions_of(paths).items()},
                         {'m': (1, 90, 45), 'f': (3, 45, 45)})
        self.assertEqual({e: tuple(s) for e, s in call_sums.edges_of(paths).items()},
                         {(None, 'm'): (1, 90, 45), ('m', 'f'): (2, 45, 35), ('f', 'f'): (1, 0, 10)})


if __name__ == '__main__':
    cases.main()
