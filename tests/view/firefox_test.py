#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of guesttrace view in a headless Firefox, by its Marionette protocol: messages are SIZE:JSON, a command
[0, number, name, parameters], its answer [1, number, error, result]."""
import base64
import json
import os
import re
import socket
import sys

from gttest import commands, functions, made, screenshots
from gttest.results import Failure, equal, need, write
from page_test import IDLE, READY, check_table, random_steps, report
from texts import time_text
from viewing import Viewing

PREFERENCES = {'marionette.port': 0, 'remote.log.level': 'Info', 'browser.dom.window.dump.enabled': True, 'app.update.enabled': False, 'browser.shell.checkDefaultBrowser': False, 'datareporting.policy.dataSubmissionEnabled': False,
               'browser.startup.homepage_override.mstone': 'ignore', 'network.captive-portal-service.enabled': False, 'network.connectivity-service.enabled': False,
               'toolkit.telemetry.reportingpolicy.firstRun': False, 'remote.prefs.recommended': True, 'security.sandbox.content.level': 0}
WHEN = 'const done = arguments[0]; const look = () => (%s) ? done(true) : requestAnimationFrame(look); look();'
# A call of the outermost depth, as soon as one is there.
CALL = '[...Array(100).keys()].map(i => guesttrace.callAt(1, 0, guesttrace.recording.duration * i / 100)).filter(hit => hit && hit.call).map(hit => hit.call)[0]'
ERRORS = 'window.failures = []; window.addEventListener("error", e => failures.push(e.message)); window.addEventListener("unhandledrejection", e => failures.push(String(e.reason)));'


class Firefox:
    """`with Firefox(folder) as f`; one page."""

    def __init__(self, folder):
        self.profile, self.number, self.buffer = f'{folder}/firefox', 0, b''
        os.mkdir(self.profile)
        write(f'{self.profile}/user.js', ''.join(f'user_pref({json.dumps(k)}, {json.dumps(v)});\n' for k, v in PREFERENCES.items()))
        self.process = commands.start([commands.tool('firefox-esr'), '--headless', '--marionette', '--no-remote', '--profile', self.profile, '--width', '1200', '--height', '800'],
                                      env={**os.environ, 'HOME': folder, 'MOZ_DISABLE_CONTENT_SANDBOX': '1', 'MOZ_CRASHREPORTER_DISABLE': '1'},
                                      stderr=open(f'{folder}/firefox.errors', 'wb'))

    def __enter__(self):
        self.socket = socket.create_connection(('127.0.0.1', self.port()), timeout=commands.SECONDS)
        self.take()
        self.call('WebDriver:NewSession', capabilities={'alwaysMatch': {}})
        return self

    def __exit__(self, *_):
        commands.kill(self.process)

    def port(self):
        """It says where it listens."""
        for line in self.process.stdout:
            found = re.search(rb'Marionette.*Listening on port (\d+)', line)
            if found:
                return int(found[1])
        raise Failure('Firefox has ended')

    def take(self):
        while True:
            size, colon, rest = self.buffer.partition(b':')
            if colon and len(rest) >= int(size):
                self.buffer = rest[int(size):]
                return json.loads(rest[:int(size)])
            data = self.socket.recv(1 << 16)
            need(data, 'Firefox has closed the connection')
            self.buffer += data

    def call(self, name, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, name, parameters]).encode()
        self.socket.sendall(b'%d:' % len(message) + message)
        _, number, error, result = self.take()
        need(number == self.number and not error, name, error)
        return result

    def ask(self, expression):
        return self.call('WebDriver:ExecuteScript', script=f'return {expression};', args=[], sandbox=None)['value']

    def wait(self, condition):
        self.call('WebDriver:ExecuteAsyncScript', script=WHEN % condition, args=[], sandbox=None, scriptTimeout=commands.SECONDS * 1000)

    def rows(self, label):
        return self.ask(f'[...document.querySelectorAll(`[aria-label="{label}"] .rows .row`)].map(row => [...row.children].map(cell => cell.textContent))')

    def show(self, **state):
        self.ask(f'guesttrace.setState({json.dumps(state)})')
        self.wait(f'({IDLE}) && document.querySelector("header")')


def test_page(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path) as v, Firefox(t.folder) as f:
        f.call('WebDriver:SetTimeouts', script=commands.SECONDS * 1000, pageLoad=commands.SECONDS * 1000)
        f.call('WebDriver:Navigate', url=v.url)
        f.call('WebDriver:ExecuteScript', script=ERRORS, args=[], sandbox=None)
        f.wait(READY)
        f.show(tab='functions')
        f.wait('document.querySelectorAll(`[aria-label="Functions"] .rows .row`).length > 5')
        check_table(f, report(recording.path))
        f.show(tab='timeline')
        f.wait(CALL)
        call = f.ask(CALL)
        f.show(tab='timeline', call=call, function=call['function'])
        need(time_text(call['duration']) in f.ask('document.querySelector(".details").innerText'), 'the call is not shown')
        f.show(tab='flame')
        f.wait('guesttrace.flame.nodes.length > 10')
        png = base64.b64decode(f.call('WebDriver:TakeScreenshot', full=False)['value'])
        need(len(png) > 10000, 'a picture of', len(png), 'bytes')
        screenshots.keep('firefox', png)
        equal(f.ask('window.failures'), [], 'errors of the page')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
