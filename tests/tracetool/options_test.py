#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines: those of QEMU's tool, prefixes of options, our own options, and what is refused."""
import os
import re
import subprocess

from gttest import cases
from tracetool_case import TracetoolTest

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'src', 'events', 'tracetool', 'tracetool.1.in')
BACKENDS = 'nop, dtrace, ftrace, log, simple, syslog, ust'


class Options(TracetoolTest):
    def setUp(self):
        super().setUp()
        self.write('e', 'ev(int a) "a %d"\n')

    def expect(self, *words, out='out'):
        done = self.tracetool(*words, 'e', out)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))
        return self.read(out)

    def refuse(self, text, *words):
        done = self.tracetool(*words)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, '', f"tracetool: {text}\nTry 'tracetool --help'.\n"))
        self.assertEqual(os.listdir(self.dir), ['e'])

    def test_prefixes(self):
        text = self.expect('--format=h', '--backends=log', '--group=g')
        for words in (['--f=h', '--ba=log', '--gr=g'], ['--format', 'h', '--back', 'log', '--g', 'g'],
                      ['--backend=log', '--gro=g', '--fo', 'h']):
            self.assertEqual(self.expect(*words), text)
        # short for QEMU's --probe-prefix, also where ours has the same beginning
        self.assertIn('probe p.ev ', self.expect('--format=stap', '--backends=dtrace', '--group=g',
                                                 '--binary=b', '--p=p'))
        self.assertIn('provider mine {', self.expect('--format=d', '--backends=dtrace', '--group=g',
                                                     '--prov=mine'))

    def test_refused_options(self):
        self.refuse("unknown option '--frmat'", '--frmat=h')
        self.refuse("unknown option '-f'", '-f', 'h')
        self.refuse("ambiguous option '--b'", '--b=log')
        self.refuse("ambiguous option '--target'", '--target=x')
        self.refuse("ambiguous option '--'", '--=x')
        self.refuse("option '--format' needs a value: NAME", '--format')
        self.refuse("option '--help' takes no value", '--help=x')

    def test_what_is_needed(self):
        good = ['--format=h', '--backends=log', '--group=g']
        self.refuse('no backends: --backends=NAME,...', '--format=h', '--group=g', 'e', 'out')
        self.refuse('no format: --format=NAME', '--backends=log', '--group=g', 'e', 'out')
        self.refuse('no group: --group=NAME', '--format=h', '--backends=log', 'e', 'out')
        self.refuse("unknown backend 'lag'", '--backends=log,lag')
        self.refuse("unknown backend ''", '--backends=log,')
        self.refuse('no backends: --backends=NAME,...', '--backends=')
        self.refuse("unknown format 'hh'", '--format=hh', '--backends=log')
        self.refuse('expected events files and an output file', *good)
        self.refuse('expected events files and an output file', *good, 'e')
        self.refuse("provider '1x' is not a C name", *good, '--provider=1x', 'e', 'out')
        self.refuse("group 'a\"b' cannot be in a name of C", '--format=h', '--backends=log',
                    '--group=a"b', 'e', 'out')
        for bad in ('4.0', '11.0', 'x', '5x'):
            self.refuse(f"unknown grammar '{bad}', expected a version of QEMU from 5.0 to 10.2, or"
                        ' any', *good, f'--grammar={bad}', 'e', 'out')

    def test_stap(self):
        words = ['--backends=dtrace', '--group=g']
        self.refuse('format stap needs --binary', '--format=stap', *words, 'e', 'out')
        for name in ('stap', 'log-stap', 'simpletrace-stap'):
            for more in ([], ['--target-type=t'], ['--target-name=n']):
                self.refuse(f'format {name} needs --probe-prefix, or --target-type and --target-name',
                            f'--format={name}', *words, '--binary=b', *more, 'e', 'out')
            text = self.expect(f'--format={name}', *words, '--binary=b', '--target-type=t',
                               '--target-name=n')
            self.assertIn('qemu.t.n.', text)
            os.remove(self.path('out'))

    def test_backends(self):
        done = self.tracetool('--list-backends')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, BACKENDS + '\n', ''))
        for names, status in ((BACKENDS.replace(' ', ''), 0), ('log', 0), ('log,none', 1), (',', 1)):
            done = self.tracetool('--check-backends', f'--backends={names}')
            self.assertEqual((done.returncode, done.stdout, done.stderr), (status, '', ''))
        self.refuse('no backends: --backends=NAME,...', '--check-backends')

    def test_help(self):
        done = self.tracetool('--help')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        for word in BACKENDS.split(', ') + ['simpletrace-stap', '--grammar', '--target-type']:
            self.assertIn(word, done.stdout)

    def test_manual_page(self):
        """Well-formed, and it explains all that --help names."""
        cases.need('mandoc')
        with open(PAGE, encoding='ascii') as f:
            page = f.read().replace('@DATE@', 'January 1, 2026')  # the build fills it in
        lint = subprocess.run(['mandoc', '-T', 'lint'], input=page, capture_output=True, text=True,
                              check=False)
        self.assertEqual([line for line in (lint.stdout + lint.stderr).splitlines()
                          if 'referenced manual' not in line and 'mandoc.db' not in line], [])
        with open(PAGE, encoding='ascii') as f:
            items = ' '.join(line for line in f if line.startswith('.It '))
        named = re.findall('^  (?:--)?([a-z-]+)', self.tracetool('--help').stdout, re.MULTILINE)
        self.assertGreater(len(named), 30)
        for word in named:
            self.assertRegex(items, rf' {word}[ \n]')

    def test_names(self):
        text = self.expect('--format=c', '--backends=log', '--group=My-group', '--header=x/my.h',
                           '--include=a.h', '--include=b/c.h')
        self.assertIn('#include "a.h"\n#include "b/c.h"\n', text)
        self.assertIn('#include "x/my.h"\n', text)
        self.assertIn('my_group_trace_group =\n    GT_TRACE_GROUP("My-group"', text)
        self.assertIn('#include "trace-hw_net.h"\n',
                      self.expect('--format=c', '--backends=log', '--group=hw_net'))
        text = self.expect('--format=h', '--backends=ust', '--group=x', '--ust-header=u/u.h',
                           '--runtime-header=other/events.h', '--provider=mine')
        self.assertIn('#include <other/events.h>\n', text)
        self.assertIn('#include "u/u.h"\n', text)
        self.assertIn('tracepoint(mine, ev, a)', text)

    def test_odd_paths(self):
        self.write('e', 'ev(int a) "a %d"\n')
        self.write('a "b\\c', 'x(int a) "a"\n')
        done = self.tracetool('--format=c', '--backends=log', '--group=g', '--', 'a "b\\c', 'o"t')
        self.assertEqual(done.returncode, 0)
        self.assertIn('#line 1 "a \\"b\\\\c"\n', self.read('o"t'))
        self.assertIn('"o\\"t"\n', self.read('o"t'))

    def test_no_backend_twice(self):
        self.assertEqual(self.expect('--format=c', '--backends=log,log', '--group=g'),
                         self.expect('--format=c', '--backends=log', '--group=g'))

    def test_files_in_order(self):
        self.write('f', 'second(void)\n')
        self.tracetool('--format=d', '--backends=dtrace', '--group=g', 'e', 'f', 'out')
        self.assertRegex(self.read('out'), r'(?s)probe ev\(.*probe second\(')


cases.main()
