#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The monitor of a traced program (target.c): words, JSON, clients that behave and that do not, and
the socket's name."""
import json
import os
import signal
import socket
import stat
import subprocess

from control import LIMIT, PROMPT, Case
from gttest import cases
from gttest.paths import GUESTTRACE


class Words(Case):
    def test_events(self):
        self.begin()
        c = self.client()
        self.assertEqual(c.hmp('info trace-events demo_t*'), 'demo_two : state 0\n')
        self.assertEqual(c.hmp('trace-event demo_?wo on'), '')
        self.assertEqual(self.tell('state demo_two'), '1')
        self.assertEqual(c.hmp('  info\ttrace-events '), 'demo_one : state 0\ndemo_two : state 1\n'
                         'demo_vcpu : state 0\ndemo_off : state 0\n')
        self.assertEqual(c.hmp('trace-event demo_* on'), '')
        self.assertEqual(c.hmp('trace-event demo_two off'), '')
        self.assertEqual(c.hmp('info trace-events'), 'demo_one : state 1\ndemo_two : state 0\n'
                         'demo_vcpu : state 1\ndemo_off : state 0\n')
        self.assertEqual(c.hmp('trace-event demo_vcpu off 3'), '')
        self.assertEqual(self.tell('state demo_vcpu'), '0')
        self.assertEqual(c.hmp('info trace-events nothing*'), '')

    def test_refused(self):
        self.begin()
        c = self.client()
        for line, message in (
                ('trace-event nosuch on', "unknown event 'nosuch'"),
                ('info trace-events nosuch', "unknown event 'nosuch'"),
                ('trace-event demo_one', 'expected trace-event NAME|PATTERN on|off [vcpu]'),
                ('trace-event demo_one maybe', "unexpected word 'maybe', expected on or off"),
                ('trace-event demo_one on x', "unexpected word 'x', expected the number of a vCPU"),
                ('trace-event demo_one on 1', "event 'demo_one' has no vCPU"),
                ('trace-event demo_vcpu on 1 2', "unexpected word '2', expected nothing"),
                ('trace-file bogus', "unexpected word 'bogus', expected on, off, flush, set or dump"),
                ('trace-file on now', "unexpected word 'now'"),
                ('info', "expected 'info trace-events'"),
                ('info status', "unknown words 'info status', expected 'info trace-events'"),
                ('quit', "unknown command 'quit'"),
                ('trace-file set "/no closing', 'a word has no closing quote'),
                ('a b c d e f g h i', 'more than 8 words')):
            self.assertRegex(c.hmp(line), '^error: ' + message.translate(
                {ord(x): '\\' + x for x in '|[]()*+'}))
        self.assertEqual(self.tell('state demo_one'), '0')

    def test_file(self):
        self.begin()
        c = self.client()
        name = os.path.join(self.dir, 'a trace')
        self.assertEqual(c.hmp(f'trace-file set "{name}"'), '')
        self.assertEqual(c.hmp('trace-file'), f'Trace file "{name}" on.\n')
        c.hmp('trace-event demo_two on')
        self.tell('fire 5')
        self.assertEqual(c.hmp('trace-file flush'), '')
        events = os.path.join(self.dir, 'events')
        with open(events, 'w') as f:
            f.write('demo_two(int a) "a %d"\n')

        def lines():
            return subprocess.run([GUESTTRACE, 'events', 'simpletrace', events, name], check=True, text=True,
                                  capture_output=True, timeout=LIMIT).stdout.count('\n')
        self.assertEqual(lines(), 5)
        self.assertEqual(c.hmp('trace-file off'), '')
        self.assertEqual(c.hmp('trace-file'), f'Trace file "{name}" off.\n')
        self.tell('fire 5')
        c.hmp('trace-file on')
        self.tell('fire 2')
        c.hmp('trace-file flush')
        self.assertEqual(lines(), 7)
        self.assertIn('error: ', c.hmp('trace-file set /nonexistent/file'))


class Json(Case):
    def test_commands(self):
        self.begin()
        c = self.client()
        self.assertEqual(list(c.greeting), ['QMP'])
        self.assertEqual(c.greeting['QMP']['capabilities'], [])
        self.assertEqual(c.qmp('qmp_capabilities'), {'return': {}})
        self.assertEqual(c.qmp('trace-event-set-state', name='demo_two', enable=True), {'return': {}})
        self.assertEqual(self.tell('state demo_two'), '1')
        self.assertEqual(c.qmp('trace-event-get-state', name='demo*'), {'return': [
            {'name': 'demo_one', 'state': 'disabled'}, {'name': 'demo_two', 'state': 'enabled'},
            {'name': 'demo_vcpu', 'state': 'disabled'}, {'name': 'demo_off', 'state': 'unavailable'}]})
        self.assertEqual(c.qmp('trace-event-get-state', name='no*'), {'return': []})
        for name in ('demo_*', 'demo_off'):
            self.assertIn("'demo_off'", c.qmp('trace-event-set-state', name=name,
                                              enable=True)['error']['desc'])
            self.assertEqual(self.tell('state demo_one'), '0')
        self.assertEqual(c.qmp('trace-event-set-state', name='demo_off', enable=True,
                               ignore_unavailable=True), {'return': {}})
        self.assertEqual(c.qmp('trace-event-set-state', name='demo_*', enable=True,
                               ignore_unavailable=True), {'return': {}})
        self.assertEqual(self.tell('state demo_one'), '1')
        self.assertEqual(c.qmp('human-monitor-command', command_line='info trace-events demo_one'),
                         {'return': 'demo_one : state 1\n'})
        self.assertIn({'name': 'trace-event-get-state'}, c.qmp('query-commands')['return'])
        self.assertIn('qemu', c.qmp('query-version')['return'])

    def test_refused(self):
        self.begin()
        c = self.client()
        for text, words in (
                ('{"execute": "quit"}', ('CommandNotFound', '"quit"')),
                ('{"execute": "trace-event-get-state"}', ("'name' is missing",)),
                ('{"execute": "trace-event-get-state", "arguments": {"name": 1}}', ('must be a string',)),
                ('{"execute": "trace-event-get-state", "arguments": {"name": "x", "y": 1}}', ('"y"',)),
                ('{"execute": "trace-event-get-state", "arguments": {"name": "nosuch"}}', ("'nosuch'",)),
                ('{"execute": "trace-event-get-state", "arguments": {"name": "x\\u0000"}}', ('NUL',)),
                ('{"execute": "trace-event-get-state", "arguments": []}', ('object',)),
                ('{"execute": "trace-event-set-state", "arguments": {"name": "demo_one", "enable": 1}}',
                 ('true or false',)),
                ('{"execute": "trace-event-set-state", "arguments": {"name": "demo_one", "name": "x",'
                 ' "enable": true}}', ('twice',)),
                ('{"execute": "query-version", "execute": "x"}', ('twice',)),
                ('{"executed": "x"}', ('"executed"',)), ('{"execute": 5}', ('"execute"',)), ('{}', ('',)),
                ('{"a": ' + '[' * 40 + ']' * 40 + '}', ('levels',)),
                ('{"a": 01}', ('byte 8',)), ('{"a": "\\x"}', ('no such escape',)),
                ('{"a" 1}', ("expected ':'",)), ('{"a": 1,}', ('byte 9',)), ('{"a": tru}', ('byte 7',)),
                ('{"a": "\x01"}', ('control character',)), ('{"a": -}', ('digit',)),
                ('{"execute": "' + 'x' * 60000 + '"}', ('unknown command',))):
            c.send(text.encode() + b'\n')
            answer = c.answer()
            for word in words:
                self.assertIn(word, json.dumps(answer['error']).replace('\\"', '"'), text)
        self.assertEqual(c.qmp('qmp_capabilities'), {'return': {}})

    def test_id(self):
        self.begin()
        c = self.client()
        for ident in (7, 'x', None, [1, {'a': '}'}], {'b': '\\"{'}):
            c.send(json.dumps({'id': ident, 'execute': 'query-version'}).encode())
            self.assertEqual(c.answer()['id'], ident)
            c.send(json.dumps({'execute': 'nosuch', 'id': ident}).encode())
            answer = c.answer()
            self.assertEqual((answer['id'], 'error' in answer), (ident, True))

    def test_spelling(self):
        """Escapes in names, blanks anywhere, several commands in one packet, one byte a packet."""
        self.begin()
        c = self.client()
        text = (b'\r\n {"execute" :\t"trace-event-get-st\\u0061te","arguments":{"name":'
                b'"demo\\u005Fone"}}{"execute":"query-version"}info trace-events demo_one\r\n')
        for data in (text, *[text[i:i + 1] for i in range(len(text))]):
            c.send(data)
        for _ in range(2):
            self.assertEqual(c.answer()['return'], [{'name': 'demo_one', 'state': 'disabled'}])
            self.assertIn('qemu', c.answer()['return'])
            self.assertEqual(c.until(PROMPT), b'demo_one : state 0\n' + PROMPT)


class Clients(Case):
    def test_two(self):
        self.begin()
        a, b = self.client(), self.client()
        a.send(b'{"execute": "trace-event-set-state", "arguments": {"name":')
        self.assertEqual(b.hmp('trace-event demo_one on'), '')
        a.send(b' "demo_two", "enable": true}}')
        self.assertEqual(a.answer(), {'return': {}})
        self.assertEqual(b.hmp('info trace-events demo_t*'), 'demo_two : state 1\n')
        a.close()
        self.assertEqual(b.hmp('info trace-events demo_one'), 'demo_one : state 1\n')

    def test_hangs(self):
        """A client that sends and never reads holds up neither the program nor others."""
        self.begin(events=20000)
        bad = self.client()
        bad.socket.settimeout(0.5)
        sent = 0
        try:
            while sent < 50 << 20:
                sent += bad.socket.send(b'info trace-events\n' * 4096)
        except TimeoutError:
            pass
        self.assertLess(sent, 50 << 20)
        self.assertEqual(self.tell('fire 3'), 'fired')
        good = self.client()
        self.assertEqual(good.hmp('info trace-events').count('\n'), 20004)
        bad.socket.settimeout(LIMIT)
        for _ in range(3): # what it asked for is still whole
            self.assertEqual(bad.until(PROMPT).count(b'\n'), 20004)

    def test_many(self):
        self.begin()
        clients = [self.client() for _ in range(32)]
        with self.assertRaises((json.JSONDecodeError, EOFError)):
            self.client()
        clients.pop().close()
        self.assertEqual(clients[0].hmp('info trace-events demo_one'), 'demo_one : state 0\n')
        self.assertEqual(self.client().hmp('info trace-events demo_one'), 'demo_one : state 0\n')

    def test_long(self):
        self.begin()
        c = self.client()
        for text in (b'x' * 70000, b'{"a": "' + b'x' * 200000 + b'"}', b'{' + b'[' * 66000):
            c.send(text + b'\n')
            got = c.until(PROMPT if text[:1] == b'x' else b'\n')
            self.assertIn(b'a command of more than 65535 bytes', got)
        self.assertEqual(c.hmp('info trace-events demo_one'), 'demo_one : state 0\n')
        c.send(b'info\0x\n')
        self.assertEqual(c.until(PROMPT), b'error: a NUL in a command\n' + PROMPT)

    def test_half_closed(self):
        self.begin()
        c = self.client()
        c.send(b'{"execute": "query-version"} info trace-events demo_one') # no newline
        c.socket.shutdown(socket.SHUT_WR)
        self.assertIn('return', c.answer())
        self.assertEqual(c.until(PROMPT), b'demo_one : state 0\n' + PROMPT)
        self.assertTrue(c.at_end())

    def test_fork(self):
        """A child keeps neither the socket nor its clients, and its end leaves the name alone."""
        self.begin()
        c = self.client()
        child = int(self.tell('fork'))
        self.assertGreater(child, 0)
        self.assertEqual(c.hmp('trace-event demo_one on'), '')
        self.assertEqual(self.tell('stop'), 'stopped')
        self.assertTrue(c.at_end())
        self.assertFalse(os.path.exists(self.monitor))
        os.kill(child, 0)


class Name(Case):
    def socket_mode(self):
        return stat.S_IMODE(os.stat(self.monitor).st_mode)

    def refused(self, message):
        self.assertFalse(self.begin())
        self.assertEqual(self.target.wait(LIMIT), 1)
        self.assertIn(message, self.target.stderr.read())

    def test_mode(self):
        self.begin(umask=0)
        self.assertEqual(self.socket_mode(), 0o600)

    def test_end(self):
        self.begin()
        self.target.communicate(timeout=LIMIT)
        self.assertEqual(self.target.returncode, 0)
        self.assertFalse(os.path.exists(self.monitor))

    def test_again(self):
        self.begin()
        self.assertIn('the monitor is at', self.tell('start ' + self.monitor))
        self.tell('stop')
        self.assertEqual(self.tell('start ' + self.monitor), '0')
        self.assertEqual(self.client().hmp('info trace-events demo_one'), 'demo_one : state 0\n')

    def test_dead(self):
        self.begin()
        self.end(self.target)
        self.assertTrue(os.path.exists(self.monitor))
        self.assertTrue(self.begin(umask=0))
        self.assertEqual(self.socket_mode(), 0o600)
        self.assertEqual(self.client().hmp('info trace-events demo_one'), 'demo_one : state 0\n')
        self.assertEqual(os.listdir(self.dir), ['monitor'])

    def test_live(self):
        self.begin()
        first = self.target
        self.refused('a process listens there already')
        self.target = first
        self.assertEqual(self.client().hmp('trace-event demo_one on'), '')
        self.assertEqual(self.tell('state demo_one'), '1')

    def test_in_the_way(self):
        for make in (lambda: os.mknod(self.monitor), lambda: os.mkfifo(self.monitor),
                     lambda: os.mkdir(self.monitor), lambda: os.symlink('nowhere', self.monitor)):
            make()
            before = os.lstat(self.monitor)
            self.refused('exists, and is not a socket')
            self.assertTrue(os.path.samestat(before, os.lstat(self.monitor)))
            os.rmdir(self.monitor) if stat.S_ISDIR(before.st_mode) else os.unlink(self.monitor)

    def test_impossible(self):
        self.monitor = '/nonexistent/monitor'
        self.refused('No such file or directory')
        self.monitor = os.path.join(self.dir, 'x' * 120)
        self.refused('the name of a socket has 1 to 107 bytes')

    def test_taken_over(self):
        """A name that another program has by now is not removed."""
        self.begin()
        os.unlink(self.monitor)
        with open(self.monitor, 'w'):
            pass
        self.tell('stop')
        self.assertTrue(os.path.exists(self.monitor))

    def test_relative(self):
        self.begin(path='monitor')
        self.assertEqual(self.client().hmp('info trace-events demo_one'), 'demo_one : state 0\n')
        self.tell('stop')
        self.assertFalse(os.path.exists(self.monitor))


if __name__ == '__main__':
    signal.alarm(300)
    cases.main()
