#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`replay`, to the letter: the layout, its columns, what is chosen, hostile names, output that fails."""
import os
import pty
import re
import signal
import subprocess

from gttest import cases, uftrace_write
from gttest.commands import limit_files
from gttest.paths import GUESTTRACE
from gttest.uftrace import ENTRY, EVENT, EXIT, LOST

A, B, C, D = 0x1000, 0x1010, 0x1020, 0x1030
NAMES = {A: 'main', B: 'f', C: 'g', D: 'h(int)'}
SUSPEND, RESUME, USER = 200002, 200001, 1000000
FIRST = uftrace_write.records(
    (100, ENTRY, 0, A), (200, ENTRY, 1, B), (250, EVENT, 2, SUSPEND), (270, EVENT, 2, RESUME),
    (300, EVENT, 2, USER), (310, EVENT, 2, SUSPEND), (320, EVENT, 2, USER + 1), (330, EVENT, 2, RESUME),
    (400, EXIT, 1, B), (500, ENTRY, 1, D), (510, ENTRY, 2, D), (520, EXIT, 2, D), (600, EXIT, 1, D),
    (700, ENTRY, 1, C), (800, ENTRY, 2, 0x20), (1000, ENTRY, 3, B))
SECOND = uftrace_write.records((150, ENTRY, 0, A), (210, ENTRY, 1, B), (210, EXIT, 1, B), (1200, EXIT, 0, A))
CONSOLE = '0.000000205 hello\n0.000000350 con <b>"x\n'
EVENTS = {USER: 'guesttrace:lost', USER + 1: 'my:ev'}

TREE = '''\
# DURATION     TID     FUNCTION
            [     7] | main() {
            [     8] | main() {
            [     7] |   f() {
                     | /* console: hello */
            [     8] |   f();
   0.020 us [     7] |     /* linux:schedule */
            [     7] |       /* LOST some records!! */
            [     7] |     /* linux:sched-out */
            [     7] |     /* my:ev */
   0.020 us [     7] |     /* linux:sched-in */
                     | /* console: con <b>"x */
   0.200 us [     7] |   } /* f */
            [     7] |   h(int) {
   0.010 us [     7] |     h(int);
   0.100 us [     7] |   } /* h(int) */
            [     7] |   g() {
            [     7] |     <20>() {
            [     7] |       f() {
   1.050 us [     8] | } /* main */

Calls that did not return:
task 7:
[3] f
[2] <20>
[1] g
[0] main
'''

FLAT = '''\
#               TIME       TID DEPTH EVENT           DURATION FUNCTION
         0.000000100         7     0 enter                  - main
         0.000000150         8     0 enter                  - main
         0.000000200         7     1 enter                  - f
         0.000000205         -     - console                - hello
         0.000000210         8     1 enter                  - f
         0.000000210         8     1 leave        0.000000000 f
         0.000000250         7     2 enter                  - linux:schedule
         0.000000270         7     2 leave        0.000000020 linux:schedule
         0.000000300         7     2 lost                   - 0
         0.000000310         7     2 enter                  - linux:schedule
         0.000000320         7     3 event                  - my:ev
         0.000000330         7     2 leave        0.000000020 linux:schedule
         0.000000350         -     - console                - con <b>"x
         0.000000400         7     1 leave        0.000000200 f
         0.000000500         7     1 enter                  - h(int)
         0.000000510         7     2 enter                  - h(int)
         0.000000520         7     2 leave        0.000000010 h(int)
         0.000000600         7     1 leave        0.000000100 h(int)
         0.000000700         7     1 enter                  - g
         0.000000800         7     2 enter                  - <20>
         0.000001000         7     3 enter                  - f
         0.000001200         8     0 leave        0.000001050 main
         0.000001000         7     3 open         0.000000000 f
         0.000001000         7     2 open         0.000000200 <20>
         0.000001000         7     1 open         0.000000300 g
         0.000001000         7     0 open         0.000000900 main
'''

UNITS = {0: '', 1: '0.001 us', 999: '0.999 us', 1000: '1.000 us', 999999: '999.999 us', 10**6: '1.000 ms',
         10**9 - 1: '999.999 ms', 10**9: '1.000  s', 60 * 10**9 - 1: '59.999  s', 60 * 10**9: '1.000  m',
         65 * 10**9 + 5 * 10**6: '1.005  m', 3600 * 10**9 - 1: '59.059  m', 3725 * 10**9: '1.002  h',
         4000 * 3600 * 10**9: '4000.000  h'}


class ReplayCase(cases.ScratchCase):
    def setUp(self):
        super().setUp()
        self.made = uftrace_write.directory(self.path('made'), {7: FIRST, 8: SECOND}, NAMES, console=CONSOLE,
                                            events=EVENTS)

    def replay(self, *words, status=0, **more):
        done = self.run_in(GUESTTRACE, 'replay', *words, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def calls(self, *items, names=None, **more):
        """A directory of one task."""
        return uftrace_write.directory(self.path('calls'), {7: uftrace_write.records(*items)}, names or NAMES, **more)


class Layout(ReplayCase):
    def test_tree(self):
        self.assertEqual(self.replay('made'), TREE)

    def test_flat(self):
        self.assertEqual(self.replay('--flat', 'made'), FLAT)

    def test_units(self):
        items, time = [(1, ENTRY, 0, A)], 10
        for ns in UNITS:
            items += [(time, ENTRY, 1, B), (time + ns, EXIT, 1, B)]
            time += ns + 1
        self.calls(*items, (time, EXIT, 0, A))
        lines = self.replay('calls').splitlines()[2:-1]
        self.assertEqual([line[:line.index('[')].strip() for line in lines], list(UNITS.values()))

    def test_lost(self):
        self.calls((10, ENTRY, 0, A), (20, LOST, 0, 3), (30, LOST, 0, 0), (40, EXIT, 0, A))
        self.assertEqual(self.replay('calls').splitlines()[2:4], [
            '            [     7] |     /* LOST 3 records!! */', '            [     7] |     /* LOST some records!! */'])
        self.assertIn('         0.000000020         7     1 lost                   - 3\n', self.replay('--flat', 'calls'))

    def test_empty(self):
        uftrace_write.directory(self.path('empty'), {7: b''}, NAMES)
        self.assertEqual(self.replay('empty'), '# DURATION     TID     FUNCTION\n')
        self.assertEqual(self.replay('--flat', 'empty'), FLAT[:FLAT.index('\n') + 1])

    def test_large_number(self):
        """Of a task: the column grows."""
        uftrace_write.directory(self.path('large'), {2147483647: uftrace_write.records((10, ENTRY, 0, A), (20, EXIT, 0, A))},
                                NAMES)
        self.assertEqual(self.replay('large').splitlines()[1], '   0.010 us [2147483647] | main();')

    def test_deep(self):
        """Deeper than records count: their depth is masked."""
        deep = 1500
        self.calls(*[(i + 1, ENTRY, i & 1023, A) for i in range(deep)],
                   *[(deep + i + 1, EXIT, deep - 1 - i & 1023, A) for i in range(deep)])
        lines = self.replay('-f', 'none', 'calls').splitlines()

        def indent(i):
            return '  ' * min(i, 100) + (f'[{i}] ' if i > 100 else '')
        wanted = [indent(i) + 'main() {' for i in range(deep - 1)] + [indent(deep - 1) + 'main();'] + \
            [indent(i) + '} /* main */' for i in reversed(range(deep - 1))]
        self.assertEqual([(a, b) for a, b in zip(lines, wanted) if a != b][:3], [])
        self.assertEqual(len(lines), len(wanted))


class Columns(ReplayCase):
    def test_all(self):
        lines = self.replay('-f', 'all', 'made').splitlines()
        self.assertEqual(lines[0], '# DURATION     TID      ADDRESS        TIMESTAMP      TIMEDELTA   ELAPSED         AT'
                                   '            TASK NAME      MODULE NAME   FUNCTION')
        self.assertEqual(lines[4], '                                         0.000000205              0.105 us    '
                                   '0.000000105                                  | /* console: hello */')
        self.assertEqual(lines[5], '            [     8]         1010        0.000000210   0.060 us   0.110 us    '
                                   '0.000000110           guest            guest |   f();')
        self.assertEqual(lines[9], '            [     7]                     0.000000320   0.010 us   0.220 us    '
                                   '0.000000220           guest                  |     /* my:ev */')
        self.assertEqual(lines[17], '            [     7]           20        0.000000800   0.100 us   0.700 us    '
                                    '0.000000700           guest            guest |     <20>() {')

    def test_chosen(self):
        self.assertEqual(self.replay('-f', 'none', 'made').splitlines()[:3], ['main() {', 'main() {', '  f() {'])
        lines = self.replay('-f', 'tid,duration', 'made').splitlines()
        self.assertEqual(lines[0], '#   TID    DURATION    FUNCTION')
        self.assertEqual(lines[-8], ' [     8]   1.050 us | } /* main */')
        self.assertEqual(self.replay('-f', '+elapsed,tid', 'made').splitlines()[0],
                         '# DURATION     TID     ELAPSED    FUNCTION')
        self.assertRegex(self.replay('-f', 'tid,speed', 'made', status=2),
                         "--fields: no field 'speed'; there are: duration, tid, addr, .*, none, all\n")

    def test_color(self):
        self.assertIn('\x1b', self.replay('--color', 'always', 'made'))
        plain = re.sub('\x1b\\[[0-9;]*m', '', self.replay('--color', 'always', 'made'))
        self.assertEqual(plain, TREE)


class Chosen(ReplayCase):
    def tree(self, *words):
        text = self.replay('-f', 'none', *words, 'made')
        return text[:text.index('\nCalls that')].splitlines() if '\nCalls that' in text else text.splitlines()

    def test_window(self):
        """What is open at the beginning stands before the task's first line."""
        self.assertEqual(self.replay('--from', '300ns', '--to', '500ns', 'made').splitlines(), [
            '#       AT       DURATION     TID     FUNCTION',
            '    0.000000000            [     7] | main() { /* began earlier */',
            '    0.000000100            [     7] |   f() { /* began earlier */',
            '    0.000000300   0.200 us [     7] |   } /* f */',
            '    0.000000400            [     7] |   h(int) {',
            '    0.000000410   0.010 us [     7] |     h(int);',
            '    0.000000500   0.100 us [     7] |   } /* h(int) */'])

    def test_tasks(self):
        self.assertEqual(self.tree('--task', '8'), [
            'main() {', '/* console: hello */', '  f();', '/* console: con <b>"x */', '} /* main */'])

    def test_function(self):
        self.assertEqual(self.tree('-F', 'g'), [
            '/* console: hello */', '/* console: con <b>"x */', 'g() {', '  <20>() {', '    f() {'])
        self.assertEqual(self.tree('-F', r'^h\(int\)$'), self.tree('-F', 'h'))
        self.assertEqual(self.tree('-F', 'h'), [
            '/* console: hello */', '/* console: con <b>"x */', 'h(int) {', '  h(int);', '} /* h(int) */'])
        self.assertRegex(self.replay('-F', 'mian', 'made', status=1), '-F mian matches no function that was called; .*main')
        self.assertEqual(len(self.tree('-F', '*', '--match', 'glob')), 19)

    def test_function_by_name(self):
        self.assertEqual(self.tree('--function', 'g'), self.tree('-F', '^g$'))
        self.assertEqual(self.tree('--function', 'h(int)'), self.tree('--function', 'h'))
        self.assertEqual(self.tree('--function', 'h'), [
            '/* console: hello */', '/* console: con <b>"x */', 'h(int) {', '  h(int);', '} /* h(int) */'])
        self.assertRegex(self.replay('--function', 'mian', 'made', status=1), "no function 'mian' was called; .*main")
        self.assertEqual(len(self.tree('--function', '*')), 19)

    def test_module(self):
        self.assertEqual(len(self.tree('--module', 'guest')), 16)
        self.assertEqual(len(self.tree('--module', 'gu*', '-F', 'g')), 5)
        self.assertRegex(self.replay('--module', 'libc.so.6', 'made', status=1),
                         "no function of a module 'libc.so.6' was called")

    def test_part_by_text(self):
        """From a line of the console on, up to another; by the guest's own time where lines have it."""
        self.assertEqual(self.replay('--flat', '--from', 'hello', 'made'), self.replay('--flat', '--from', '105ns', 'made'))
        self.assertEqual(self.replay('--flat', '--from', 'hello', '--to', 'con <', 'made'),
                         self.replay('--flat', '--from', '105ns', '--to', '250ns', 'made'))
        lines = ''.join(f'0.{time:09} [{at:12.6f}] {text}\n' for time, at, text in (
            (200, 0, 'Linux'), (400, 0.5, 'mounts'), (600, 0.86, 'Run /init')))
        path = self.calls((100, ENTRY, 0, A), (300, ENTRY, 1, B), (500, EXIT, 1, B), (700, EXIT, 0, A), console=lines)
        for given, same in ('Run /init', '500ns'), ('[0.86]', '500ns'), ('[0.4]', '300ns'), ('[0]', '100ns'):
            self.assertEqual(self.replay('--flat', '--from', given, path), self.replay('--flat', '--from', same, path), given)
        for given in 'init 2', '[0.9]':
            self.assertIn(f"no line has it, not '{given}'", self.replay('--to', given, path, status=1))
        self.assertIn('the recording has none', self.replay('--to', 'x', self.plain(), status=2))

    def plain(self):
        return uftrace_write.directory(self.path('plain'), {7: SECOND}, NAMES)

    def test_usage(self):
        self.assertIn('needs a recording: ', self.replay(status=2))
        self.assertIn('takes one recording', self.replay('made', 'made', status=2))
        self.assertIn("'--from' takes a time", self.replay('--from', '5', 'made', status=2))
        self.assertIn('none: ', self.replay('none', status=1))


class Hostile(ReplayCase):
    def test_names(self):
        """Of functions, tasks, events and the console: nothing of them reaches the terminal as it is."""
        bad = 'a\x1b[31m\tb\udcff\x7f'
        self.calls((10, ENTRY, 0, A), (20, EVENT, 1, USER), (30, EXIT, 0, A), names={A: bad},
                   console='0.000000015 \x1b]0;title\x07\r\n', events={USER: 'x:\x1b'})
        for words in [], ['--flat'], ['-f', 'all']:
            done = subprocess.run([GUESTTRACE, 'replay', *words, self.path('calls')], stdout=subprocess.PIPE, check=True)
            self.assertEqual([c for c in done.stdout if c < 32 and c != 10 or c > 126], [])
            self.assertIn(rb'a\x1b[31m\x09b\xff\x7f', done.stdout)
            self.assertIn(rb'\x1b]0;title\x07', done.stdout)
            self.assertIn(rb'x:\x1b', done.stdout)


class Output(ReplayCase):
    def many(self):
        return self.calls(*[(i + 1, i & 1, 0, A) for i in range(200000)])

    def test_closed(self):
        """A reader that has seen enough ends it, quietly."""
        self.many()
        done = self.run_in('sh', '-c', f'"{GUESTTRACE}" replay calls | head -n 1; exit 0')
        self.assertEqual((done.stdout, done.stderr), ('# DURATION     TID     FUNCTION\n', ''))

    def test_full(self):
        self.many()
        with open('/dev/full', 'wb') as full:
            done = self.run_in(GUESTTRACE, 'replay', 'calls', capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, 'standard output: cannot be written: No space left on device\n$')

    def test_limited(self):
        self.many()
        limit = {'preexec_fn': lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), limit_files(100000))}
        with open(self.path('out'), 'wb') as out:
            done = self.run_in(GUESTTRACE, 'replay', 'calls', capture_output=False, stdout=out, stderr=subprocess.PIPE,
                               **limit)
        self.assertEqual(done.returncode, 1)
        self.assertIn('File too large', done.stderr)

    def test_terminal(self):
        """A pager, and colours."""
        ours, theirs = pty.openpty()
        env = dict(os.environ, GUESTTRACE_PAGER='cat -n', TERM='xterm')
        env.pop('NO_COLOR', None)
        done = subprocess.run([GUESTTRACE, 'replay', self.made], stdout=theirs, env=env, check=True)
        os.close(theirs)
        self.assertEqual(done.returncode, 0)
        text = b''
        try:
            while some := os.read(ours, 65536):
                text += some
        except OSError:  # EIO: the end of a terminal that nobody has open
            pass
        os.close(ours)
        self.assertIn(b'1\t# DURATION', text)
        self.assertIn(b'\x1b[90m /* main */\x1b[0m', text)


cases.main()
