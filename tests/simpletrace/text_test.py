#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`guesttrace events simpletrace` as text: a real QEMU's trace against simpletrace.py's own output, made-up
ones of either byte order against what it would print, and damaged ones."""
import json
import lzma
import os
import random
import struct
import subprocess

from gttest import cases
from gttest.paths import GUESTTRACE, LONG
from traces import DATA, Trace, run

STEP = 1 if LONG else 5  # bytes, between the places where a file is cut
EVENTS = '''\
# a comment
one(int a, const char *s) "a %d s %s"
two(void)
  disable off(uint64_t x) "x %"PRIx64
vcpu guest(uint8_t level, char *name) "level %u %s"
vcpu tcg mem(TCGv addr, uint8_t size) "size %u", "addr 0x%"PRIx64" size %u"
ten(int a, int b, int c, int d, int e, int f, int g, int h, int i, const char *j) ""
pointers(void *p, const char * const c, const uint8_t *u, char **pp, unsigned char *uc) "%p"
'''


class Case(cases.ScratchCase):
    def setUp(self):
        super().setUp()
        self.events = self.write('events', EVENTS)

    def show(self, trace, *options, status=0):
        path = self.write('trace', trace if isinstance(trace, bytes) else trace.data)
        got, out, err = run(*options, self.events, path)
        self.assertEqual(got, status, err)
        return out.decode(), err.replace(path, 'TRACE')


class Real(Case):
    def test_equal(self):
        trace = lzma.open(DATA + '.trace.xz').read()
        text = lzma.open(DATA + '.txt.xz').read()
        path = self.write('trace', trace)
        status, out, err = run(DATA + '.trace-events', path)
        self.assertEqual((status, err), (0, ''))
        self.assertTrue(out == text, 'the text differs from that of simpletrace.py')
        status, out, err = run(DATA + '.trace-events', '-', stdin=trace)
        self.assertEqual((status, err), (0, ''))
        self.assertTrue(out == text, 'the text differs when it comes through a pipe')


class Merged(Case):
    """Traces that are read as one."""
    def made(self, name, times, event='one', pid=1):
        t = Trace('<').map(5, event)
        for at in times:
            t.event(5, at, pid, event, [('a', at), ('s', b'x')])
        return self.write(name, t.data)

    def test_order(self):
        """By time; of equal times the first trace's comes first. A name is its own trace's event."""
        a = self.made('a', [1000, 3000, 3000, 9000])
        b = self.made('b', [2000, 3000, 10000], pid=2)
        self.write('a.events', EVENTS)
        other = self.write('other', 'nine(void)\none(int a, const char *b) ""\n')
        for files, name in ((a, other, b), 'b'), ((a, self.events, b), 's'):
            status, out, err = run('--json', *files)
            self.assertEqual((status, err), (0, ''))
            got = [(r['timestamp'], r['pid'], r['args']) for r in map(json.loads, out.decode().splitlines())]
            want = [(t, p, {'a': t, name if p == 2 else 's': 'x'}) for t, p in
                    ((1000, 1), (2000, 2), (3000, 1), (3000, 1), (3000, 2), (9000, 1), (10000, 2))]
            self.assertEqual(got, want)
        status, out, err = run('-f', 'a > 2000 && b == x', a, other, b)
        self.assertNotEqual(status, 0)
        status, out, err = run('-f', 'b == "x" && @time > 2000', a, other, b)
        self.assertEqual((status, len(out.splitlines())), (0, 2), err)

    def test_real(self):
        """QEMU's own, and a guest's."""
        trace = self.write('trace', lzma.open(DATA + '.trace.xz').read())
        status, out, err = run('--json', DATA + '.trace-events', trace)
        times = [json.loads(line)['timestamp'] for line in out.decode().splitlines()]
        ours = [times[0] - 5, times[len(times) // 2], times[-1] + 5]
        self.write('guest.events', EVENTS)
        status, out, err = run('--json', self.made('guest', ours), DATA + '.trace-events', trace)
        self.assertEqual((status, err), (0, ''))
        got = [json.loads(line) for line in out.decode().splitlines()]
        self.assertEqual([r['timestamp'] for r in got], sorted(times + ours))
        self.assertEqual([r['timestamp'] for r in got if r['event'] == 'one'], ours)

    def test_wrong(self):
        a = self.made('a', [1000])
        for files, words in [((a,), 'is a trace without'), ((a, a), 'is a trace without'), ((), 'takes an events file'),
                             ((self.events, a, self.events), 'takes an events file')]:
            status, _, err = run(*files)
            self.assertEqual(status, 2)
            self.assertIn(words, err)
        status, out, err = run(self.events, a, self.events, self.write('cut', b'\xff' * 30))
        self.assertEqual((status, out), (1, b''))
        self.assertIn('no simpletrace file', err)


class Orders(Case):
    def test_all(self):
        for order in '<>':
            t = Trace(order)
            t.map(7, 'one').map(2**63, 'two').map(8, 'guest').map(9, 'off')
            t.event(7, 1000, 42, 'one', [('a', -1), ('s', b"it's")])
            t.event(2**63, 1500, 42, 'two', [])
            t.dropped(1400, 4294967295, 3)
            t.event(9, 2**64 - 1, 0, 'off', [('x', 2**64 - 1)])
            t.event(8, 5, 1, 'guest', [('level', 3), ('name', b'')])
            t.event(8, 6, 1, 'guest', [('__cpu', 0x1234), ('level', 3), ('name', b'cpu')])
            t.map(7, 'two')
            t.event(7, 7, 1, 'two', [])
            t.map(7, 'one')
            t.event(7, 8, 1, 'one', [('a', 5), ('s', bytes(range(1, 256)))])
            t.event(7, 2**62, 1, 'one', [('a', 5), ('s', b'"' * 3 + b"'\\")])
            out, err = self.show(t)
            self.assertEqual(out, t.text())
            self.assertEqual(err, '')

    def test_random(self):
        rng = random.Random(6)
        for order in '<>':
            t = Trace(order).map(0, 'one').map(1, 'ten').map(3, 'pointers')
            for _ in range(3000):
                time = rng.choice((rng.randrange(2**64), rng.randrange(10**7)))
                if rng.random() < 0.1:
                    t.dropped(time, rng.randrange(2**32), rng.randrange(2**64))
                elif rng.random() < 0.5:
                    text = bytes(rng.choices(range(1, 256) if rng.random() < .5 else b'ab\'"\\\n~',
                                             k=rng.randrange(40)))
                    t.event(0, time, 1, 'one', [('a', rng.randrange(-2**31, 2**31)), ('s', text)])
                else:
                    args = [(c, rng.getrandbits(rng.randrange(1, 65))) for c in 'abcdefghi']
                    t.event(1, time, 77, 'ten', args + [('j', b'x' * rng.randrange(513))])
            args = [('p', 0), ('c', b'cc'), ('u', 2**64 - 1), ('pp', 8), ('uc', 16)]
            args[1] = ('c', b'const')
            t.event(3, 1, 1, 'pointers', args)
            out, err = self.show(t)
            self.assertEqual(err, '')
            self.assertTrue(out == t.text(), order)

    def test_tcg(self):
        t = Trace().map(1, 'mem_trans').map(2, 'mem_exec')
        t.event(1, 10, 1, 'mem_trans', [('__cpu', 1), ('size', 4)])
        t.event(2, 20, 1, 'mem_exec', [('addr', 2**40), ('size', 8)])
        self.assertEqual(self.show(t), (t.text(), ''))

    def test_threads(self):
        """Our own kind of record: a thread id, in files of a version of their own."""
        t = Trace(version=4 | 1 << 32).map(1, 'two').event(1, 5, 9, 'two', [], tid=2**40)
        self.assertEqual(self.show(t), (t.text(), ''))
        out, _ = self.show(t, '--json')
        self.assertIn('"pid":9,"tid":1099511627776,', out)
        _, err = self.show(Trace().map(1, 'two').event(1, 5, 9, 'two', [], tid=1), status=1)
        self.assertIn('record of type 2', err)

    def test_no_header(self):
        t = Trace(header=False)
        t.event(1, 5, 9, 'two', []).event(0, 1005, 9, 'one', [('a', 1), ('s', b'x')])
        t.event(2, 1006, 9, 'off', [('x', 1)]) # disabled ones count
        self.assertEqual(self.show(t, '--no-header'), (t.text(), ''))
        _, err = self.show(t, status=1)
        self.assertIn('TRACE: no simpletrace file', err)

    def test_large_string(self):
        t = Trace().map(1, 'one').event(1, 5, 9, 'one', [('a', 0), ('s', b'\x01' * 300000)])
        self.assertEqual(self.show(t), (t.text(), ''))

    def test_live(self):
        """Through a pipe whose writer lives, what is known is shown before the next read waits."""
        t = Trace().map(1, 'two').event(1, 5, 9, 'two', [])
        to, tell = os.pipe()
        shown, out = os.pipe()
        child = subprocess.Popen([GUESTTRACE, 'events', 'simpletrace', self.events, '-'],
                                        stdin=to, stdout=out)
        os.close(to)
        os.close(out)
        os.write(tell, t.data)
        self.assertEqual(os.read(shown, 1000).decode(), t.text())
        os.close(tell)
        os.close(shown)
        self.assertEqual(child.wait(), 0)


class Damaged(Case):
    def test_cut_everywhere(self):
        for order in '<>':
            t = Trace(order).map(7, 'one').event(7, 1, 1, 'one', [('a', 1), ('s', b'xy')])
            t.map(8, 'two').dropped(2, 1, 1).event(8, 3, 1, 'two', [])
            whole = dict(t.ends)
            whole[24] = 0
            for n in sorted({*range(24, len(t.data), STEP), *(end for end in whole if 24 <= end < len(t.data))}):
                out, err = self.show(t.data[:n], status=0 if n in whole else 1)
                start = max(end for end in whole if end <= n)
                self.assertEqual(out, t.text(whole[start]), n)
                if n not in whole:
                    self.assertIn(f'TRACE: offset {start}: the file ends within a record: '
                                  f'{n - start} bytes of ', err)
            for n in range(0, 24, STEP):
                out, err = self.show(t.data[:n], status=1)
                self.assertEqual(out, '')
                self.assertIn(f'TRACE: no simpletrace file: {n} bytes, its header alone has 24' if n else 'TRACE: empty, expected a simpletrace', err)

    def test_headers(self):
        for data, message in (
                (b'\x7fELF' + bytes(60), 'an ELF file, expected a simpletrace file'),
                (b'\xff' * 8 + bytes(60), 'no simpletrace file: begins with'),
                (Trace(version=3).data, 'simpletrace version 3, expected 4'),
                (Trace('>', version=5).data, 'simpletrace version 5, expected 4')):
            out, err = self.show(data, status=1)
            self.assertIn('TRACE: ' + message, err)
            self.assertEqual(out, '')

    def test_passed_over(self):
        t = Trace().map(1, 'one').map(2, 'nobody').map(3, 'two').map(4, 'two\0and more')
        good = [('a', 1), ('s', b'x')]
        t.event(1, 1, 1, 'one', good)
        places = [len(t.data)]
        t.event(9, 2, 1, None, [])
        t.event(9, 2, 1, None, [])
        places.append(len(t.data))
        t.event(2, 3, 1, None, [], payload=bytes(13))
        places.append(len(t.data))
        t.event(1, 4, 1, None, [], payload=bytes(11)) # too short for a string
        t.event(1, 4, 1, None, good, payload=struct.pack('<QI', 1, 5) + b'four')
        places.append(len(t.data))
        t.event(3, 5, 1, None, [], payload=bytes(8)) # too long
        t.event(3, 6, 1, 'two', [])
        t.event(1, 7, 1, 'one', good)
        out, err = self.show(t, status=1)
        self.assertEqual(out, t.text())
        self.assertEqual(err.splitlines(), ['guesttrace events simpletrace: ' + line for line in (
            f'TRACE: offset {places[0]}: event id 9 was not mapped to a name',
            f"TRACE: offset {places[1]}: event 'nobody' is not declared in the events file",
            f"TRACE: offset {places[2]}: 11 bytes of payload are not the arguments that 'one' is"
            ' declared with',
            f"TRACE: offset {places[3]}: 8 bytes of payload are not the arguments that 'two' is"
            ' declared with',
            '6 records could not be decoded')])

    def test_hostile_lengths(self):
        for order in '<>':
            t = Trace(order).map(1, 'two').event(1, 1, 1, 'two', [])
            n = len(t.data)
            for record, message in (
                    (t.pack('QQQII', 1, 1, 1, 23, 1), 'event of length 23, expected 24 to 1048576'),
                    (t.pack('QQQII', 1, 1, 1, 2**32 - 1, 1), 'event of length 4294967295'),
                    (t.pack('QQQII', 1, 1, 1, 0, 1), 'event of length 0'),
                    (t.pack('QQI', 0, 1, 2**32 - 1), 'name of length 4294967295, expected 0 to 4096'),
                    (t.pack('QQQII', 2**64 - 1, 1, 1, 24, 1), 'record of type 18446744073709551615'),
                    (t.pack('QQQII', 1, 1, 1, 1 << 20, 1), 'the file ends within a record: 32 bytes'
                                                           ' of 1048584')):
                out, err = self.show(t.data + record + bytes(100 if b'\x10' not in record else 0),
                                     status=1)
                self.assertEqual(out, t.text())
                self.assertIn(f'TRACE: offset {n}: {message}'.replace(
                    '32 bytes', f'{len(record) + 100} bytes' if b'\x10' not in record else '32 bytes'),
                              err)

    def test_files(self):
        self.assertEqual(run(self.events, '/nonexistent')[0], 1)
        status, _, err = run('/nonexistent', '/nonexistent')
        self.assertEqual(status, 1)
        self.assertIn('/nonexistent: cannot be opened: No such file', err)
        status, _, err = run('/tmp', '/tmp')
        self.assertEqual(status, 1)
        self.assertIn('/tmp: a folder that is not a recording, expected ', err)
        bad = self.write('bad', 'one(int a)\n fast two(int x) "%d"\nthree(int)\n')
        status, _, err = run(bad, '/nonexistent')
        self.assertEqual(status, 1)
        self.assertIn("bad:2:2: unknown property 'fast', expected disable, vcpu, tcg or at=PLACE", err)
        self.assertIn('(and 1 more errors)', err)
        self.assertEqual(run(self.events)[0], 2)

    def test_full(self):
        t = Trace().map(1, 'two')
        for i in range(20000):
            t.event(1, i, 1, 'two', [])
        path = self.write('trace', t.data)
        with open('/dev/full', 'wb') as full:
            done = subprocess.run([GUESTTRACE, 'events', 'simpletrace', self.events, path],
                                         stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'standard output', done.stderr)


if __name__ == '__main__':
    cases.main()
