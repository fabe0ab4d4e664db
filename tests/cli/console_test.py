#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine's console on standard output: copied byte for byte, its lines in extern.dat."""
import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
import time

from cli_case import DIRECTORY, GOOD_STATS, CliTest
from gttest import cases
from gttest.cases import need
from gttest.paths import GUESTTRACE
from session import Session

QEMU = 'qemu-system-x86_64'
BASE = 0x40000000


def out(text):
    return 'out=' + (text.encode() if isinstance(text, str) else text).hex() + ' taken'


class Console(CliTest):
    def setUp(self):
        super().setUp()
        self.fake(QEMU)

    def record(self, do, *options, qemu=('-nographic',)):
        return self.expect(0, 'record', '-q', *DIRECTORY, *options, '--', QEMU, *qemu, do=do,
                           errors='replace')

    def lines(self):
        return self.read('uftrace.data', 'extern.dat')

    def has_lines(self):
        return os.path.exists(self.path('uftrace.data', 'extern.dat'))


class Lines(Console):
    def test_times(self):
        """Each line has the time that the trace had when its first byte came."""
        done = self.record(' '.join([
            out('before the plugin\n'), 'record', GOOD_STATS, 'now=1000', out('one\ntw'),
            'now=2000', out('o\r\n'), 'now=1500', out('never\n'), 'now=5000000123', out('$ ')]))
        self.assertEqual(done.stdout, 'before the plugin\none\ntwo\nnever\n$ ')
        self.assertEqual(self.lines(), '0.000000001 before the plugin\n0.000001000 one\n'
                         '0.000001000 two\n0.000001500 never\n5.000000123 $\n')
        self.assertFalse(os.path.exists(self.path('uftrace.data', '.now')))

    def test_times_of_an_earlier_run(self):
        self.record('record now=7 ' + out('a\n') + ' ' + GOOD_STATS)
        with open(self.path('uftrace.data', '.now'), 'wb') as f:
            f.write(struct.pack('<Q', 99))
        self.record(out('b\n') + ' record ' + GOOD_STATS)
        self.assertEqual(self.lines(), '0.000000007 a\n')  # the fake leaves the directory's files

    def test_host_clock(self):
        self.write('machine', json.dumps({'entries': [BASE], 'clock': 'host'}).encode())
        start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.record(f'machine=machine {GOOD_STATS} ' + out('one\n'))
        end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        seconds, rest = self.lines().split('.')
        self.assertTrue(start <= int(seconds) * 10**9 + int(rest.split()[0]) <= end)

    def test_unknown_times(self):
        """Instructions are the clock, and nobody says how many there were: no line is placed."""
        done = self.record(f'record {GOOD_STATS} ' + out('one\n'))
        self.assertEqual(done.stdout, 'one\n')
        self.assertFalse(self.has_lines())

    def test_text(self):
        text = b'\x1b[1;32mgreen\x1b[0m\r\n\n  \n\ttab\x07\x08\n\x1b]0;title\x07shown\nbad \xff\xfe utf\n' \
               b'\x1b(Bset\n\xc3\xa9\n' + b'x' * 3000 + b'\nlast'
        self.record(f'record {GOOD_STATS} now=5 ' + out(text))
        got = [line.split(' ', 1)[1] for line in self.lines().splitlines()]
        self.assertEqual(got, ['green', ' tab', 'shown', 'bad ?? utf', 'set', '\u00e9', 'x' * 500,
                               'last'])

    def test_readers_accept_it(self):
        need('uftrace')
        self.record(f'record {GOOD_STATS} now=3 ' + out('hello from the guest\n'))
        shown = subprocess.run(['uftrace', 'replay', '-d', self.path('uftrace.data'), '--no-pager'],
                               capture_output=True, text=True, check=True).stdout
        self.assertIn('hello from the guest', shown)

    def test_when(self):
        """Only where the serial port is on standard output, and not if that is unwanted."""
        for on, *qemu in ((1, '-nographic'), (1, '--nographic'), (1, '-serial', 'stdio'),
                          (1, '-serial', 'mon:stdio'),
                          (1, '-chardev', 'stdio,id=a,mux=on', '-serial', 'chardev:a'),
                          (1, '-chardev', 'stdio,id=a', '-device', 'virtconsole,chardev=a,name=b'),
                          (0, '-display', 'none'), (0, '-nographic', '-serial', 'null'),
                          (0, '-monitor', 'stdio'), (0, '-chardev', 'stdio,id=a', '-mon', 'a'),
                          (0, '-chardev', 'stdio,id=a', '-serial', 'chardev:b'),
                          (0, '-nographic', '-daemonize'), (0, '-serial', 'stdio', '-curses')):
            with self.subTest(qemu=qemu):
                self.record(f'record {GOOD_STATS} now=5 out={b"x".hex()}', qemu=qemu)
                self.assertEqual(self.has_lines(), bool(on))
                if on:
                    os.unlink(self.path('uftrace.data', 'extern.dat'))
        done = self.record(f'record {GOOD_STATS} now=5 out={b"x".hex()}', '--no-console')
        self.assertFalse(self.has_lines())
        self.assertEqual(done.stdout, 'x')


class Bytes(Console):
    def test_all_of_them(self):
        data = bytes(range(256)) * 40 + os.urandom(1 << 20)
        self.write('data', data)
        env = dict(self.env, FAKE_DO=f'record {GOOD_STATS} from=data exit=7')
        done = subprocess.run([GUESTTRACE, 'record', '-q', *DIRECTORY, '--', QEMU, '-nographic'], env=env,
                              cwd=self.dir, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (7, b''))
        self.assertEqual(done.stdout, data)

    def test_input(self):
        done = subprocess.run([GUESTTRACE, 'record', '-q', *DIRECTORY, '--', QEMU, '-nographic'], text=True,
                              env=dict(self.env, FAKE_DO=f'record {GOOD_STATS} copy'),
                              cwd=self.dir, input='typed\n', capture_output=True, check=True)
        self.assertEqual(done.stdout, 'typed\n')

    def closed(self, do):
        """The exit status where nobody reads what we write."""
        readable, writable = os.pipe()
        os.close(readable)
        done = subprocess.run([GUESTTRACE, 'record', '-q', *DIRECTORY, '--', QEMU, '-nographic'], text=True,
                              env=dict(self.env, FAKE_DO=do), cwd=self.dir, stdout=writable,
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        os.close(writable)
        self.assertEqual(done.stderr, '')
        return done.returncode

    def test_reader_gone(self):
        self.assertEqual(self.closed(f'record {GOOD_STATS} refused exit=5'), 5)
        self.assertEqual(self.closed(f'default=PIPE record {GOOD_STATS} refused'), -signal.SIGPIPE)

    def test_output_left_open(self):
        """A process that outlives QEMU and has its output does not keep us."""
        readable, commands = os.pipe()
        env = dict(self.env, FAKE_COMMANDS=str(readable),
                   FAKE_DO=f'record {GOOD_STATS} {out("text")} linger')
        with subprocess.Popen([GUESTTRACE, 'record', '-q', *DIRECTORY, '--', QEMU, '-nographic'], env=env,
                              cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              pass_fds=[readable]) as job:
            self.assertEqual(job.communicate(timeout=60)[0], b'text')
        os.close(commands)
        os.close(readable)
        self.assertEqual(job.returncode, 0)


class Terminal(Console):
    def start(self, do, *options, **more):
        return Session(self, do, '-q', *DIRECTORY, *options, command=['--', QEMU, '-nographic'], **more)

    def resize(self, session, lines, columns):
        fcntl.ioctl(session.master, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))

    def test_stays_one(self):
        """QEMU sees a terminal of the same size, whose modes are the real one's alone."""
        session = self.start(f'record {GOOD_STATS} now=5 await tty size=33x99 tty {out("hello")}'
                             f' {out(bytes([13, 10]))} exit=3')
        self.resize(session, 20, 70)
        session.go_on()
        self.assertRegex(session.event(), r'^\d+ \d+ raw$')
        self.resize(session, 33, 99)
        self.assertEqual(session.event(), '33 99 raw')
        self.assertEqual(session.end(), 3)
        self.assertEqual(session.seen, b'hello\r\r\n')  # the real terminal adds its own
        self.assertEqual(self.lines(), '0.000000005 hello\n')

    def test_not_asked_for(self):
        session = self.start(f'record {GOOD_STATS} tty', '--no-console')
        self.assertRegex(session.event(), r'cooked$')
        self.assertEqual(session.end(), 0)

    def test_job_control(self):
        session = self.start(f'record {GOOD_STATS} now=1 {out("ready")} signals say=go forever')
        self.assertEqual(session.event(), 'go')
        session.await_text(b'ready')  # ^C discards what the terminal has not shown
        os.write(session.master, b'\x03')
        self.assertEqual(session.event(), 'SIGINT')
        session.kill(signal.SIGTERM)
        self.assertEqual(session.event(), 'SIGTERM')
        self.assertEqual(session.end(), 0)

    def test_input(self):
        session = self.start(f'record {GOOD_STATS} say=go copy', raw=True)
        self.assertEqual(session.event(), 'go')
        os.write(session.master, b'typed\n')
        self.assertEqual(session.end(), 0)
        self.assertEqual(session.seen, b'typed\n')


cases.main()
