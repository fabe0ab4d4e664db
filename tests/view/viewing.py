# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace view while a test runs, and questions to it."""
import http.client
import json
import signal
import urllib.parse

from gttest import commands
from gttest.paths import GUESTTRACE
from gttest.results import need


def rows(flat, n):
    return [tuple(flat[i:i + n]) for i in range(0, len(flat), n)]


class Viewing:
    """`with Viewing(recording) as v`: v.url is the page's address."""

    def __init__(self, *arguments):
        self.child = commands.start([GUESTTRACE, 'view', '--no-browser', *arguments])
        self.url = self.child.stdout.readline().decode().strip()
        if not self.url:
            done = commands.finish(self.child)
            need(False, 'exit status', done.returncode, done.stderr)
        parts = urllib.parse.urlsplit(self.url)
        self.port, self.path = parts.port, parts.path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, how=signal.SIGTERM):
        """Its exit status, and what it printed as errors."""
        if self.child.poll() is None:
            self.child.send_signal(how)
        done = commands.finish(self.child)
        return done.returncode, done.stderr.decode(errors='replace')

    def request(self, path, method='GET', headers=None, body=None):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=commands.SECONDS)
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        got = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return got

    def ask(self, name, **parameters):
        """An answer."""
        status, _, body = self.request(f'{self.path}{name}?{urllib.parse.urlencode(parameters)}')
        need(status == 200, name, parameters, status, body)
        return json.loads(body)

    def ready(self):
        """Until the recording has been read; its tracks."""
        while True:
            got = self.ask('tracks')
            if got['progress'] == 1000:
                return got

    def names(self):
        """Of functions, by index."""
        return self.ask('functions')['functions'][::5]
