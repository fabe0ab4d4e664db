#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`guesttrace events list`: declarations of functions from DWARF; lines guest.GLOB of `record`; files that lie."""
import os
import subprocess

from cli_case import CliTest
from gttest import cases, commands, paths
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.results import read_bytes, read_text, write

ARCHS = 'x86_64', 'aarch64', 'riscv64'
WANT = r'''ints(char c, int8_t sc, uint8_t uc, int16_t s, uint16_t us, int i, unsigned int u, int64_t l, uint64_t ul, int64_t ll) "c=%d sc=%d uc=%u s=%d us=%u i=%d u=%u l=%"PRId64" ul=0x%"PRIx64" ll=%"PRId64""
at=ints@return ints_return(int ret) "ret=%d"
names(bool b, size_t n, ssize_t m, uintptr_t p, ptrdiff_t d, int8_t i8, uint64_t u64, uint8_t by, int64_t o) "b=%d n=%zu m=%zd p=0x%"PRIxPTR" d=%td i8=%d u64=0x%"PRIx64" by=%u o=%"PRId64""
at=names@return names_return(bool ret) "ret=%d"
pointers(const char *s, const char *t, void *v, void *p, void *i, void *h, const char *x, void *ss, void *bytes) "s=%s t=%s v=%p p=%p i=%p h=%p x=%s ss=%p bytes=%p"
at=pointers@return pointers_return(const char *ret) "ret=%s"
enums(unsigned int c, int s) "c=%u s=%d"
at=enums@return enums_return(unsigned int ret) "ret=%u"
floats(int i, int j) "i=%d j=%d"
at=nine@return nine_return(int ret) "ret=%d"
pairs(int i) "i=%d"
at=pairs@return pairs_return(int ret) "ret=%d"
gives(int i) "i=%d"
unions(void) ""
at=unions@return unions_return(int ret) "ret=%d"
variadic(const char *format) "format=%s"
at=variadic@return variadic_return(int ret) "ret=%d"
many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) "a=%d b=%d c=%d d=%d e=%d f=%d g=%d h=%d i=%d j=%d"
at=many@return many_return(int ret) "ret=%d"
nothing(void) ""
hidden(int i) "i=%d"
at=hidden@return hidden_return(int ret) "ret=%d"
arrays(void *a, const char *s) "a=%p s=%s"
at=arrays@return arrays_return(int ret) "ret=%d"
qualified(void *p, int v) "p=%p v=%d"
at=qualified@return qualified_return(int ret) "ret=%d"
at=odd.name.0 odd_name_0(int i) "i=%d"
at=odd.name.0@return odd_name_0_return(int ret) "ret=%d"
at=odd_name_0 odd_name_0_(int k) "k=%d"
at=odd_name_0@return odd_name_0_return_(int ret) "ret=%d"
twice(int i) "i=%d"
at=twice@return twice_return(int ret) "ret=%d"
at=twice_return twice_return_(int i) "i=%d"
at=twice_return@return twice_return_return(int ret) "ret=%d"
main(void) ""
at=main@return main_return(int ret) "ret=%d"
'''
OWN = {'x86_64': ['nine(int j) "j=%d"', 'gives_big(void) ""'], 'aarch64': ['nine(int j) "j=%d"', 'gives_big(int i) "i=%d"'],
       'riscv64': ['nine(void) ""', 'gives_big(void) ""']}
MINE = '''# mine come first
ints(char c) "%d"
at=names@return pairs(bool ret) "%d"
guest.i*
  guest.nam?s	
guest.pa*
'''


class Events(CliTest):
    def build(self, arch='x86_64', *flags):
        return compile_to(self.path('f'), arch, paths.source('cli', 'events_functions.c'), '-O1', '-g', '-w', *flags)

    def setUp(self):
        super().setUp()
        self.fake('qemu-system-x86_64')
        self.write('plugins/libevents.so', b'')

    def record(self, events, status, *more, do=''):
        """With a fake QEMU: the file is read, and its globs are replaced."""
        self.write('events', events.encode())
        return self.expect(status, 'record', '-q', '--guest-events', 'events', '-o', 'trace', *more, '--', 'qemu-system-x86_64',
                           '-nographic', do=do)

    def events(self, *words, status=0):
        done = self.expect(status, 'events', 'list', *words)
        return done.stderr if status else done.stdout


class Dwarf(Events):
    def test_all(self):
        for arch in ARCHS:
            with self.subTest(arch):
                got = self.events('-r', self.build(arch)).splitlines()
                self.assertEqual(sorted(got), sorted(WANT.splitlines() + OWN[arch]))

    def test_some(self):
        program = self.build()
        self.assertEqual(self.events('-e', 'pair?', '-e', 'no*ng', '-o', 'out', program), '')
        self.assertEqual(self.read('out'), 'pairs(int i) "i=%d"\nnothing(void) ""\n')
        self.assertIn("no function with a prototype matches 'no$place'", self.events('-e', 'no$place', program, status=1))


class Recorded(Events):
    def test_globs(self):
        """The file's own lines stay, and their functions and names are not declared again."""
        self.record(MINE, 0, '--symbols', self.build(), do='touch=trace')
        self.assertEqual(self.read('trace.events').splitlines(),
                         MINE.splitlines()[:3] + ['names(' + WANT.split('\nnames(')[1].split('\n')[0],
                                                  'at=pairs pairs_(int i) "i=%d"'])

    def test_errors(self):
        self.assertIn("events:2: guest.nob*: no function of that name has a prototype in ",
                      self.record('#\nguest.nob*\n', 125, '--symbols', self.build()).stderr)
        self.assertIn('events:1: guest.a: no file to take its prototype from: give it with --symbols',
                      self.record('guest.a\n', 125).stderr)
        self.assertFalse(os.path.exists(self.path('trace.events')))


class Earlier(Events):
    """What is at the place of a trace's declarations."""

    def earlier(self, trace):
        self.write('trace.events', b'earlier(void) ""\n')
        if trace:
            self.write('trace', b'an earlier trace')

    def left(self):
        return {n: self.read(n) for n in sorted(os.listdir(self.path('.'))) if n.startswith('trace.events')}

    def test_not_begun(self):
        """The trace that is still there keeps its own, whatever went wrong."""
        self.earlier(trace=True)
        for status, options in (0, []), (125, ['--plugin', 'none.so']), (125, ['--symbols', 'none']):
            with self.subTest(options):
                self.record('ints(int i) "%d"\n', status, *options)
                self.assertEqual(self.left(), {'trace.events': 'earlier(void) ""\n'})
                self.assertEqual(self.read('trace'), 'an earlier trace')

    def test_recorded_over(self):
        self.earlier(trace=True)
        self.record('ints(int i) "%d"\n', 0, do='touch=trace')
        self.assertEqual(self.left(), {'trace.events': 'ints(int i) "%d"\n'})

    def test_of_no_trace(self):
        """It is somebody's own, and stays."""
        self.earlier(trace=False)
        self.record('ints(int i) "%d"\n', 0, do='touch=trace')
        self.assertEqual(self.left(), {'trace.events': 'ints(int i) "%d"\n', 'trace.events.old': 'earlier(void) ""\n'})

    def test_its_own_input(self):
        self.write('plugins/libevents.so', b'')
        self.write('trace.events', b'ints(int i) "%d"\n')
        done = self.expect(2, 'record', '--guest-events', 'trace.events', '-o', 'trace', '--', 'qemu-system-x86_64', '-nographic')
        self.assertIn('trace.events: is the file of --guest-events', done.stderr)
        self.assertEqual(self.left(), {'trace.events': 'ints(int i) "%d"\n'})


class Hostile(Events):
    def test_no_files(self):
        self.assertIn('takes files', self.events(status=2))
        self.assertIn('nothing', self.events('nothing', status=1))
        self.write('text', b'text')
        self.assertIn('text', self.events('text', status=1))
        bare = self.build('x86_64', '-s')
        self.assertIn(bare, self.events(bare, status=1))

    def test_output(self):
        program = self.build()
        with open('/dev/full', 'wb') as full:
            done = subprocess.run([GUESTTRACE, 'events', 'list', program], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'No space left', done.stderr)
        self.assertIn('none/out', self.events('-o', 'none/out', program, status=1))

    def test_cut(self):
        """Of a program that is cut what is whole comes, or an error."""
        data = read_bytes(self.build())
        for size in range(0, len(data), len(data) // 30):
            self.write('cut', data[:size])
            done = commands.run([GUESTTRACE, 'events', 'list', self.path('cut')])
            self.assertIn(done.returncode, (0, 1), size)
            self.assertEqual(done.returncode == 1, bool(done.stderr), size)

    def test_changed(self):
        """Each part of the types' descriptions, overwritten: what comes is a file of events."""
        program = self.build()
        data = read_bytes(program)
        commands.must([commands.tool('objcopy'), '--dump-section', f'.debug_info={self.path("info")}', '--dump-section',
                       f'.debug_str={self.path("str")}', program, self.path('ignored')])
        for name in 'info', 'str':
            part = read_bytes(self.path(name))
            start = data.index(part)
            for at in range(start, start + len(part), max(len(part) // 8, 1)):
                changed = data[:at] + b'"\n(' * 4 + data[at + 12:]
                write(self.path('changed'), changed)
                done = commands.run([GUESTTRACE, 'events', 'list', '-o', self.path('out'), self.path('changed')])
                self.assertIn(done.returncode, (0, 1), at)
                if done.returncode == 0:
                    self.record(read_text(self.path('out')), 0)


cases.main()
