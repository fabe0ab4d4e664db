# SPDX-License-Identifier: GPL-2.0-or-later
"""A traced program with a monitor (target.c), and a client that sends what it is given."""
import json
import select
import subprocess

from gttest import cases, paths, sockets
from gttest.paths import GUESTTRACE

TARGET = paths.built('control', 'control_target')
PROMPT = b'(guesttrace) '
LIMIT = 30


class Client:
    def __init__(self, path):
        self.socket = sockets.connect(path)
        self.socket.settimeout(LIMIT)
        self.data = b''
        try:
            self.greeting = json.loads(self.until(b'\n'))
        except Exception:
            self.close()
            raise

    def until(self, end):
        while end not in self.data:
            more = self.socket.recv(65536)
            if not more:
                raise EOFError(self.data)
            self.data += more
        got, self.data = self.data.split(end, 1)
        return got + end

    def send(self, data):
        self.socket.sendall(data)

    def hmp(self, line):
        self.send(line.encode() + b'\n')
        return self.until(PROMPT)[:-len(PROMPT)].decode()

    def answer(self):
        return json.loads(self.until(b'\n'))

    def qmp(self, command, **arguments):
        request = {'execute': command}
        if arguments:
            request['arguments'] = {k.replace('_', '-'): v for k, v in arguments.items()}
        self.send(json.dumps(request).encode())
        return self.answer()

    def at_end(self):
        try:
            return not self.socket.recv(1)
        except ConnectionResetError:
            return True

    def close(self):
        self.socket.close()


class Case(cases.ScratchCase):
    def setUp(self):
        super().setUp()
        self.monitor = self.path('monitor')
        self.target = None

    def begin(self, events=0, path=None, **more):
        self.target = subprocess.Popen([TARGET, path or self.monitor, str(events)], cwd=self.dir,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(self.end, self.target)
        return self.target.stdout.readline() == 'ready\n'

    def end(self, target):
        if target.returncode is None:
            target.kill()
            target.wait(LIMIT) # not for its pipes' end: a child of it may hold them
        for f in (target.stdin, target.stdout, target.stderr):
            f.close()

    def tell(self, line):
        self.target.stdin.write(line + '\n')
        self.target.stdin.flush()
        self.assertTrue(select.select([self.target.stdout], [], [], LIMIT)[0], line)
        return self.target.stdout.readline().rstrip('\n')

    def client(self):
        c = Client(self.monitor)
        self.addCleanup(c.close)
        return c

    def ctl(self, *args, stdin='', status=0):
        done = self.must(GUESTTRACE, 'ctl', self.monitor, *args, status=status, input=stdin)
        return done.stdout, done.stderr
