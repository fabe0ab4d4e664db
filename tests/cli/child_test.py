#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The child in the foreground: exit status, signals, job control, and the progress line."""
import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
import tty

import harness
from harness import GUESTTRACE, CliTest

LEADER = os.path.join(harness.HERE, 'leader.py')
DEADLINE = 60  # seconds until a test that waits for something gives up


def read_line(fd):
    """A line of a pipe; None at its end."""
    line = b''
    while not line.endswith(b'\n'):
        if not select.select([fd], [], [], DEADLINE)[0]:
            raise AssertionError('nothing is said')
        data = os.read(fd, 1)
        if not data:
            return None
        line += data
    return line.decode().strip()


class Session:
    """guesttrace as the foreground job of a terminal, or without one; its QEMU talks to us."""

    def __init__(self, test, do, *options, terminal=True, raw=False):
        self.events, events = os.pipe()
        commands, self.commands = os.pipe()
        self.reports, reports = os.pipe()
        self.master, slave = pty.openpty()
        if raw:
            tty.setraw(slave)
        env = dict(test.env, FAKE_DO=do, FAKE_EVENTS=str(events), FAKE_COMMANDS=str(commands))
        argv = [GUESTTRACE, 'record', *options, test.program()]
        if terminal:
            argv = [sys.executable, LEADER, str(reports), *argv]
        streams = slave if terminal else subprocess.DEVNULL
        self.process = subprocess.Popen(argv, env=env, cwd=test.dir, stdin=streams, stdout=streams,
                                        stderr=streams, pass_fds=(events, commands, reports))
        for fd in (events, commands, reports, slave):
            os.close(fd)
        self.seen = b''
        test.addCleanup(self.close)
        self.terminal, self.ended = terminal, False
        self.pid = int(read_line(self.reports)) if terminal else self.process.pid

    def close(self):
        if not self.ended:
            for pid in self.children() + [self.pid]:
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        for fd in (self.events, self.commands, self.reports, self.master):
            os.close(fd)

    def kill(self, sig):
        os.kill(self.pid, sig)

    def event(self):
        return read_line(self.events)

    def go_on(self):
        os.write(self.commands, b'\n')

    def read_terminal(self):
        try:
            data = os.read(self.master, 4096) if select.select([self.master], [], [], DEADLINE)[0] \
                else b''
        except OSError:  # the last process that had it open is gone
            data = b''
        self.seen += data
        return data

    def await_text(self, pattern):
        end = time.monotonic() + DEADLINE
        while not re.search(pattern, self.seen):
            if not self.read_terminal() or time.monotonic() > end:
                raise AssertionError(f'no {pattern} in {self.seen}')

    def end(self):
        """The exit status; with a terminal, all it showed is in `seen`."""
        if self.terminal:
            while self.read_terminal():
                pass
            status = os.waitstatus_to_exitcode(int(read_line(self.reports)))
        else:
            status = self.process.wait(DEADLINE)
        self.ended = True
        return status

    def children(self):
        with open(f'/proc/{self.pid}/task/{self.pid}/children', encoding='ascii') as f:
            return [int(word) for word in f.read().split()]


def state(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
        return f.read().rpartition(')')[2].split()[0]


def await_state(pid, wanted):
    end = time.monotonic() + DEADLINE
    while state(pid) != wanted:
        if time.monotonic() > end:
            raise AssertionError(f'process is {state(pid)}, not {wanted}')
        signal.sigtimedwait([], 0.005)


class Status(CliTest):
    def test_exit_status(self):
        prog = self.program()
        for n in (0, 1, 2, 125, 255):
            self.expect(n, 'record', '-q', prog, do=f'record stats=calls:0 exit={n}')

    def test_death(self):
        prog = self.program()
        for name in ('KILL', 'SEGV', 'TERM', 'INT', 'ABRT', 'PIPE'):
            self.expect(-signal.Signals['SIG' + name], 'record', '-q', prog, do=f'kill={name}')
        self.assertEqual([f for f in os.listdir(self.dir) if f.startswith('core')], [])

    def test_streams_are_the_childs(self):
        prog = self.program()
        os.unlink(self.path('bin/qemu-x86_64'))
        self.write('bin/qemu-x86_64', b'#!/bin/sh\n[ "$1" = --version ] && exit\ncat; echo err >&2\n')
        done = subprocess.run([GUESTTRACE, 'record', '-q', prog], env=self.env, cwd=self.dir,
                              input='in', capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, 'in')
        self.assertTrue(done.stderr.startswith('err\n'))

    def test_cannot_start(self):
        os.unlink(self.path('bin/qemu-x86_64'))
        self.write('bin/qemu-x86_64', b'#!/no/such/interpreter\n')
        done = self.expect(127, 'record', self.program())
        self.assertIn('bin/qemu-x86_64: No such file or directory', done.stderr)

    def test_ignored_sigchld(self):
        """A parent that ignores SIGCHLD must not make us miss the end, nor be seen by the child."""
        done = self.expect(6, 'record', '-q', self.program(), do='sets exit=6',
                           preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        blocked, ignored = re.findall(r'Sig\w+:\s+(\w+)', done.stdout)
        self.assertTrue(int(ignored, 16) & 1 << (signal.SIGCHLD - 1))
        self.assertEqual(int(blocked, 16), 0)


class Signals(CliTest):
    def start(self, **more):
        s = Session(self, 'signals say=ready forever', '-q', **more)
        self.assertEqual(s.event(), 'ready')
        return s

    def test_kill_is_passed_on(self):
        s = self.start(terminal=False)
        for name in ('HUP', 'INT', 'QUIT', 'USR1', 'USR2', 'ALRM', 'WINCH', 'TSTP', 'TERM'):
            s.kill(signal.Signals['SIG' + name])
            self.assertEqual(s.event(), 'SIG' + name)
        self.assertEqual(s.end(), 0)
        self.assertIsNone(s.event())

    def test_terminal_signals_come_once(self):
        """While we are stopped the child takes its own; if we passed ours on, it would come next."""
        s = self.start()
        keys = [(lambda key=key: os.write(s.master, key), name)
                for key, name in ((b'\x03', 'SIGINT'), (b'\x1c', 'SIGQUIT'))]
        size = b'\x18\0\x50\0\0\0\0\0'
        keys.append((lambda: fcntl.ioctl(s.master, termios.TIOCSWINSZ, size), 'SIGWINCH'))
        for press, name in keys:
            s.kill(signal.SIGSTOP)
            await_state(s.pid, 'T')
            press()
            self.assertEqual(s.event(), name)
            s.kill(signal.SIGCONT)
        s.kill(signal.SIGTERM)
        self.assertEqual(s.event(), 'SIGTERM')
        self.assertEqual(s.end(), 0)
        self.assertIsNone(s.event())

    def test_interrupt_ends_both(self):
        s = Session(self, 'default=INT say=ready forever', '-q')
        self.assertEqual(s.event(), 'ready')
        os.write(s.master, b'\x03')
        self.assertEqual(s.end(), -signal.SIGINT)

    def test_stop_and_continue(self):
        """^Z stops both, as a shell's job; SIGCONT to the group continues both."""
        s = Session(self, 'say=ready await say=woken exit=3', '-q')
        self.assertEqual(s.event(), 'ready')
        child, = s.children()
        os.write(s.master, b'\x1a')
        await_state(s.pid, 'T')
        await_state(child, 'T')
        os.killpg(s.pid, signal.SIGCONT)
        s.go_on()
        self.assertEqual(s.event(), 'woken')
        self.assertEqual(s.end(), 3)

    def test_continue_of_the_parent_alone(self):
        s = Session(self, 'say=ready await say=woken exit=3', '-q')
        self.assertEqual(s.event(), 'ready')
        os.write(s.master, b'\x1a')
        await_state(s.pid, 'T')
        s.kill(signal.SIGCONT)
        s.go_on()
        self.assertEqual(s.event(), 'woken')
        self.assertEqual(s.end(), 3)

    def test_child_that_handles_stop_runs_on(self):
        s = self.start()
        os.write(s.master, b'\x1a')
        self.assertEqual(s.event(), 'SIGTSTP')
        s.kill(signal.SIGTERM)
        self.assertEqual(s.event(), 'SIGTERM')
        self.assertEqual(s.end(), 0)


class Progress(CliTest):
    LINE = rb'\rrecording: 8 records, 128 B, \d+\.\d s\x1b\[K\r'

    def test_on_a_terminal(self):
        s = Session(self, 'record stats=calls:1 say=ready await')
        self.assertEqual(s.event(), 'ready')
        s.await_text(self.LINE)
        s.go_on()
        self.assertEqual(s.end(), 0)
        last = [m.end() for m in re.finditer(self.LINE, s.seen)][-1]
        self.assertTrue(s.seen[last:].startswith(b'\r\x1b[Kguesttrace record: '), s.seen)

    def test_not_in_raw_mode(self):
        s = Session(self, 'record stats=calls:1 ticks', raw=True)
        self.assertEqual(s.end(), 0)
        self.assertIn(b'1 calls', s.seen)
        self.assertNotIn(b'recording:', s.seen)

    def test_not_when_quiet_or_no_terminal(self):
        s = Session(self, 'record stats=calls:1', '-q')
        self.assertEqual(s.end(), 0)
        self.assertEqual(s.seen, b'')
        done = self.expect(0, 'record', self.program(), do='record stats=calls:1')
        self.assertNotIn('recording:', done.stderr)


harness.main()
