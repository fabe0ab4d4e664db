# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that is recorded with control=, does steps (guests/steps.c), and clients of the socket."""
import json
import os
import subprocess

from gttest import paths, qemus, sockets, uftrace
from gttest.plugin_runs import PluginTest
from gttest.results import need


class RecordingTest(PluginTest):
    plugin, output, guests = 'uftrace', 'output', paths.source('control', 'guests')
    keeps = True

    def start(self, arguments='', control='/control', command=(), source='steps.c'):
        """The program; it is ready. Without `control` it has no socket."""
        guest = f'{self.folder}/{source}-x86_64'
        if not os.path.exists(guest):
            self.build(source, 'x86_64', '-O1')
        if control:
            arguments += f',control={self.folder}{control}'
        child = self.user('x86_64', guest, arguments, command=command, stdin=subprocess.PIPE)
        read_line(child, 'ready')
        return child

    def again(self):
        """QEMU with the same plugin and program, for execve()."""
        return [qemus.user('x86_64'), *paths.keep(paths.plugin('uftrace')), '-plugin',
                self.word(f'output={self.out}', f'control={self.folder}/control'), f'{self.folder}/steps.c-x86_64']

    def calls(self):
        """How often work() and leaf() are in the recording."""
        trace = uftrace.Trace(self.out)
        return trace.calls_of('work'), trace.calls_of('leaf')

    def end(self, child, status=42):
        done = self.finish(child)
        need(done.status == status, f'status {done.status}:', done)
        need(not os.path.exists(f'{self.folder}/control'), 'the socket is left')
        return done


def read_line(child, *want):
    line = child.stdout.readline().decode().rstrip('\n')
    need(line in want or not want, 'the guest said', line, 'not', want)
    return line


def step(child, letter, *said):
    """The guest does a step."""
    child.stdin.write(letter.encode())
    child.stdin.flush()
    for line in said:
        read_line(child, line)
    if letter not in 'x':
        read_line(child, letter)


def fork(child):
    """Both have said that they are there."""
    child.stdin.write(b'f')
    child.stdin.flush()
    said = sorted(read_line(child) for _ in range(2))
    need(said == ['child', 'f'], said)


class Client:
    def __init__(self, t, child, name='control'):
        self.socket = sockets.connected(f'{t.folder}/{name}', child)
        self.lines = self.socket.makefile('rwb')
        greeting = json.loads(self.lines.readline())
        need(greeting['QMP']['version']['package'] == 'guesttrace', greeting)

    def ask(self, line):
        self.lines.write(line.encode() + b'\n')
        self.lines.flush()
        return self.lines.readline().decode().rstrip('\n')

    def must(self, line):
        answer = self.ask(line)
        need(answer == 'ok' or answer.startswith('ok '), line, 'gave', answer)
        return answer

    def qmp(self, command, **arguments):
        return json.loads(self.ask(json.dumps({'execute': command, 'arguments': arguments, 'id': 7})))

    def status(self):
        words = self.must('status').split()[1:]
        return {key: value if key in ('recording', 'tracking', 'clock') else int(value)
                for key, value in (word.split('=') for word in words)}

    def close(self):
        self.lines.close()
        self.socket.close()
