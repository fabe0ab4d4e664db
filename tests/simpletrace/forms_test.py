#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`guesttrace events simpletrace --filter, --json, --chrome, --stats`: against the same computed here."""
import json
import lzma
import random
import re
import unittest

from gttest import cases
from gttest.results import folder, write
from traces import DATA, Trace, run

EVENTS = '''\
io(uint64_t offset, int bytes, void *req, bool write) "offset %"PRIu64
name(const char *dev, const char *text) "%s %s"
vcpu guest(unsigned level) "%u"
empty(void)
flags(uint32_t flags, int64_t bytes) "%x"
'''


class Case(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.dir = cls.enterClassContext(folder('simpletrace'))
        cls.events = write(f'{cls.dir}/events', EVENTS)
        rng = random.Random(1)
        t = Trace().map(0, 'io').map(1, 'name').map(2, 'guest').map(3, 'empty').map(4, 'flags')
        cls.records, now = [], 10**15
        for _ in range(2000):
            now += rng.choice((0, 1, 999, 10**6, rng.randrange(10**8), -5))
            pid = rng.choice((1, 77, 2**32 - 1))
            name, args = rng.choice((
                ('io', [('offset', rng.getrandbits(64)), ('bytes', rng.randrange(-9, 9)),
                        ('req', rng.getrandbits(40)), ('write', rng.randrange(2))]),
                ('name', [('dev', rng.choice((b'vda', b'vdb', b'sda1', b''))),
                          ('text', rng.choice((b'a"b\\', b"it's\n", 'grün'.encode(), b'\xff\x80x')))]),
                ('guest', [('level', 3)]), ('guest', [('__cpu', 2**63), ('level', 1)]),
                ('empty', []), ('flags', [('flags', rng.getrandbits(8)), ('bytes', -(2**63))])))
            if rng.random() < 0.02:
                name, args = 'Dropped_Event', [('num_events_dropped', 7)]
                t.dropped(now, pid, 7)
            else:
                t.event(['io', 'name', 'guest', 'empty', 'flags'].index(name), now, pid, name, args)
            cls.records.append((name, now, pid, dict(args)))
        cls.trace = t
        cls.path = write(f'{cls.dir}/trace', t.data)

    def ok(self, *options):
        status, out, err = run(*options, self.events, self.path)
        self.assertEqual((status, err), (0, ''), options)
        return out.decode('utf-8', 'surrogateescape')


class Filters(Case):
    def test_expressions(self):
        def signed(v):
            return v if isinstance(v, bytes) or v is None else (v + 2**63) % 2**64 - 2**63

        def has(a, *names):
            return all(n in a for n in names)
        for text, wanted in (
                ('io', lambda n, a, p, d: n == 'io'),
                ('*e*', lambda n, a, p, d: 'e' in n),
                ('io || fl?gs', lambda n, a, p, d: n in ('io', 'flags')),
                ('!io && !(name || Dropped_Event)',
                 lambda n, a, p, d: n not in ('io', 'name', 'Dropped_Event')),
                ('bytes == -3', lambda n, a, p, d: signed(a.get('bytes')) == -3),
                ('-3 == bytes', lambda n, a, p, d: signed(a.get('bytes')) == -3),
                ('bytes < 0', lambda n, a, p, d: has(a, 'bytes') and signed(a['bytes']) < 0),
                ('bytes >= -9223372036854775808', lambda n, a, p, d: has(a, 'bytes')),
                ('bytes > -0x8000000000000000 && bytes<=2',
                 lambda n, a, p, d: has(a, 'bytes') and -2**63 < signed(a['bytes']) <= 2),
                ('offset > 0x8000000000000000',
                 lambda n, a, p, d: n == 'io' and a['offset'] > 2**63),
                ('offset >= 0', lambda n, a, p, d: n == 'io'),
                ('offset < req', lambda n, a, p, d: n == 'io' and a['offset'] < a['req']),
                ('flags & 0x11', lambda n, a, p, d: n == 'flags' and a['flags'] & 0x11),
                ('flags & 3 == 2', lambda n, a, p, d: n == 'flags' and a['flags'] & 3 == 2),
                ('write != 0', lambda n, a, p, d: n == 'io' and a['write']),
                ('dev == "vda"', lambda n, a, p, d: a.get('dev') == b'vda'),
                ("dev != 'vda'", lambda n, a, p, d: has(a, 'dev') and a['dev'] != b'vda'),
                ('!(dev == "vda")', lambda n, a, p, d: a.get('dev') != b'vda'),
                ('dev == text', lambda n, a, p, d: False),
                ('dev ~ "?d*"', lambda n, a, p, d: has(a, 'dev') and re.match(b'.d', a['dev'])),
                ('dev =~ "^vd[b-z]$"', lambda n, a, p, d: a.get('dev') == b'vdb'),
                ('dev !~ "d"', lambda n, a, p, d: a.get('dev') == b''),
                (r'text == "it\'s\n"', lambda n, a, p, d: a.get('text') == b"it's\n"),
                (r'text == "\xff\x80x"', lambda n, a, p, d: a.get('text') == b'\xff\x80x'),
                (r'text =~ "\\\\$"', lambda n, a, p, d: a.get('text', b'').endswith(b'\\')),
                ('@pid == 77 && @event =~ "^(io|empty)$"',
                 lambda n, a, p, d: p == 77 and n in ('io', 'empty')),
                ('@event != "io"', lambda n, a, p, d: n != 'io'),
                ('@delta > 1ms || @delta < 0', lambda n, a, p, d: d > 10**6 or d < 0),
                ('@delta == 1ms && @pid > 4G', lambda n, a, p, d: False),
                ('@pid >= 3M', lambda n, a, p, d: p > 3 << 20),
                ('@tid == 0', lambda n, a, p, d: True),
                ('level == 1', lambda n, a, p, d: a.get('level') == 1),
                ('num_events_dropped == 7', lambda n, a, p, d: n == 'Dropped_Event'),
                ('io && bytes == 1 || name && dev == "vda"',
                 lambda n, a, p, d: (n == 'io' and signed(a['bytes']) == 1) or a.get('dev') == b'vda'),
                ('(' * 90 + 'io' + ')' * 90, lambda n, a, p, d: n == 'io'),
                (' || '.join(['bytes == 1'] * 500),
                 lambda n, a, p, d: signed(a.get('bytes')) == 1)):
            before, expected = self.records[0][1], []
            for (name, time, pid, args), line in zip(self.records, self.trace.lines):
                if wanted(name, args, pid, time - before):
                    expected.append(line + '\n')
                before = time
            self.assertTrue(self.ok('--filter', text) == ''.join(expected), text)

    def test_errors(self):
        """The message, and a caret below the place."""
        for text, at, message in (
                ('', 0, 'expected a number, a string'), ('io &&', 5, 'expected a number, a string'),
                ('(io', 3, "or ) for the ( at character 1"), ('io)', 2, 'or the end'),
                ('nosuch*', 0, "no declared event matches 'nosuch*'"),
                ('io && nosuch > 1', 6, "no declared event has an argument 'nosuch'"),
                ('bytes', 0, "no declared event matches 'bytes'"),
                ('bytes = 1', 6, 'expected == or =~'), ('bytes & 1 = 1', 10, 'expected == or =~'),
                ('bytes | 1', 6, 'expected ||'), ('bytes # 1', 6, 'means nothing here'),
                ('dev == 1', 4, 'a string is compared with a number'),
                ('dev < "x"', 4, 'strings are compared by'), ('bytes ~ "1"', 6, 'a string is compared'),
                ('dev =~ bytes', 4, 'expected a string with the pattern'),
                ('dev =~ "("', 4, 'missing'), ('dev & 1', 0, 'a string is compared'),
                ('@event & 1', 0, '@event has no bits'),
                ('bytes & x', 8, 'expected a mask'), ('bytes & -1', 8, 'expected a mask'),
                ('@time', 5, 'expected a comparison'), ('@nosuch == 1', 0, "unknown field '@nosuch'"),
                ('bytes == 0x', 9, 'expected a number'), ('bytes == 5q', 9, 'unknown unit'),
                ('bytes == 18446744073709551616', 9, 'does not fit'),
                ('bytes == 18446744073709551615k', 9, 'does not fit'),
                ('bytes == -9223372036854775809', 9, 'does not fit'),
                ('dev == "x', 7, 'closing quote'), (r'dev == "\q"', 8, 'no such escape'),
                ('dev == "grün" io', 14, 'or the end'),
                ('(' * 101 + 'io', 100, 'more than 100 levels'),
                ('!' * 50000 + 'io', 100, 'more than 100 levels'),
                (' || '.join(['io'] * 600), None, 'more than 1000 comparisons')):
            status, out, err = run('--filter', text, self.events, self.path)
            self.assertEqual((status, out), (2, b''), text)
            first, shown, caret = err.split('\n')[:3]
            self.assertIn(message, first)
            self.assertEqual(shown, '  ' + text)
            if at is not None:
                self.assertEqual(caret, '  ' + ' ' * at + '^', text)


class Forms(Case):
    @staticmethod
    def expected_args(name, args):
        out = {}
        for n, v in args.items():
            if isinstance(v, bytes):
                out[n] = v.decode('utf-8', 'surrogateescape')
            elif n in ('req', '__cpu'):
                out[n] = hex(v)
            elif n == 'write':
                out[n] = bool(v)
            else:
                out[n] = v
        return out

    def test_json(self):
        lines = self.ok('--json').splitlines()
        self.assertEqual(len(lines), len(self.records))
        before = self.records[0][1]
        for line, (name, time, pid, args) in zip(lines, self.records):
            self.assertEqual(json.loads(line), {
                'event': name, 'timestamp': time, 'delta': time - before, 'pid': pid,
                'args': self.expected_args(name, args)})
            before = time

    def test_chrome(self):
        data = json.loads(self.ok('--chrome'))
        self.assertEqual(len(data['traceEvents']), len(self.records))
        for e, (name, time, pid, args) in zip(data['traceEvents'], self.records):
            self.assertEqual(
                (e['ph'], e['name'], e['pid'], e['tid'], round(e['ts'] * 1000), e['args']),
                ('i', name, pid, pid, time, self.expected_args(name, args)))
            self.assertEqual(e['s'], 'p' if name == 'Dropped_Event' else 't')
        self.assertEqual(json.loads(self.ok('--chrome', '--filter', 'io && !io'))['traceEvents'], [])

    def rows(self, key):
        seen = {}
        for record in self.records:
            seen.setdefault(record[key], []).append(record[1])
        return seen

    def test_stats(self):
        got = json.loads(self.ok('--stats', '--json'))
        times = [r[1] for r in self.records]
        span = (max(times) - min(times)) / 1e9
        drops = sum(r[3].get('num_events_dropped', 0) for r in self.records)
        self.assertEqual((got['records'], got['dropped'], got['first'], got['last']),
                         (2000, drops, min(times), max(times)))
        for table, key, label in (('events', 0, 'event'), ('pids', 2, 'pid')):
            rows = self.rows(key)
            self.assertEqual({r[label] for r in got[table]}, set(rows))
            counts = [r['records'] for r in got[table]]
            self.assertEqual(counts, sorted(counts, reverse=True))
            for row in got[table]:
                t = rows[row[label]]
                gaps = [b - a for a, b in zip(t, t[1:])]
                self.assertEqual((row['records'], row['gap_min'], row['gap_max']),
                                 (len(t), min(gaps), max(gaps)))
                self.assertAlmostEqual(row['rate'], len(t) / span, delta=0.001)
                self.assertAlmostEqual(row['gap_mean'], sum(gaps) / len(gaps), delta=0.001)

    def test_stats_text(self):
        text = self.ok('--stats')
        self.assertTrue(text.startswith('2000 records in '))
        rows = self.rows(0)
        shown = dict(line.split()[:2] for line in text.splitlines() if line and line[0] != 'E')
        for name, times in rows.items():
            self.assertEqual(shown[name], str(len(times)))
        self.assertEqual(shown['4294967295'], str(len(self.rows(2)[2**32 - 1])))
        empty = write(f'{self.dir}/empty', Trace().data)
        status, out, _ = run('--stats', self.events, empty)
        self.assertEqual(status, 0)
        self.assertIn(b'0 records in 0.000000 s', out)

    def test_real(self):
        """What is shown of a real trace agrees between the forms."""
        path = write(f'{self.dir}/boot', lzma.open(DATA + '.trace.xz').read())
        status, out, _ = run('--json', DATA + '.trace-events', path)
        records = [json.loads(line) for line in out.splitlines()]
        text = lzma.open(DATA + '.txt.xz').read().decode().splitlines()
        self.assertEqual((status, len(records)), (0, len(text)))
        for r, line in zip(records, text):
            words = line.split(' ', 3)
            self.assertEqual((r['event'], '%.3f' % (r['delta'] / 1000), f"pid={r['pid']}"),
                             tuple(words[:3]))
            shown = dict(re.findall(r"(\w+)=(0x[0-9a-f]+|b'[^']*')", words[3]))
            for name, value in r['args'].items():
                if isinstance(value, int):
                    value = hex(value % 2**64)
                elif not value.startswith('0x'):
                    value = repr(value.encode())
                self.assertEqual(shown[name], value)

    def test_usage(self):
        for options in (['--chrome', '--json'], ['--chrome', '--stats'], ['--filter']):
            self.assertEqual(run(*options, self.events, self.path)[0], 2)


if __name__ == '__main__':
    cases.main()
