#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`guesttrace ctl`: commands, lines, the prompt, and what listens and is no monitor."""
import json
import os
import pty
import select
import signal
import socket
import subprocess
import time

from control import LIMIT, PROMPT, Case
from gttest import cases, sockets
from gttest.paths import GUESTTRACE


class Ctl(Case):
    def test_command(self):
        self.begin()
        self.assertEqual(self.ctl('trace-event demo* on'), ('', ''))
        self.assertEqual(self.ctl('info', 'trace-events', 'demo_t*'), ('demo_two : state 1\n', ''))
        self.assertEqual(self.ctl('trace-event nosuch on', status=1),
                         ('', "guesttrace ctl: unknown event 'nosuch'\n"))
        self.assertIn('"a\\b"', self.ctl('trace-event "a\\b', status=1)[1] + '"a\\b"')

    def test_json(self):
        """A command of QMP goes as it is; what it returns is printed."""
        self.begin()
        self.assertEqual(self.ctl('{"execute": "trace-event-set-state", "arguments": {"name": "demo_two", "enable": true}}'),
                         ('{}\n', ''))
        out, _ = self.ctl('{"execute": "trace-event-get-state", "arguments": {"name": "demo_t*"}}')
        self.assertEqual([(e['name'], e['state']) for e in json.loads(out)], [('demo_two', 'enabled')])
        self.assertEqual(self.ctl('info trace-events demo_t*'), ('demo_two : state 1\n', ''))
        self.assertIn('nosuch', self.ctl('{"execute": "nosuch"}', status=1)[1])
        self.assertIn('at character 3: ', self.ctl('{ execute}', status=1)[1])
        self.assertIn('the end of the command', self.ctl('{"execute": "a"} {}', status=1)[1])

    def test_lines(self):
        self.begin()
        self.assertEqual(self.ctl(stdin='# first\n\ntrace-event demo_one on\n'
                                  ' info trace-events demo_o*\n'),
                         ('demo_one : state 1\ndemo_off : state 0\n', ''))
        out, err = self.ctl(stdin='nonsense\ninfo trace-events demo_one\n', status=1)
        self.assertEqual(out, 'demo_one : state 1\n')
        self.assertIn("unknown command 'nonsense'", err)

    def test_nobody(self):
        self.assertIn('No such file or directory', self.ctl('help', status=1)[1])
        with open(self.monitor, 'w'):
            pass
        self.assertIn('empty, expected the socket of a monitor', self.ctl('help', status=1)[1])
        os.unlink(self.monitor)
        self.ctl(status=1)

    def test_strangers(self):
        """What listens is no monitor, or says nothing, or goes away."""
        for greeting, message in ((b'hello\n', 'not a monitor\'s answer'),
                                  (b'{"a": 1}\n', 'no greeting'), (b'', 'the connection was closed'),
                                  (b'{"QMP": {}}\n', 'the connection was closed'),
                                  (b'[' * 100 + b'\n', 'not a monitor\'s answer'),
                                  (None, 'no answer within 1 s')):
            with sockets.listen(self.monitor) as listener:
                ctl = subprocess.Popen([GUESTTRACE, 'ctl', '--timeout=1', self.monitor, 'help'],
                                       stderr=subprocess.PIPE, text=True)
                peer = listener.accept()[0]
                if greeting is not None:
                    peer.sendall(greeting)
                    peer.shutdown(socket.SHUT_WR)
                self.assertIn(message, ctl.communicate(timeout=LIMIT)[1])
                self.assertEqual(ctl.returncode, 1)
                peer.close()
            os.unlink(self.monitor)

    def test_prompt(self):
        self.begin()
        parent, child = pty.openpty()
        ctl = subprocess.Popen([GUESTTRACE, 'ctl', self.monitor], stdin=child, stdout=child, stderr=child,
                               env={**os.environ, 'TERM': 'dumb'})
        os.close(child)
        self.addCleanup(os.close, parent)
        seen = b''

        def until(text):
            nonlocal seen
            while text not in seen:
                self.assertTrue(select.select([parent], [], [], LIMIT)[0], seen)
                try:
                    seen += os.read(parent, 4096)
                except OSError:
                    break
            self.assertIn(text, seen)
            seen = seen.split(text, 1)[1]

        until(PROMPT)
        if os.environ.get('EDITED') == '1':
            os.write(parent, b'trace-ev\tdemo_t\ton\r')
        else:
            os.write(parent, b'trace-event demo_two on\r')
        end = time.monotonic() + LIMIT  # the prompt comes again with each completion
        while self.tell('state demo_two') != '1' and time.monotonic() < end:
            pass
        self.assertEqual(self.tell('state demo_two'), '1')
        os.write(parent, b'info trace-events demo_two\r')
        until(b'demo_two : state 1')
        until(PROMPT)
        os.write(parent, b'quit\r')
        self.assertEqual(ctl.wait(LIMIT), 0)


if __name__ == '__main__':
    signal.alarm(300)
    cases.main()
