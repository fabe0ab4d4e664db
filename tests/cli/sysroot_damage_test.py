#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`symbols --sysroot` with a recording whose files are not what they should be."""
import os
import random
import resource
import shutil

from gttest import cases, uftrace, uftrace_check
from sysroot_machine import AT, GUEST, SID, Sysroot


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))


class Damaged(Sysroot):
    """Files of a recording that are not what they should be: names where it can, or one line of
    error and everything as it was."""

    def setUp(self):
        super().setUp()
        self.one, two = self.build('root/one', 60, 1), self.build('root/two', 80, 2)
        self.execs(lambda at: {1001: [*self.one.values(), at, *two.values()],
                               1002: self.one.values()}, GUEST)
        self.symbols('System.map')
        self.good = self.files()

    def try_it(self, name, data):
        """Whether there are names."""
        shutil.rmtree(self.out)
        for known, text in {**self.good, name: data}.items():
            if text is not None:
                self.put(known, text)
        before = self.files()
        done = self.run_cli('symbols', '--sysroot', 'root', preexec_fn=limits, timeout=60)
        self.assertIn(done.returncode, (0, 1), (name, data[:200], done.stderr))
        if done.returncode == 1:
            self.assertEqual(self.files(), before)
            self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        return done.returncode == 0

    def test_guest_tasks(self):
        """A line that is none is passed over."""
        for data in [b'', b'\n\n\n', b'1001', b'1001 7 7', b'1001 7 7 \n', b'\0\0\0', b'-1 -1 -1 x\n',
                     b'99999999999999999999 7 7 x\n', b'1001 4294967296 4294967296 x\n',
                     b'1001 7 7 ' + b'x' * 100000, b'1001 7 7 "\\\x1b[2J\xff\n', b'\xff' * 5000,
                     b'1001 7 7 a\n1002 8 7 b\n1002 8 9 c\n', bytes(range(256)) * 100,
                     b''.join(b'%d %d %d x\n' % (i, i, i) for i in range(100000))]:
            self.assertTrue(self.try_it('guest-tasks.txt', data), data[:100])
            uftrace_check.check_files(self.out, False)
            self.trace = uftrace.Trace(self.out)
            self.names(1002, self.one)
        self.assertTrue(self.try_it('guest-tasks.txt', b''.join(b'%d 1 1 x\n' % i
                                                                for i in range(100000))))
        self.assertFalse(self.try_it('guest-tasks.txt', b'1001 1 0 x\n1002 1 0 x\n1 1 0 x\n'))

    def test_task_txt(self):
        good = self.good['task.txt']
        for cut in range(0, len(good), 3):
            self.try_it('task.txt', good[:cut])
        lines = good.splitlines(True)
        again = lines[-1].replace(b'1002', b'2147483647')
        self.assertTrue(self.try_it('task.txt', good + 50000 * again))
        self.assertLess(os.path.getsize(self.out + '/task.txt'), len(good) + 1000)
        for more in [lines[0], b'\0', b'\n', b'TASK timestamp=1.000000000 tid=0 pid=1\n',
                     b'TASK timestamp=1.000000000 tid=99999999999 pid=1\n', b'x' * 100000,
                     b'DLOP timestamp=0.000000001 tid=1 sid=fedcba9876543210 base=0 libname="x"\n']:
            self.assertFalse(self.try_it('task.txt', good + more), more[:100])

    def test_map(self):
        name = f'sid-{SID}.map'
        good = self.good[name]
        for cut in range(0, len(good), 7):
            self.try_it(name, good[:cut])
        line = b'%012x-%012x r-xp 00000000 00:00 0 %s\n'
        for i in range(20):
            chance = random.Random(i)
            rows = sorted(chance.randrange(1 << 48) for _ in range(60))
            self.try_it(name, b''.join(line % (lo, hi, b'm%d' % lo) for lo, hi in zip(rows, rows[1:])))
        self.try_it(name, b''.join(line % (AT + i, AT + 100000 - i, b'x%d' % i) for i in range(300)))
        self.try_it(name, line % ((1 << 64) - 1, (1 << 64) - 1, b'guest'))
        self.try_it(name, line % (0, (1 << 64) - 1, b'../../x'))
        self.assertFalse(self.try_it(name, line % (5, 2, b'x')))
        self.assertFalse(self.try_it(name, b''.join(line % (i, i + 1, b'x%d' % i)
                                                    for i in range(5000))))
        self.try_it(name + '.recorded', b'')
        self.assertFalse(self.try_it(name + '.recorded', b'hello\n'))

    def test_records(self):
        good = self.good['1001.dat']
        self.assertTrue(self.try_it('1001.dat', good[:-7]))
        self.assertTrue(self.try_it('1001.dat', b''))
        for i in range(20):
            data, chance = bytearray(good), random.Random(i)
            for _ in range(chance.randrange(1, 200)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            self.assertTrue(self.try_it('1001.dat', bytes(data)))
        at = [i for i in range(0, len(good), 16)][len(good) // 32]
        self.assertTrue(self.try_it('1001.dat', 3000 * good[at:at + 16]))

    def test_symbols(self):
        for name in [name for name in self.good if name.endswith('.sym')]:
            for data in [b'', b'hello', b'# symbols: 99999999\n# path name: x\n', bytes(3000),
                         self.good[name][:-9]]:
                self.assertTrue(self.try_it(name, data))


cases.main()
