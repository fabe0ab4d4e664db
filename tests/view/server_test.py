#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The server of guesttrace view: whom it answers, and how it ends."""
import contextlib
import os
import resource
import signal
import socket
import sys
import threading

from gttest import commands, functions, made
from gttest.paths import GUESTTRACE
from gttest.results import equal, need
from viewing import Viewing


def refused(v, path, status, **more):
    got, headers, body = v.request(path, **more)
    equal(got, status, f'{path} {more}')
    need('Content-Security-Policy' in headers, path, headers)
    need(b'guest' not in body and b'/' not in body, 'it says too much:', body)


def test_who_is_answered(t):
    recording = made.Made(f'{t.folder}/data', n=50)
    with Viewing(recording.path) as v:
        equal(v.request(v.path)[0], 200, 'the page')
        equal(v.request(v.path + 'info', headers={'Host': f'localhost:{v.port}'})[0], 200, 'localhost')
        equal(v.request(v.path + 'info', headers={'Origin': f'http://127.0.0.1:{v.port}'})[0], 200, 'its own origin')
        token = v.path.strip('/')
        for path in '/', '/info', '/x/', f'/{token}', f'/{token[:-1]}/', f'/{token[:-1]}0x/', f'/{token.upper()}x/info', f'//{token}/', f'/{"0" * 32}/':
            refused(v, path, 403)
        for host in 'evil.example', f'evil.example:{v.port}', '127.0.0.1', f'127.0.0.1:{v.port + 1}', f'127.0.0.1:{v.port}.evil.example', '':
            refused(v, v.path, 403, headers={'Host': host})
        for origin in 'http://evil.example', 'null', f'https://127.0.0.1:{v.port}', 'file://':
            refused(v, v.path + 'info', 403, headers={'Origin': origin})
        for method in 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD':
            equal(v.request(v.path + 'info', method=method)[0], 405, method)
        for path in '../info', '..%2f..%2fetc%2fpasswd', '/etc/passwd', 'page.js/../info', '%2e%2e/', 'data':
            refused(v, v.path + path, 404)


def test_where_it_listens(t):
    """On the loopback interface's address and nowhere else: the kernel's table of listening sockets."""
    recording = made.Made(f'{t.folder}/data', n=50)
    with Viewing(recording.path) as v:
        listening = []
        for table in 'tcp', 'tcp6':
            with open(f'/proc/net/{table}', encoding='ascii') as f:
                listening += [line.split()[1] for line in f.readlines()[1:] if line.split()[3] == '0A']
        equal([where for where in listening if where.endswith(f':{v.port:04X}')], [f'0100007F:{v.port:04X}'], 'addresses')


def test_headers(t):
    recording = made.Made(f'{t.folder}/data', n=50)
    with Viewing(recording.path) as v:
        _, headers, _ = v.request(v.path)
        policy = headers['Content-Security-Policy']
        need("default-src 'none'" in policy and 'unsafe' not in policy and '*' not in policy, policy)
        equal(headers['X-Content-Type-Options'], 'nosniff', 'type')
        equal(headers['Referrer-Policy'], 'no-referrer', 'referrer')
        equal(headers['Cache-Control'], 'no-store', 'caching')
        need('Access-Control-Allow-Origin' not in headers, headers)


def test_parameters(t):
    recording = made.Made(f'{t.folder}/data', n=50)
    with Viewing(recording.path) as v:
        v.ready()
        for question in ('tiles?exp=63', 'tiles?exp=-1', 'tiles?bin=99999999999999999999', 'tiles?exp=0&bins=1000000', 'tiles?tasks=3', 'tiles?tasks=0,,1',
                         'tiles?tasks=x', 'report?from=9&to=8', 'report?from=999999999', 'flame?path=99', 'flame?path=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0',
                         'flame?inverse=2', 'find?functions=99', 'function?functions=1e3', 'functions?first=-1'):
            status, _, body = v.request(v.path + question)
            equal(status, 400, f'{question}: {body}')
        need(v.ask('tiles', exp=0, bin=0, bins=8, tasks=0)['tasks'], 'it does not answer any more')
        with socket.create_connection(('127.0.0.1', v.port), timeout=commands.SECONDS) as s:
            s.sendall(b'GET /' + b'x' * (1 << 20))
            with contextlib.suppress(OSError):  # it may have been ended already
                s.shutdown(socket.SHUT_WR)
        equal(v.request(v.path)[0], 200, 'after a request that is too long')


class Slow(threading.Thread):
    """Connections that send a byte of a request now and then, and never end it; without a text, nothing."""

    def __init__(self, v, n, text=b'GET /'):
        super().__init__()
        self.sockets = [socket.create_connection(('127.0.0.1', v.port), timeout=commands.SECONDS) for _ in range(n)]
        self.text, self.done = text, threading.Event()

    def run(self):
        for s in self.sockets if self.text else ():
            with contextlib.suppress(OSError):
                s.sendall(self.text)
        while not self.done.wait(0.1):
            for s in self.sockets if self.text else ():
                with contextlib.suppress(OSError):
                    s.sendall(b'x')

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.join()
        for s in self.sockets:
            s.close()


def ends(s):
    """Until the server ends the connection; what it sent."""
    got = b''
    try:
        while data := s.recv(4096):
            got += data
    except ConnectionResetError:
        pass
    return got


def test_silent_connections(t):
    """A thousand of those that say nothing, and of those that say it slowly, keep nobody from being answered: none of them has a
    thread, which takes a thousand times as long as to accept one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most if most < 4096 and most != resource.RLIM_INFINITY else 4096, most))
    recording = made.Made(f'{t.folder}/data', n=50)
    with Viewing(recording.path) as v:
        v.ready()
        for text in b'', b'GET /':
            with Slow(v, 1000, text) as slow:
                for _ in range(3):
                    equal(v.request(v.path)[0], 200, 'the page')
                threads = len(os.listdir(f'/proc/{v.child.pid}/task'))
                need(threads < 16, threads, 'threads for', len(slow.sockets), 'connections')


def test_deadline(t):
    """A request that does not come to its end is given up, before the token and after it."""
    recording = made.Made(f'{t.folder}/data', n=50)
    with Viewing(recording.path) as v:
        body = f'POST {v.path}info HTTP/1.1\r\nHost: 127.0.0.1:{v.port}\r\nContent-Length: 100000\r\n\r\n'.encode()
        with Slow(v, 2) as slow, Slow(v, 2, body) as posting:
            for s in slow.sockets + posting.sockets:
                equal(ends(s), b'', 'what is answered')


def test_body(t):
    """A body is read before the request is refused: who writes it would else lose the answer."""
    recording = made.Made(f'{t.folder}/data', n=50)
    with Viewing(recording.path) as v:
        for path, status in (v.path + 'info', 405), ('/', 403):
            equal(v.request(path, method='POST', body=b'x' * (8 << 20))[0], status, path)


def test_end(t):
    recording = made.Made(f'{t.folder}/data', n=50)
    for how in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        with Viewing(recording.path) as v:
            equal(v.end(how), (0, ''), how)
            with socket.socket() as s:
                need(s.connect_ex(('127.0.0.1', v.port)) != 0, 'the port is open after the end')


def test_port(t):
    recording = made.Made(f'{t.folder}/data', n=50)
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()
        port = other.getsockname()[1]
        done = commands.run([GUESTTRACE, 'view', '--no-browser', '--port', str(port), recording.path])
        equal(done.returncode, 1, 'exit status')
        need(f'port {port}'.encode() in done.stderr and b'--port' in done.stderr, done.stderr)
    with Viewing('--port', str(port), recording.path) as v:
        equal(v.port, port, 'port')


def test_nothing_to_show(t):
    for what, status in ([], 2), (['a', 'b', 'c'], 2), ([f'{t.folder}/none'], 1), (['/etc/passwd'], 1), (['--port', '0', 'x'], 2):
        done = commands.run([GUESTTRACE, 'view', *what])
        equal(done.returncode, status, f'{what}: {done.stderr}')
        need(done.stderr.startswith(b'guesttrace view: '), done.stderr)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
