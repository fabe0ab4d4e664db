# SPDX-License-Identifier: GPL-2.0-or-later
"""Terminals of tmux, and programs in them. One process speaks tmux's control mode: it gets commands on its input, and
says when something was printed, so that who waits for the screen sleeps."""
import os
import pathlib
import select
import subprocess
import time

from gttest import commands
from gttest.results import Failure, need

# The command's exit status goes to a file; what it has printed stays.
RUN = 'trap : INT; "$@"; echo $? >"$0.part"; mv "$0.part" "$0"; read end'
LOOK = 0.25  # seconds until a screen or file is looked at without news: the end of a program is none


def quoted(word):
    return "'" + str(word).replace("'", "'\\''") + "'"


class Terminal:
    """`with Terminal(t, columns, lines, command...) as s`: a command in a terminal of its own."""

    count = 0

    def __init__(self, t, columns, lines, *command):
        Terminal.count += 1
        base = pathlib.Path(t.folder, f'tmux{Terminal.count}')
        base.with_suffix('.conf').write_text(f'set -g default-size {columns}x{lines}\nset -g destroy-unattached on\n')
        self.ended = base.with_suffix('.status')
        self.input = b''
        self.tmux = commands.start(
            [commands.tool('tmux'), '-S', base, '-f', base.with_suffix('.conf'), '-u', '-C', 'new-session', 'sh', '-c', RUN, self.ended, *command],
            stdin=subprocess.PIPE, env={**os.environ, 'LC_ALL': 'C.UTF-8', 'TERM': 'xterm-256color'})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.tmux.stdin.write(b'kill-server\n')
            self.tmux.stdin.flush()
        except BrokenPipeError:
            pass
        commands.finish(self.tmux)

    def line(self):
        """A line of what tmux says; None: none has come for a while."""
        end = time.monotonic() + LOOK
        while b'\n' not in self.input:
            if not select.select([self.tmux.stdout], [], [], max(end - time.monotonic(), 0))[0]:
                return None
            data = os.read(self.tmux.stdout.fileno(), 65536)
            need(data, 'tmux has ended')
            self.input += data
        line, _, self.input = self.input.partition(b'\n')
        return line.decode(errors='surrogateescape')

    def run(self, *words):
        """A command of tmux; the lines of its answer."""
        self.tmux.stdin.write(' '.join(map(quoted, words)).encode() + b'\n')
        self.tmux.stdin.flush()
        answer, number, end = None, None, time.monotonic() + commands.SECONDS
        while time.monotonic() < end:
            line = self.line()
            kind, *more = (line or '').split(' ')
            if answer is None:
                if kind == '%begin' and more[2:] == ['1']:
                    answer, number = [], more
            elif kind in ('%end', '%error') and more[1:2] == number[1:2]:
                need(kind == '%end', words, *answer)
                return answer
            elif line is not None:
                answer.append(line)
        raise Failure(f'{words}: tmux does not answer')

    def press(self, *keys):
        """Keys by tmux's names for them."""
        self.run('send-keys', *keys)

    def type(self, text):
        self.run('send-keys', '-l', text)

    def resize(self, columns, lines):
        self.run('resize-window', '-x', columns, '-y', lines)

    def lines(self):
        return self.run('capture-pane', '-p')

    def until(self, holds, what):
        """The screen's lines, once holds(lines)."""
        end = time.monotonic() + commands.SECONDS
        while True:
            lines = self.lines()
            if lines and holds(lines):
                return lines
            if time.monotonic() > end:
                raise Failure(f'{what}: not on the screen:\n' + '\n'.join(lines))
            self.line()

    def has_ended(self):
        return self.ended.exists()

    def status(self):
        """Its exit status, once it has ended."""
        self.until(lambda _: self.has_ended(), 'its end')
        return int(self.ended.read_text())
