# SPDX-License-Identifier: GPL-2.0-or-later
"""Both ends of unix sockets. A test waits for the other side, never for a time."""
import json
import os
import socket
import threading

from gttest.commands import SECONDS
from gttest.results import need


def listen(path, backlog=None, cwd=None):
    """A socket that listens at a path, which may be relative to a folder: long names fit then."""
    server, here = socket.socket(socket.AF_UNIX), os.getcwd()
    try:
        os.chdir(cwd or here)
        server.bind(path)
    finally:
        os.chdir(here)
    server.listen(*([] if backlog is None else [backlog]))
    server.settimeout(SECONDS)
    return server


def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(SECONDS)
    try:
        s.connect(path)
    except OSError:
        s.close()
        raise
    return s


def connected(path, child):
    """connect() once the child listens there."""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(SECONDS)
    while s.connect_ex(path) != 0:
        need(child.poll() is None, 'it ended:', child.poll())
    return s


class Reader(threading.Thread):
    """Listens at a socket, or connects to it, and reads: all, or the first bytes only."""

    def __init__(self, path, most=None, listens=True):
        super().__init__(daemon=True)
        self.path, self.most, self.data = path, most, bytearray()
        self.server = listen(path) if listens else None
        self.start()

    def connect(self):
        if self.server:
            with self.server:
                return self.server.accept()[0]
        while True:
            try:
                return connect(self.path)
            except OSError:
                pass

    def run(self):
        with self.connect() as s:
            while self.most is None or len(self.data) < self.most:
                some = s.recv(1 << 16)
                if not some:
                    break
                self.data.extend(some)

    def bytes(self):
        """All, once the other side has ended."""
        self.join(SECONDS)
        return bytes(self.data)


class Control(threading.Thread):
    """The control socket of a recording, for one client: says where that is; goes away when it is asked for the records."""

    def __init__(self, path, recording):
        super().__init__(daemon=True)
        self.path, self.recording, self.server = path, recording, listen(path)
        self.start()

    def answers(self, question):
        words = json.loads(question)
        if words['execute'] == 'qmp_capabilities':
            return {'return': {}}
        line = words['arguments']['command-line']
        return {'return': f'ok {self.recording}\r\n'} if line == 'path' else None

    def run(self):
        with self.server, self.server.accept()[0] as s, s.makefile('rwb') as lines:
            answer = {'QMP': {'version': {'package': 'guesttrace'}, 'capabilities': []}}
            while answer:
                lines.write(json.dumps(answer).encode() + b'\n')
                lines.flush()
                question = lines.readline()
                answer = self.answers(question) if question else None
        os.unlink(self.path)
