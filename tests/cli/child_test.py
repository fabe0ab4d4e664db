#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The child in the foreground: exit status, signals, job control, and the progress line."""
import fcntl
import os
import re
import signal
import subprocess
import termios

from cli_case import DIRECTORY, CliTest
from gttest import cases
from gttest.paths import GUESTTRACE
from session import Session, await_state


class Status(CliTest):
    def test_exit_status(self):
        prog = self.program()
        for n in (0, 1, 2, 125, 255):
            self.expect(n, 'record', '-q', *DIRECTORY, prog, do=f'record stats=calls:0 exit={n}')

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

    def test_term_once_more_kills(self):
        """A QEMU that hangs: it does not take SIGTERM."""
        s = Session(self, 'signals say=ready await', '-q')
        self.assertEqual(s.event(), 'ready')
        s.kill(signal.SIGTERM)
        s.await_text(rb'QEMU still runs 10 s after SIGTERM: send SIGTERM once more to kill it\r\n')
        s.kill(signal.SIGTERM)
        self.assertEqual(s.end(), -signal.SIGKILL)

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
        s = Session(self, 'record stats=calls:1 say=ready await', *DIRECTORY)
        self.assertEqual(s.event(), 'ready')
        s.await_text(self.LINE)
        s.go_on()
        self.assertEqual(s.end(), 0)
        last = [m.end() for m in re.finditer(self.LINE, s.seen)][-1]
        self.assertTrue(s.seen[last:].startswith(b'\r\x1b[Kguesttrace record: '), s.seen)

    def test_not_in_raw_mode(self):
        s = Session(self, 'record stats=calls:1 ticks', *DIRECTORY, raw=True)
        self.assertEqual(s.end(), 0)
        self.assertIn(b'1 calls', s.seen)
        self.assertNotIn(b'recording:', s.seen)

    def test_not_when_quiet_or_no_terminal(self):
        s = Session(self, 'record stats=calls:1', '-q', *DIRECTORY)
        self.assertEqual(s.end(), 0)
        self.assertEqual(s.seen, b'')
        done = self.expect(0, 'record', *DIRECTORY, self.program(), do='record stats=calls:1')
        self.assertNotIn('recording:', done.stderr)


cases.main()
