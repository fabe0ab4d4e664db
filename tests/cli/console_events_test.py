#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Guest events at texts of a machine's console: what `record` sends to the plugin, and when; errors."""
import os

from cli_case import CliTest
from gttest import cases

QEMU = 'qemu-system-x86_64'
EVENTS = r'''
at=console "login:" login(void) ""
at=console "panic - \"(.*)\"" panic(const char *s) "%s"
at=console"^up$" up(void) ""
at=console "\bon\b" word(void) ""
disable at=console "login" never(void) ""
start(void) ""
'''


def out(text):
    return 'out=' + text.encode().hex()


class ConsoleEvents(CliTest):
    def setUp(self):
        super().setUp()
        self.fake(QEMU)
        self.write('plugins/libevents.so', b'')

    def record(self, do, *options, status=0, events=EVENTS, qemu=('-nographic',)):
        self.write('events', events.encode())
        return self.expect(status, 'record', '-q', '--guest-events', 'events', '-o', 'trace', *options, '--', QEMU, *qemu,
                           do=do)

    def heard(self, *steps, events=EVENTS):
        """The messages that came of the steps."""
        done = self.record(' '.join(('listen', *steps)), events=events)
        self.assertEqual(done.stderr, '')
        self.assertFalse(os.path.exists(self.path('trace.console')), 'the FIFO is left')
        return self.read('trace.console.heard').splitlines()

    def refused(self, line, error, status=125, **more):
        done = self.record('', events=f'start(void) ""\n{line}\n', status=status, **more)
        self.assertIn(error, done.stderr)
        self.assertFalse(os.path.exists(self.path('trace.console')), 'the FIFO is left')


class Times(ConsoleEvents):
    def test_prompt(self):
        """At a text without an end of line at once, once a line."""
        got = self.heard(out('host log'), out('in: '), 'heard=1', out('me\nlogin: again, login:\n'), 'heard=1',
                         out('login:'), 'heard=1')
        self.assertEqual(got, ['event login'] * 3)

    def test_line(self):
        """With an argument at the end of the line, which it gets without control characters."""
        got = self.heard(out('kernel \x1b[31mpanic - "not'), out(' syncing"'), out(' @ 7\r\n'), 'heard=1')
        self.assertEqual(got, ['event panic kernel panic - "not syncing" @ 7'])

    def test_what_follows(self):
        """An expression that depends on it waits for the end."""
        got = self.heard(out('up'), 'taken', out('time\nup\n'), 'heard=1', out('one o'), 'taken', out('nly\n'),
                         out('it is on\n'), 'heard=1')
        self.assertEqual(got, ['event up', 'event word'])

    def test_last_line(self):
        """Without a newline it ends with the output; the plugin is gone by then."""
        done = self.record('listen ' + out('panic - "x"') + ' taken')
        self.assertIn('1 events at texts of the console are missing: the recording had ended', done.stderr)

    def test_long_line(self):
        got = self.heard(out('panic - "' + 'x' * 3000 + '"\n'), out('panic - "y"' + 'z' * 2000 + '\n'), 'heard=1')
        self.assertEqual(got, ['event panic panic - "y"' + 'z' * 489])

    def test_blank_line(self):
        """An end of line is one, where nothing is left of the line as well."""
        got = self.heard(out('  '), 'heard=1', out('\n'), 'taken', out('  '), 'heard=1', events='at=console " +" blank(void) ""\n')
        self.assertEqual(got, ['event blank'] * 2)


class Losses(ConsoleEvents):
    def test_plugin_is_behind(self):
        done = self.record('listen ' + out('login:\n' * 8000) + ' taken')
        self.assertRegex(done.stderr, r'^guesttrace record: \d+ events at texts of the console are missing: too many')
        self.assertEqual(done.stdout, 'login:\n' * 8000)

    def test_nobody_listens(self):
        done = self.record(out('login:\n'))
        self.assertIn('1 events at texts of the console are missing', done.stderr)


class Errors(ConsoleEvents):
    def test_places(self):
        for line, error in (('at=console two(void)', 'expected a regular expression in quotes'),
                            ('at=console "" two(void)', 'expected a regular expression in quotes'),
                            ('at=console "(" two(void)', "at=console \"(\": ")):
            self.refused(line, "events:2: event 'two', at=console", status=2)
            self.refused(line, error, status=2)
        self.refused('vcpu at=console "x" two(void)', 'which vCPU', status=2)
        for arguments in ('int a', 'void *a', 'const char *a, int b'):
            self.refused(f'at=console "x" two({arguments})', 'expected no argument, or one that gets the line', status=2)

    def test_not_seen(self):
        for words in (('-display', 'none'), ('-serial', 'null', '-nographic'), ('-nographic', '-daemonize')):
            self.refused('at=console "x" two(void)', "the machine's console is not seen here", qemu=words)
        self.write('events', b'\nat=console "x" two(void)\n')
        done = self.expect(125, 'record', '--guest-events', 'events', '-o', 'trace', self.program())
        self.assertIn('events:2: event \'two\', at=console "x": a program has no console', done.stderr)

    def test_name_is_taken(self):
        self.write('trace.console', b'mine')
        done = self.record('', status=125)
        self.assertIn('trace.console exists and is not a FIFO', done.stderr)
        self.assertEqual(self.read('trace.console'), 'mine')

    def test_left_of_a_run_that_was_killed(self):
        os.mkfifo(self.path('trace.console'))
        self.assertEqual(self.heard(out('login:'), 'heard=1'), ['event login'])

    def test_none(self):
        """A file without such events leaves the console to QEMU."""
        self.record(out('x'), events='start(void) ""\n')
        words, _ = self.started()
        self.assertNotIn('console=', words[words.index('-plugin') + 1])



cases.main()
