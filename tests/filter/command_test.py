#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters of the commands that read recordings: the same calls in each of them, and what they refuse."""
import csv
import io

from gttest import cases, uftrace_write
from gttest.paths import GUESTTRACE
from gttest.uftrace import ENTRY, EXIT

MAIN, WORK, STEP, READ = 0, 16, 32, 48
NAMES = {MAIN: 'main', WORK: 'work', STEP: 'step', READ: 'read'}
FIRST = uftrace_write.records(
    (100, ENTRY, 0, MAIN), (200, ENTRY, 1, WORK), (210, ENTRY, 2, STEP), (220, ENTRY, 3, READ), (250, EXIT, 3, READ),
    (260, EXIT, 2, STEP), (300, ENTRY, 2, READ), (310, EXIT, 2, READ), (400, EXIT, 1, WORK), (410, ENTRY, 1, STEP),
    (420, EXIT, 1, STEP), (500, EXIT, 0, MAIN))
SECOND = uftrace_write.records((150, ENTRY, 0, WORK), (215, ENTRY, 1, READ), (350, EXIT, 1, READ), (450, EXIT, 0, WORK))


class Filters(cases.ScratchCase):
    def setUp(self):
        super().setUp()
        uftrace_write.directory(self.path('some'), {7: FIRST, 8: SECOND}, NAMES)

    def guesttrace(self, command, *words, status=0):
        return self.must(GUESTTRACE, command, *words, 'some', status=status)

    def tree(self, *words):
        return self.guesttrace('replay', '-f', 'none', *words).stdout.splitlines()

    def flat(self, *words):
        """[time of each entry and exit, its kind, its name], one text each."""
        lines = self.guesttrace('replay', '--flat', *words).stdout.splitlines()[1:]
        return [f'{int(line.split()[0].replace(".", ""))} {line.split()[3]} {line.split()[5]}' for line in lines]

    def test_options(self):
        self.assertEqual(self.tree('-F', 'step'), ['step() {', '  read();', '} /* step */', 'step();'])
        self.assertEqual(self.tree('-N', 'work'), ['main() {', '  step();', '} /* main */'])
        self.assertEqual(self.tree('-N', 'read', '-H', 'work'),
                         ['main() {', '  step();', '  step();', '} /* main */'])
        self.assertEqual(self.tree('-C', '^re', '--task', '7', '-N', 'step'),
                         ['main() {', '  work() {', '    read();', '  } /* work */', '} /* main */'])
        self.assertEqual(self.tree('-F', 'work', '-D', '1'), ['work() {', 'work();', '} /* work */'])
        self.assertEqual(self.tree('-F', 'work', '-t', '60ns', '--task', '7'), ['work();'])
        self.assertEqual(self.tree('-F', 'w?rk', '--match', 'glob', '--from', '200ns', '--task', '7'),
                         ['work() { /* began earlier */', '  read();', '} /* work */'])
        self.assertEqual(self.tree('-T', 'step@depth=1', '--task', '7', '-F', 'main'),
                         ['main() {', '  work() {', '    step();', '    read();', '  } /* work */', '  step();',
                          '} /* main */'])

    def test_order(self):
        """Of -F and -N for one function the last one counts."""
        self.assertIn('no call is left by the filters', self.guesttrace('replay', '-F', 'step', '-N', 'step', status=1).stderr)
        self.assertEqual(len(self.tree('-N', 'step', '-F', 'step')), 4)

    def test_switches(self):
        """A switch ends what is open in all tasks, each at its next event."""
        self.assertEqual(self.flat('--trace', 'off', '-T', 'step@trace-on,count=1,return:trace-off'), [
            '210 enter main', '210 enter work', '210 enter step', '215 enter work', '215 enter read', '220 enter read',
            '250 leave read', '260 leave step', '260 open work', '260 open main', '350 open read', '350 open work'])
        self.assertEqual(self.flat('-T', 'read@finish', '--task', '7'),
                         ['100 enter main', '200 enter work', '210 enter step', '215 open step', '215 open work',
                          '215 open main'])

    def test_commands(self):
        """Sums are those of the calls that are left."""
        rows = list(csv.DictReader(io.StringIO(self.guesttrace('report', '--csv', '-N', 'step', '-H', 'read').stdout)))
        self.assertEqual({r['function']: (r['calls'], r['total_ns'], r['self_ns']) for r in rows},
                         {'main': ('1', '400', '200'), 'work': ('2', '500', '500')})
        self.assertIn('(2) read', self.guesttrace('graph', '-F', 'work', '-N', 'step').stdout)
        folded = self.guesttrace('export', '--format', 'folded', '-o', '-', '--values', 'calls', '-F', 'work', '-N', 'step')
        self.assertEqual(sorted(line.split(';')[-1] for line in folded.stdout.splitlines()), ['read 1', 'read 1', 'work 1',
                                                                                              'work 1'])

    def graph(self, *words):
        lines = self.guesttrace('graph', *words).stdout.splitlines()
        return [line.split(' : ')[1].strip('+- ') for line in lines if '(' in line]

    def test_graph(self):
        """Those of --function are at the top, of what filters leave; its depth counts from there."""
        self.assertEqual(self.graph('--function', 'work'), ['(2) work', '(2) read', '(1) step', '(1) read'])
        self.assertEqual(self.graph('--function', 'work', '-N', 'step'), ['(2) work', '(2) read'])
        self.assertEqual(self.graph('--function', 'read', '--callers', '-H', 'step', '--task', '7'),
                         ['(2) read', '(2) work', '(2) main'])
        self.assertEqual(self.graph('--function', 'step', '-D', '2', '-H', 'main'), ['(2) step', '(1) read'])
        self.assertEqual(self.graph('--function', 'step', '-D', '1', '-F', 'work'), ['(1) step'])

    def test_unused(self):
        done = self.guesttrace('replay', '-F', 'work', '-N', '^raed$', '-T', 'xyz@trace-off', status=1)
        self.assertEqual(done.stderr,
                         'guesttrace replay: some: -N ^raed$ matches no function that was called; near to it: read\n'
                         'guesttrace replay: some: -T xyz@trace-off matches no function that was called\n')
        self.assertIn('work()', done.stdout)
        self.assertIn('-C xyz matches no function',
                      self.guesttrace('export', '-f', 'folded', '-o', 'out', '-C', 'xyz', status=1).stderr)

    def test_undecided(self):
        """An expression whose lookaheads would take hours on a name does not match it, which is reported."""
        uftrace_write.directory(self.path('long'), {7: FIRST}, {**NAMES, WORK: 'a' * 400})
        words = ('-N', '(?=.*(?=.*(?=.*(?=.*[xy]))))')
        done = self.must(GUESTTRACE, 'replay', '-f', 'none', *words, 'long', status=1)
        self.assertIn(f'-N {words[1]}: for 1 names the expression was too much', done.stderr)
        self.assertIn('main', done.stdout)
        self.assertIn('a' * 400, done.stdout)

    def test_refused(self):
        for words, message in [(['-F', 'a(b'], '-F a(b: character 4: missing closing parenthesis'),
                               (['-N', 'x;'], '-N x;: character 3: expected a function'),
                               (['-T', 'f@if:retval<0'], 'character 6: values of calls are not known here'),
                               (['-T', 'console:Oops'], "the machine's console is not seen here"),
                               (['-F', 'f@cpu=1'], 'the vCPU of a call is not known here'),
                               (['--where', 'f:took>'], "--where f:took>: character 8: expected the name of a value"),
                               (['--where', 'f:retval<0'], 'character 3: values of calls are not known here'),
                               (['-Z', 'x'], '-Z x: character 1: expected a size')]:
            self.assertIn(message, self.guesttrace('report', *words, status=2).stderr)
        self.assertIn('filters', self.guesttrace('export', '-f', 'compact', '-o', 'x', '-N', 'f', status=2).stderr)


cases.main()
