# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that a test leads: its console, and QEMU's monitor."""
import json
import os
import subprocess

from gttest import commands, paths, sockets
from gttest.results import need


class Machine:
    """With its console on pipes, and a monitor. `out`: it is recorded."""

    def __init__(self, folder, command, out=None, options=()):
        self.path, self.said, self.at = f'{folder}/monitor', b'', 0
        if os.path.exists(self.path):
            os.unlink(self.path)
        command = [*command, '-qmp', f'unix:{self.path},server=on,wait=off']
        if out:
            command = [paths.GUESTTRACE, 'record', '--format', 'uftrace', '-o', out, *options, '--', *command]
        env = dict(os.environ, GUESTTRACE_PLUGIN_DIR=paths.PLUGINS)
        self.child = commands.start(command, stdin=subprocess.PIPE, env=env)
        self.monitor = sockets.connected(self.path, self.child).makefile('rw')
        self.answer()
        self.execute('qmp_capabilities')

    def answer(self):
        while True:
            line = self.monitor.readline()
            need(line, 'the monitor is gone')
            said = json.loads(line)
            if 'event' not in said:
                need('error' not in said, said)
                return said.get('return')

    def execute(self, name, **arguments):
        self.monitor.write(json.dumps({'execute': name, 'arguments': arguments}) + '\n')
        self.monitor.flush()
        return self.answer()

    def do(self, line):
        """A line of the monitor for people, which says nothing where it succeeds."""
        need(not self.execute('human-monitor-command', **{'command-line': line}), line, 'says something')

    def wait(self, text):
        """The guest prints it."""
        while text not in self.said[self.at:]:
            data = os.read(self.child.stdout.fileno(), 4096)
            need(data, 'it ended:', self.said)
            self.said += data
        self.at = self.said.index(text, self.at) + len(text)

    def type(self, text, answer=None):
        self.child.stdin.write(text)
        self.child.stdin.flush()
        if answer:
            self.wait(answer)

    def finish(self):
        """The guest ends."""
        done = commands.finish(self.child, data=b'')
        need(done.returncode == 0, done)

    def kill(self):
        commands.kill(self.child)
        commands.finish(self.child)
