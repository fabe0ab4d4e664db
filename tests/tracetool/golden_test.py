#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What each format makes of golden/demo.events. The golden files are compiled by compile_test.py's
like, under other names; `golden_test.py --update` writes them anew, to be looked at with git diff."""
import os
import sys

from gttest import cases, paths
from gttest.paths import TRACETOOL
from tracetool_case import GOLDEN, TracetoolTest

STAP = ['--probe-prefix=demo']
CASES = {
    'h': ['log,simple'],
    'h-all': ['log,simple,syslog,ftrace,ust,dtrace'],
    'h-nop': ['nop'],
    'c': ['log,simple'],
    'c-all': ['log,simple,syslog,ftrace,ust,dtrace', '--include=demo/common.h'],
    'c-nop': ['nop'],
    'd': ['dtrace', '--provider=demo'],
    'stap': ['dtrace', '--binary=/usr/bin/demo', '--target-type=user', '--target-name=demo'],
    'log-stap': ['dtrace', *STAP],
    'simpletrace-stap': ['dtrace', *STAP],
    'ust-events-h': ['ust', '--provider=demo'],
    'ust-events-c': ['ust'],
    'rs': ['log,dtrace,ust'],
}


class Golden(TracetoolTest):
    def make(self, case):
        name = case.removesuffix('-all').removesuffix('-nop')
        backends, *options = CASES[case]
        out = self.path('out')
        done = self.run_in(TRACETOOL, f'--format={name}', f'--backends={backends}', '--group=demo', *options,
                           'golden/demo.events', out, cwd=paths.source('tracetool'))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))
        return self.read('out').replace(out, 'OUT')

    def test_formats(self):
        for case in CASES:
            path = os.path.join(GOLDEN, case + '.txt')
            text = self.make(case)
            if UPDATE:
                with open(path, 'w', encoding='utf-8') as f:
                    f.write(text)
            with self.subTest(case), open(path, encoding='utf-8') as f:
                self.assertEqual(text, f.read())

    def test_all_have_a_case(self):
        files = {f.removesuffix('.txt') for f in os.listdir(GOLDEN)
                 if f.endswith('.txt')}
        self.assertEqual(files, set(CASES))


UPDATE = '--update' in sys.argv
if UPDATE:
    sys.argv.remove('--update')
cases.main()
