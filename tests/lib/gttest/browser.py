# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages in a headless Chromium, by its DevTools protocol over two pipes: JSON messages that end with a NUL.

Nothing is waited for by time: a page answers when what it is asked for is there.
"""
import atexit
import functools
import http.server
import json
import os
import select
import shutil
import tempfile
import threading
import time

from gttest import commands
from gttest.results import Failure

SECONDS = 100
WIDTH, HEIGHT = 1200, 800
# --no-sandbox: root has none. The others: no graphics card, and no connections of the browser's own.
FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader', '--disable-quic',
         '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--remote-debugging-pipe',
         f'--window-size={WIDTH},{HEIGHT}']
# Answers when the condition holds; looked at before each frame.
WHEN = 'new Promise(done => { const look = () => (%s) ? done(true) : requestAnimationFrame(look); look(); })'


class Chromium:
    """The process, one for all pages of a test file: it takes seconds to begin. Nothing is waited for that it says to another page."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='guesttrace-browser-')
        self.buffer, self.number = b'', 0
        here, self.out = os.pipe()
        self.into, there = os.pipe()
        # The browser reads from its descriptor 3 and writes to 4, whatever numbers the pipes have here.
        script = f'exec 3<&{here} 4>&{there}; exec "$@"'
        command = ['bash', '-c', script, 'bash', commands.tool('chromium'), *FLAGS, f'--user-data-dir={self.folder}/profile',
                   'about:blank']
        self.process = commands.start(command, pass_fds=(here, there), stdout=open(f'{self.folder}/log', 'wb'),
                                      stderr=open(f'{self.folder}/errors', 'wb'))
        commands.started.remove(self.process)  # it outlives the test that has started it
        os.close(here)
        os.close(there)

    def end(self):
        commands.kill(self.process)
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, end):
        while b'\0' not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0, end - time.monotonic()))
            data = os.read(self.into, 1 << 16) if ready else b''
            if not data:
                raise Failure('the browser does not answer' if not ready else 'the browser has ended')
            self.buffer += data
        text, _, self.buffer = self.buffer.partition(b'\0')
        return json.loads(text)


running = []


def chromium():
    """That which runs, or a new one."""
    if running and running[0].process.poll() is not None:
        running.pop().end()
    if not running:
        running.append(Chromium())
    return running[0]


@atexit.register
def end_all():
    while running:
        running.pop().end()


class Browser:
    """`with Browser() as b`; one page, b, which shares nothing with others."""

    def __init__(self):
        self.chromium, self.loaded, self.session, self.context = chromium(), False, None, None

    def __enter__(self):
        self.context = self.call('Target.createBrowserContext')['browserContextId']
        target = self.call('Target.createTarget', url='about:blank', browserContextId=self.context, width=WIDTH, height=HEIGHT)['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        self.call('Runtime.enable')
        self.call('Page.enable')
        return self

    def __exit__(self, *why):
        if why[0]:  # it may be in any state
            end_all()
            return
        self.session = None
        self.call('Target.disposeBrowserContext', browserContextId=self.context)

    def next(self, wanted, end):
        """Reads messages up to one for which wanted(message) holds. What the page complains about raises Failure."""
        while True:
            got = self.chromium.message(end)
            if got.get('sessionId', self.session) != self.session:
                continue
            if got.get('method') == 'Page.javascriptDialogOpening':
                raise Failure(f'the page says: {got["params"]["message"]}')
            if got.get('method') == 'Runtime.exceptionThrown':
                raise Failure(f'the page failed: {got["params"]["exceptionDetails"]}')
            if got.get('method') == 'Log.entryAdded' and got['params']['entry']['level'] == 'error':
                raise Failure(f'the console says: {got["params"]["entry"]["text"]}')
            if got.get('method') == 'Runtime.consoleAPICalled' and got['params']['type'] in ('error', 'assert'):
                raise Failure(f'the page says to the console: {got["params"]["args"]}')
            self.loaded |= got.get('method') == 'Page.loadEventFired'
            if wanted(got):
                return got

    def call(self, method, **params):
        """A method's result."""
        self.chromium.number += 1
        number = self.chromium.number
        ask = {'id': number, 'method': method, 'params': params}
        if self.session:
            ask['sessionId'] = self.session
        os.write(self.chromium.out, json.dumps(ask).encode() + b'\0')
        got = self.next(lambda m: m.get('id') == number, time.monotonic() + SECONDS)
        if 'error' in got:
            raise Failure(f'{method}: {got["error"]}')
        return got['result']

    def open(self, url):
        """Until the page and what it names are loaded."""
        self.loaded = False
        self.call('Page.navigate', url=url)
        if not self.loaded:
            self.next(lambda m: self.loaded, time.monotonic() + SECONDS)

    def ask(self, expression):
        """The value of an expression of the page; of a promise, what it becomes."""
        got = self.call('Runtime.evaluate', expression=expression, awaitPromise=True, returnByValue=True)
        if 'exceptionDetails' in got:
            raise Failure(f'{expression}: {got["exceptionDetails"]}')
        return got['result'].get('value')

    def wait(self, condition):
        self.ask(WHEN % condition)

    def press(self, key):
        """A key by its name: a character, or Enter, Escape, ArrowLeft and others."""
        text = {'Enter': '\r'}.get(key, key if len(key) == 1 else '')
        for kind, typed in ('keyDown' if text else 'rawKeyDown', text), ('keyUp', ''):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, text=typed)


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):  # pylint: disable=arguments-differ
        """The browser may end in the middle of an answer."""


class Site:
    """A folder on a port of the loopback interface: `with Site(folder) as url`."""

    def __init__(self, folder):
        self.server = Server(('127.0.0.1', 0), functools.partial(Handler, directory=folder))
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return f'http://127.0.0.1:{self.server.server_port}'

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
