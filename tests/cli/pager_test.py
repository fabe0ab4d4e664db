#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The pager and colours of reading commands, on a terminal; and readers that go away."""
import os
import pty
import signal
import subprocess
import unittest

from gttest import cases
from gttest.paths import GUESTTRACE
from sums_case import SumsTest

RED, GREEN, GRAY = '\x1b[91m', '\x1b[32m', '\x1b[90m'


def setUpModule():
    # A shell starts what it runs in the background with these ignored.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


class Pager(SumsTest):
    def setUp(self):
        super().setUp()
        for name in ('PAGER', 'GUESTTRACE_PAGER', 'LESS', 'NO_COLOR'):
            self.env.pop(name, None)
        self.env['TERM'] = 'xterm'
        self.pager = self.write('bin/pager', '#!/bin/sh\necho "LESS=$LESS"> shown; exec cat >> shown\n')

    def terminal(self, *arguments, status=0, during=None, **env):
        """What appears on a terminal, and on standard error, which is none. during(child) is called meanwhile."""
        master, slave = pty.openpty()
        with subprocess.Popen([GUESTTRACE, *arguments], stdin=subprocess.DEVNULL, stdout=slave, cwd=self.dir,
                              stderr=subprocess.PIPE, env={**self.env, **env}, text=True) as child:
            os.close(slave)
            if during:
                during(child)
            shown = b''
            try:
                while piece := os.read(master, 65536):
                    shown += piece
            except OSError:      # the other end is closed
                pass
            errors = child.communicate(timeout=cases.SECONDS)[1]
        os.close(master)
        self.assertEqual(child.returncode, status, errors)
        return shown.decode().replace('\r\n', '\n'), errors

    def many(self):
        """A recording whose report does not fit a pipe."""
        return self.make('many', ' '.join(f'f{"x" * 50}{i}( )' for i in range(20000)))

    def test_own(self):
        some = self.some()
        shown = self.terminal('report', some, GUESTTRACE_PAGER='pager', PAGER='false')
        self.assertEqual(shown, ('', ''))
        text = self.read('shown')
        self.assertRegex(text, r'^LESS=FRSX\n(# Times .*\n)?  Total time')
        self.assertIn(f'{GREEN}  2.003 ms\x1b[0m', text)

    def test_usual(self):
        self.terminal('info', self.some(), PAGER='pager', LESS='M')
        self.assertTrue(self.read('shown').startswith('LESS=M\nrecording'))

    def test_default(self):
        self.write('bin/less', '#!/bin/sh\nexec cat > shown\n')
        self.assertEqual(self.terminal('graph', '--function', 'main', self.some()), ('', ''))
        self.assertIn(f'{GRAY} +-', self.read('shown'))

    def test_none(self):
        some = self.some()
        plain = self.plain('report', some)
        for options, env in [(['--no-pager'], {'PAGER': 'pager'}), ([], {'GUESTTRACE_PAGER': '', 'PAGER': 'pager'}),
                             ([], {'PAGER': 'cat'}), ([], {'PAGER': ''})]:
            shown, errors = self.terminal('report', '--color', 'never', *options, some, **env)
            self.assertEqual((shown, errors), (plain, ''))
        self.assertFalse(os.path.exists(self.path('shown')))

    def test_no_terminal(self):
        self.plain('report', self.some(), env={'PAGER': 'pager'})
        self.assertFalse(os.path.exists(self.path('shown')))

    def test_colours(self):
        some = self.some()
        for options, env, coloured in [([], {}, True), ([], {'NO_COLOR': '1'}, False), ([], {'NO_COLOR': ''}, True),
                                       ([], {'TERM': 'dumb'}, False), (['--color=never'], {}, False),
                                       (['--color=always'], {'NO_COLOR': '1', 'TERM': 'dumb'}, True)]:
            shown = self.terminal('report', '--no-pager', *options, some, **env)[0]
            self.assertEqual('\x1b[' in shown, coloured, (options, env))
        self.assertNotIn('\x1b[', self.plain('report', some))
        self.assertIn('\x1b[', self.plain('report', '--color=always', some))
        for form in '--csv', '--json':
            self.assertNotIn('\x1b[', self.plain('report', '--color=always', form, some))

    def test_missing(self):
        shown, errors = self.terminal('report', self.some(), status=1, PAGER='no-such-pager -x')
        self.assertEqual(shown, '')
        self.assertIn("guesttrace report: the pager 'no-such-pager -x' cannot be run; set GUESTTRACE_PAGER, or use "
                      '--no-pager\n', errors)

    def test_ends_early(self):
        self.assertEqual(self.terminal('report', self.many(), PAGER='head -n 1 > shown'), ('', ''))
        self.assertEqual(self.read('shown').count('\n'), 1)

    def test_pipe_is_closed(self):
        many = self.many()
        for command in ['report', many], ['report', '--json', many], ['graph', many], ['info', many]:
            with subprocess.Popen([GUESTTRACE, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=self.env, cwd=self.dir) as child:
                child.stdout.close()
                self.assertEqual(child.stderr.read(), b'')
            self.assertEqual(child.returncode, 0)

    def test_full(self):
        with open('/dev/full', 'wb') as full:
            done = self.run_cli('report', self.some(), capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr),
                         (1, 'guesttrace report: standard output: cannot be written: No space left on device\n'))

    def test_interrupt(self):
        """While the pager runs, the terminal's interrupt is its own: we wait for its end."""
        self.write('bin/pager', '#!/bin/sh\nread word < go; exec cat > shown\n', 0o755)
        os.mkfifo(self.path('go'))

        def interrupt(child):
            with open(self.path('go'), 'w', encoding='utf-8') as f:   # the pager runs
                child.send_signal(signal.SIGINT)
                child.send_signal(signal.SIGQUIT)
                f.write('\n')

        self.assertEqual(self.terminal('report', self.some(), PAGER='pager', during=interrupt), ('', ''))
        self.assertIn('Total time', self.read('shown'))

    def test_signals_of_the_pager(self):
        """It has those of a program that a shell starts."""
        self.write('bin/pager', '#!/bin/sh\ngrep SigIgn /proc/self/status > shown; cat > /dev/null\n', 0o755)
        self.terminal('report', self.some(), PAGER='pager')
        ignored = int(self.read('shown').split()[1], 16)
        for number in signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE:
            self.assertFalse(ignored >> (number - 1) & 1, number)


if __name__ == '__main__':
    if not hasattr(os, 'openpty'):
        raise unittest.SkipTest('no terminals')
    cases.main()
