#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines that make no sense, help, the manual page and the completions."""
import os
import re
import shlex
import subprocess

from cli_case import CliTest
from gttest import cases, etrace_write as es
from gttest.cases import need
from gttest.paths import GUESTTRACE, ROOT

COMMANDS = ('record', 'symbols', 'coverage', 'repair', 'dump', 'convert', 'completion', 'help')


CALLED = {'convert': 'etrace export', 'coverage': 'etrace coverage', 'events': 'events list',
          'simpletrace': 'events simpletrace'}  # names of earlier releases


class Usage(CliTest):
    def expect_usage(self, text, *arguments):
        done = self.expect(2, *arguments)
        self.assertEqual(done.stderr.split('\n')[0], text)
        self.assertEqual(done.stdout, '')
        self.assertFalse(os.path.exists(self.log), 'QEMU was started')

    def test_unknown(self):
        self.expect_usage("guesttrace: unknown command 'recrod'; near to it: record", 'recrod')
        self.expect_usage("guesttrace: unknown command 'zzz'", 'zzz')
        self.expect_usage("guesttrace help: unknown command 'graf'; near to it: graph", 'help', 'graf')
        self.expect_usage("guesttrace: unknown option '--foo'", '--foo')
        self.expect_usage("guesttrace record: unknown option '--foo'", 'record', '--foo')
        self.expect_usage("guesttrace record: unknown option '--foo'", 'record', '--foo=bar', 'x')
        self.expect_usage("guesttrace record: unknown option '-z' in '-qz'", 'record', '-qz')

    def test_letters(self):
        """A letter has one long name, in all commands."""
        names = {}
        for command in self.commands():
            text = self.expect(0, *command, '--help', 'all').stdout
            for tool in ('etrace', 'execlog', 'events') if command == ['record'] else ():
                text += self.expect(0, 'record', '--tool', tool, '--help', 'all').stdout
            for letter, name in re.findall(r'^  -(\w), --([\w-]+)', text, re.M):
                names.setdefault(letter, set()).add(name)
        self.assertGreater(len(names), 20)
        several = {letter: some for letter, some in names.items() if len(some) > 1 and letter not in 'hof'}
        self.assertEqual(several, {})

    def commands(self):
        found = re.findall(r'^  ((?:etrace |execlog |events )?[\w-]+) ', self.expect(0, 'help').stdout, re.M)
        return [word.split() for word in found]

    def test_families(self):
        for family, verbs in {'etrace': {'coverage': 'coverage', 'dump': 'dump', 'export': 'convert'},
                              'execlog': {'dump': 'dump', 'diff': 'diff'},
                              'events': {'list': 'events', 'simpletrace': 'simpletrace'}}.items():
            for verb, command in verbs.items():
                text = self.expect(0, family, verb, '--help').stdout
                if command != family:
                    self.assertEqual(self.expect(0, command, '--help').stdout, text)
                self.assertEqual(self.expect(0, 'help', family, verb).stdout, text)
            text = self.expect(0, family, '--help').stdout
            self.assertTrue(text.startswith(f'usage: guesttrace {family} VERB '), text)
            self.assertEqual(self.expect(0, 'help', family).stdout, text)
        self.assertIn('unknown verb', self.expect(2, 'etrace', 'dumb').stderr)
        self.assertIn('etrace coverage', self.expect(2, 'etrace').stderr)
        self.assertIn('etrace coverage', self.expect(0, 'help', 'etrace').stdout)

    def test_old_spellings(self):
        os.mkdir(self.path('folder'))
        for used, now, command in [('--min-time', '-t, --time-filter', ['report', '--min-time', '1ms', 'none']),
                                   ('-n', '-l, --limit', ['report', '-n', '3', 'none']),
                                   ('-R', '--callers', ['graph', '-R', '--function', 'f', 'none']),
                                   ('-L', '--sysroot', ['symbols', '-L', 'folder', '-d', 'none']),
                                   ('-d', '--dir', ['symbols', '-d', 'none', 'none']),
                                   ('-e', '--match', ['events', '-e', 'f*', 'none']),
                                   ('-L', '--sysroot', ['record', '-L', 'folder', 'none']),
                                   ('-L', '--sysroot', ['record', '--tool', 'etrace', f'-L{self.path("folder")}', 'none'])]:
            said = self.run_cli(*command).stderr.split('\n')
            self.assertIn(f'guesttrace {CALLED.get(command[0], command[0])}: {used} is {now} now; it goes on until the next release', said)
            self.assertFalse([line for line in said if 'unknown option' in line], said)
        self.assertNotIn(' now;', self.run_cli('record', '-L', 'file.c', 'none').stderr)

    def test_old_commands(self):
        """They go on, with one line on standard error; their messages have the new name."""
        stream = self.write('t.etrace', es.start())
        cases_of = (('convert', [stream], 0), ('convert', ['none'], 1), ('coverage', ['-e', f'{GUESTTRACE}:0', stream], 0),
                    ('coverage', ['-e', 'none', stream], 1), ('coverage', ['--none'], 2), ('simpletrace', ['none', 'none'], 1),
                    ('events', ['none'], 1))
        for old, arguments, status in cases_of:
            now = CALLED[old].split()
            new = self.expect(status, *now, *arguments)
            done = self.expect(status, old, *arguments)
            notice = f"guesttrace: {old} is '{CALLED[old]}' now; it goes on until the next release\n"
            self.assertEqual((done.stdout, done.stderr), (new.stdout, notice + new.stderr))
            self.assertNotIn(notice, new.stderr)
            self.assertNotIn(f'guesttrace {old}:', new.stderr)
        self.assertNotIn(' now;', self.expect(1, 'dump', 'none').stderr)

    def test_no_abbreviation(self):
        self.expect_usage("guesttrace record: unknown option '--out'", 'record', '--out', 'd', 'x')

    def test_values(self):
        self.expect_usage("guesttrace record: option '--depth' needs a value (N)",
                          'record', '--depth')
        self.expect_usage("guesttrace record: option '-o' needs a value (PATH)", 'record', '-o')
        self.expect_usage("guesttrace record: option '--quiet' takes no value ('1')",
                          'record', '--quiet=1', 'x')
        self.expect_usage("guesttrace record: option '--clock' takes one of insn|host|auto,"
                          " not 'sun'", 'record', '--clock=sun', 'x')
        for bad in ('', 'x', '1x', ' 1', '+1', '0x', '0x0x1'):
            self.expect_usage(f"guesttrace record: option '--depth' takes a number, not '{bad}'",
                              'record', '--depth', bad, 'x')
        for bad in ('0', '1048577'):
            self.expect_usage("guesttrace record: option '--depth' takes a number from 1 to"
                              f" 1048576, not {bad}", 'record', '--depth', bad, 'x')

    def test_operands(self):
        self.expect_usage('guesttrace record: needs a program, or a QEMU and its arguments',
                          'record')
        self.expect_usage('guesttrace symbols: needs a file with symbols, or --sysroot', 'symbols')
        self.expect_usage('guesttrace repair: needs a recording', 'repair')
        self.expect_usage("guesttrace help: unknown command 'x'", 'help', 'x')
        self.expect_usage("guesttrace help: unexpected 'symbols'", 'help', 'record', 'symbols')
        self.expect_usage("guesttrace completion: unknown shell 'csh' (bash, zsh or fish)",
                          'completion', 'csh')

    def test_options_that_do_not_fit(self):
        program = self.program()
        self.expect_usage('guesttrace record: --symbols is for machines (qemu-system-*): a'
                          " program's own symbols are found without it",
                          'record', '--symbols', 'x', program)
        self.expect_usage('guesttrace record: --sysroot is for a program or a machine; give'
                          ' qemu-x86_64 its own -L', 'record', '--sysroot', '/', '--', 'qemu-x86_64', 'x')
        self.expect_usage("guesttrace help: 'record' has no tool 'x'", 'help', 'record', '--tool', 'x')
        for words, why in ((['--flags', 'mem'], "'--flags' is for --tool etrace, not uftrace"),
                           (['--wait', '1'], "'--wait' is for --tool etrace or execlog, not uftrace"),
                           (['--clock', 'insn', '--tool', 'execlog'],
                            "'--clock' is for --tool uftrace or etrace, not execlog")):
            self.expect_usage(f'guesttrace record: option {why}', 'record', *words, program)

    def test_no_command(self):
        done = self.expect(2)
        self.assertIn('usage: guesttrace COMMAND', done.stderr)


class Help(CliTest):
    def test_overview(self):
        for words in (['--help'], ['-h'], ['help']):
            out = self.expect(0, *words).stdout
            for command in COMMANDS:
                alone = {'coverage': 'etrace coverage', 'dump': 'execlog dump', 'convert': 'etrace export'}
                self.assertRegex(out, rf'\n  {alone.get(command, command)} +\w')

    def test_version(self):
        for word in '--version', '-V', 'version':
            self.assertRegex(self.expect(0, word).stdout, r'^guesttrace \d+\.\d+')

    def test_each_command(self):
        for command in COMMANDS:
            out = self.expect(0, 'help', command).stdout
            self.assertTrue(out.startswith(f'usage: guesttrace {CALLED.get(command, command)}'), out)
            self.assertEqual(out, self.expect(0, command, '--help').stdout)
            self.assertEqual(out, self.expect(0, command, '-h').stdout)
            self.assertLessEqual(max(map(len, out.split('\n'))), 80)

    def test_each_tool(self):
        """Options that all tools share, and those of one: each of its own stands there."""
        shared, own = ('--output', '--plugin', '--quiet'), {'uftrace': '--depth', 'etrace': '--flags',
                                                            'execlog': '--ifilter'}
        for tool, option in own.items():
            for words in [], ['all']:
                out = self.expect(0, 'help', 'record', '--tool', tool, *words).stdout
                self.assertEqual(out, self.expect(0, 'record', '--tool', tool, '--help', *words).stdout)
            for name in (*shared, option):
                self.assertIn(f'{name} ', out)
            for other in set(own.values()) - {option}:
                self.assertNotIn(f'{other} ', out)
        self.assertEqual(self.expect(0, 'help', 'record').stdout,
                         self.expect(0, 'help', 'record', '--tool', 'uftrace').stdout)
        page = self.expect(0, 'help', '--man').stdout
        for option in own.values():
            self.assertIn(f'Fl Fl {option[2:]}', page)

    def test_help_after_program_is_the_programs(self):
        self.expect(5, 'record', self.program(), '--help', do='exit=5')
        self.assertEqual(self.started()[0][-1], '--help')

    def test_full_disk_is_no_success(self):
        with open('/dev/full', 'w', encoding='ascii') as full:
            done = subprocess.run([GUESTTRACE, 'help'], stdout=full, text=True,
                                  stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('No space left', done.stderr)

    def test_manual_page(self):
        need('mandoc')
        page = self.write('guesttrace.1', self.expect(0, 'help', '--man').stdout.encode())
        lint = subprocess.run(['mandoc', '-T', 'lint', page], capture_output=True, text=True,
                              check=False)
        # Whether uftrace's own page is installed here is no fault of ours.
        faults = [line for line in (lint.stdout + lint.stderr).split('\n')
                  if line and 'referenced manual' not in line and 'mandoc.db' not in line]
        self.assertEqual(faults, [])
        shown = subprocess.run(['mandoc', '-T', 'ascii', '-O', 'width=300', page],
                               capture_output=True, text=True, check=True).stdout
        plain = re.sub('.\b', '', shown)
        for option in ('--privilege-levels', '--sysroot DIR', '--clock insn|host|auto',
                       '--prefix-symbols', 'GUESTTRACE_PLUGIN_DIR'):
            self.assertIn(option, plain)


    def commands(self):
        """The words of help, without families: as commands that stand alone are named."""
        alone = {now: name for name, now in CALLED.items()}
        found = re.findall(r'^  ((?:etrace |execlog |events )?[\w-]+) ', self.expect(0, 'help').stdout, re.M)
        return sorted({alone.get(words, words.split()[-1]) for words in found} - {'setup-qemu'})

    def test_manual_pages_of_commands(self):
        """One for each command, without faults, with its options; the build installs them all."""
        need('mandoc')
        with open(ROOT + '/src/cli/texts/meson.build', encoding='utf-8') as f:
            built = set(re.findall(r"'([a-z]+)'[,\]]", f.read().partition('foreach name')[2].partition(']')[0] + ']'))
        self.assertEqual(built, set(self.commands()))
        for name in self.commands():
            page = self.write(f'guesttrace-{name}.1', self.expect(0, 'help', '--man', name).stdout.encode())
            lint = subprocess.run(['mandoc', '-T', 'lint', page], capture_output=True, text=True, check=False)
            faults = [line for line in (lint.stdout + lint.stderr).split('\n')
                      if line and 'referenced manual' not in line and 'mandoc.db' not in line]
            self.assertEqual(faults, [])
            shown = subprocess.run(['mandoc', '-T', 'ascii', page], capture_output=True, text=True, check=True).stdout
            self.assertIn(f'guesttrace {CALLED.get(name, name)}', re.sub('.\b', '', shown))


class Screens(CliTest):
    """The first screen of a command's help, and all of it."""
    FIRST = 12

    def rows(self, text):
        return re.findall(r'^  (?:-\w, |    )--([\w-]+)', text, re.M)

    def sections(self, text):
        """{heading: rows}"""
        found = re.findall(r'^([A-Z][^\n]*):\n((?:  [^\n]*\n)+)', text, re.M)
        self.assertEqual(len(found), len(dict(found)), 'a heading stands twice')
        return {heading: self.rows(part) for heading, part in found}

    def forms(self):
        """(words, the name in other texts)"""
        overview = self.expect(0, 'help').stdout
        for words in re.findall(r'^  ((?:etrace |execlog |events )?[\w-]+) ', overview, re.M):
            names = {now: name for name, now in CALLED.items()}
            name = names.get(words, words.split()[-1])
            for tool in ('uftrace', 'etrace', 'execlog', 'events') if name == 'record' else (None,):
                yield words.split() + (['--tool', tool] if tool else []), name

    def test_first_is_short(self):
        long = set()
        for words, name in self.forms():
            first, whole = (self.expect(0, *words, '--help', *more).stdout for more in ([], ['all']))
            some, every = self.rows(first), self.rows(whole)
            self.assertLessEqual(len(some), self.FIRST, words)
            if len(every) <= self.FIRST:
                self.assertEqual(first, whole, words)
                continue
            long.add(name)
            self.assertLess(set(some), set(every), words)
            self.assertEqual([row for row in some if row not in every], [], words)
            tool = f' --tool {words[2]}' if len(words) > 2 else ''
            self.assertEqual(first.rstrip('\n').rpartition('\n')[2],
                             f'For all {len(every)} options: guesttrace help {CALLED.get(name, name)}{tool} all')
            self.assertEqual(self.expect(0, 'help', name, *words[1:], 'all').stdout, whole)
            self.assertNotIn('For all ', whole)
        self.assertLessEqual({'record', 'report', 'graph', 'replay', 'export'}, long)

    def test_all_is_all(self):
        """The options of the completion and of the manual page, each under one heading."""
        script = self.expect(0, 'completion', 'bash').stdout
        shown, of = {}, {}
        for words, name in self.forms():
            whole = self.expect(0, *words, '--help', 'all').stdout
            sections = self.sections(whole)
            rows = [row for part in sections.values() for row in part]
            self.assertEqual(sorted(rows), sorted(self.rows(whole)), words)
            self.assertEqual(len(rows), len(set(rows)), words)
            if len(rows) > self.FIRST:
                self.assertGreater(len(sections), 3, words)
                self.assertNotIn('Options', sections)
            shown.setdefault(name, set()).update(rows)
            of[name] = re.search(rf"^    {name}:-\*\)\n.*?-W '([^']*)'", script, re.M | re.S).group(1)
        for name, rows in shown.items():
            self.assertEqual(rows, {word[2:] for word in of[name].split()}, name)
            page = self.expect(0, 'help', '--man', name).stdout
            self.assertEqual(rows - {'help'}, set(re.findall(r'^\.It (?:Fl \w , )?Fl Fl ([\w-]+)', page, re.M)), name)


class Completion(CliTest):
    def script(self, shell):
        return self.write('script', self.expect(0, 'completion', shell).stdout.encode())

    def complete_bash(self, *words):
        script = self.script('bash')
        line = f'. {shlex.quote(script)}; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _guesttrace;' \
               ' printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(['bash', '-c', line, 'bash', 'guesttrace', *words], cwd=self.dir,
                              capture_output=True, text=True, check=True)
        return done.stdout.split()

    def test_bash(self):
        subprocess.run(['bash', '-n', self.script('bash')], check=True)
        self.assertEqual(self.complete_bash('re'), ['record', 'report', 'replay', 'repair'])
        self.assertEqual(self.complete_bash('record', '--cl'), ['--clock'])
        self.assertEqual(self.complete_bash('record', '--clock', ''), ['insn', 'host', 'auto'])
        self.assertEqual(self.complete_bash('record', '--ifil'), ['--ifilter'])
        self.assertEqual(self.complete_bash('completion', 'z'), ['zsh'])
        self.assertEqual(self.complete_bash('help', 'sy'), ['symbols'])
        self.assertEqual(self.complete_bash('repair', 'plu'), ['plugins'])
        self.assertEqual(self.complete_bash('e'), ['export', 'etrace', 'execlog', 'events'])
        for old in CALLED:
            self.assertNotIn(old, set(self.complete_bash('')) - {'events'})
        for words, want in self.FAMILIES.items():
            self.assertEqual(sorted(set(self.complete_bash(*words.split(' '))) - {'--help'}), want, words)

    # What completes the last word.
    FAMILIES = {'etrace ': ['coverage', 'dump', 'export'], 'execlog ': ['diff', 'dump'], 'events ': ['list', 'simpletrace'],
                'events list --mat': ['--match'], 'etrace export --fo': ['--format'],
                'etrace export -f ': ['chrome', 'folded', 'vcd'], 'execlog diff --con': ['--context']}

    # Says what completes, in place of the functions of zsh that offer it.
    ZSH = '''
        _describe() { print -rl -- ${commands%%:*} }
        _arguments() { print -rl -- "$@" }
        words=("$@") CURRENT=$#
        . $script
    '''

    def test_zsh(self):
        need('zsh')
        script = self.script('zsh')
        subprocess.run(['zsh', '-n', script], check=True)
        for words, want in self.FAMILIES.items():
            done = subprocess.run(['zsh', '-f', '-c', f'script={script}; {self.ZSH}', 'zsh', 'guesttrace', *words.split(' ')],
                                  capture_output=True, text=True, check=True)
            if len(words.split(' ')) == 2:
                self.assertEqual(sorted(done.stdout.split()), want, words)
                continue
            for word in want if want[0].startswith('-') else ['(chrome folded vcd)', '--format']:
                self.assertIn(word, done.stdout, words)

    def test_fish(self):
        need('fish')
        script = self.script('fish')
        subprocess.run(['fish', '-n', script], check=True)
        for words, want in {'record --clock ': ['auto', 'host', 'insn'], **self.FAMILIES}.items():
            done = subprocess.run(['fish', '-c', f'source {shlex.quote(script)}; complete -C "guesttrace {words}"'], cwd=self.dir,
                                  capture_output=True, text=True, check=True, env=self.env)
            self.assertEqual(sorted(line.split()[0] for line in done.stdout.strip().split('\n')), want, words)


cases.main()
