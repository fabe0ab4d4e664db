# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace as a job that a test talks to: its terminal, its QEMU, its signals."""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import tty

from cli_case import HERE
from gttest.paths import GUESTTRACE
from gttest.results import Skip

LEADER = os.path.join(HERE, 'leader.py')
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


def open_terminal():
    """A pseudo terminal: its master, and what a program sees. A chroot may have no /dev/pts."""
    try:
        return pty.openpty()
    except OSError as error:
        raise Skip(f'no pseudo terminal can be opened: {error.strerror or error}') from error


class Session:
    """guesttrace as the foreground job of a terminal, or without one; its QEMU talks to us."""

    def __init__(self, test, do, *options, terminal=True, raw=False, command=None):
        self.master, slave = open_terminal()
        self.events, events = os.pipe()
        commands, self.commands = os.pipe()
        self.reports, reports = os.pipe()
        if raw:
            tty.setraw(slave)
        env = dict(test.env, FAKE_DO=do, FAKE_EVENTS=str(events), FAKE_COMMANDS=str(commands))
        argv = [GUESTTRACE, 'record', *options, *(command or [test.program()])]
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
