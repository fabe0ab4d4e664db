#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`diff` of two recordings of calls: each number beside sums that are made here from the records; modules in other
folders and at other addresses; what does not differ; what it refuses."""
import collections
import json
import random

from gttest import call_sums, cases, uftrace, uftrace_write
from gttest.paths import GUESTTRACE

FIRST, FUNCTIONS = 0x1000, 30
NAMES = {FIRST + 16 * i: f'function{i}' for i in range(FUNCTIONS)}


def random_calls(seed, functions, n):
    number = random.Random(seed)
    out, stack, time = [], [], 1000
    while len(out) < n or stack:
        time += number.randrange(1, 5000)
        if stack and (len(out) >= n or len(stack) > 8 or number.random() < 0.5):
            out.append((time, uftrace.EXIT, len(stack) - 1, stack.pop()))
        else:
            stack.append(FIRST + 16 * number.choice(functions))
            out.append((time, uftrace.ENTRY, len(stack) - 1, stack[-1]))
    return uftrace_write.records(*out)


def sums(data):
    """{name: (self, total, calls)}; recursive calls count once in the total."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    paths = call_sums.paths_of(list(uftrace.read_records(data)), NAMES.get)
    for path, s in paths.items():
        mine = found[path[-1]]
        mine[0] += s.self
        mine[1] += s.total if path[-1] not in path[:-1] else 0
        mine[2] += s.calls
    return {name: tuple(mine) for name, mine in found.items()}


class DiffCalls(cases.ScratchCase):
    def diff(self, *words, status=1):
        return self.must(GUESTTRACE, 'diff', *words, status=status).stdout

    def make(self, path, seed, functions):
        data = random_calls(seed, functions, 3000)
        uftrace_write.directory(self.path(path), {7: data}, NAMES)
        self.must(GUESTTRACE, 'export', '-f', 'compact', '-o', f'{path}.gtrace', path)
        return sums(data)

    def setUp(self):
        super().setUp()
        self.a = self.make('a', 1, range(20))
        self.b = self.make('b', 2, range(10, 30))

    def test_numbers(self):
        nothing = (0, 0, 0)
        want = {name: (self.a.get(name, nothing), self.b.get(name, nothing)) for name in {*self.a, *self.b}}
        self.assertGreater(len(want), 25)
        for a, b in ('a', 'b'), ('a.gtrace', 'b'), ('a', 'b.gtrace'), ('a.gtrace', 'b.gtrace'):
            rows = [json.loads(line) for line in self.diff('--json', a, b).splitlines()]
            got = {row['function']: tuple(tuple(row[f'{side}_{key}'] for key in ('self_ns', 'total_ns', 'calls'))
                                          for side in 'ab') for row in rows}
            self.assertEqual(got, want)
            gains = [abs(row['b_self_ns'] - row['a_self_ns']) for row in rows]
            self.assertEqual(gains, sorted(gains, reverse=True))

    def test_order(self):
        for key in 'self', 'total', 'calls':
            rows = [json.loads(line) for line in self.diff('--json', '--sort', key, 'a', 'b').splitlines()]
            name = key if key == 'calls' else f'{key}_ns'
            gains = [abs(row[f'b_{name}'] - row[f'a_{name}']) for row in rows]
            self.assertEqual(gains, sorted(gains, reverse=True), key)
        self.assertEqual(len(self.diff('--json', '-l', '3', 'a', 'b').splitlines()), 3)

    def test_table(self):
        lines = self.diff('a', 'b').splitlines()
        self.assertEqual(lines[0].split(), ['Self', 'change', 'Total', 'change', 'Calls', 'change', 'Module', 'Function'])
        self.assertEqual(len(lines) - 2, len({*self.a, *self.b}))
        row = next(line for line in lines if line.endswith(' function0')).split()
        calls = self.a['function0'][2]
        self.assertEqual(row[-4:-2], ['0', f'-{calls}'])

    def test_same(self):
        self.assertEqual(self.diff('a', 'a.gtrace', status=0), '')
        self.assertEqual(self.diff('-q', 'a', 'a', status=0), '')
        self.assertEqual(self.diff('-q', 'a', 'b.gtrace'), '')

    def test_refused(self):
        self.write('log', '0, 0x1000, 0x0, "nop"\n')
        for words, said in [(('--sort', 'name', 'a', 'b'), '--sort name: expected self, total or calls'),
                            (('--sort', 'self', 'log', 'log'), 'go with two recordings of calls'),
                            (('a', 'none'), 'none'), (('a',), 'takes two recordings')]:
            done = self.run_in(GUESTTRACE, 'diff', *words)
            self.assertEqual((done.returncode, done.stdout), (2, ''), words)
            self.assertIn(said, done.stderr)


if __name__ == '__main__':
    cases.main()
