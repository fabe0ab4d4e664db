#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is generated compiles without a warning, runs, and is not there where it should not be."""
import glob
import os
import re
import shutil

from gttest import cases, paths
from gttest.results import Skip
from tracetool_case import GOLDEN, INCLUDE, MERGED, OUTPUTS, WARNINGS, TracetoolTest, compilers

EVENTS = os.path.join(GOLDEN, 'demo.events')
EVERYTHING = 'log,simple,syslog,ftrace,ust,dtrace'
CALLS = '''
    trace_queue_push((void *)16, -5, "abc");
    trace_queue_drain();
    trace_queue_check(1);
    trace_no_format((uint8_t *)0, 9);
    trace_sizes('x', true, 1ull << 63, -2, INT64_MIN, 0xfedc);
    trace_words(1, 2, (char *)"s", 3, 4);
    trace_cpu_reset((void *)32);
    trace_insn_off_trans();
    trace_insn_off_exec(5);
    trace_guest_mem_trans((void *)48, 7);
    trace_guest_mem_exec((void *)48, 0x1234, 8);
'''
TEXT = '''queue_push q 0x10 n -5 name abc
queue_drain empty
no_format
sizes x 1 9223372036854775808 -2 -9223372036854775808 0xfedc 100%
words 1 2 s "3" 4\t.
cpu_reset cpu=0x20 
guest_mem_trans cpu=0x30 info=7
guest_mem_exec cpu=0x30 vaddr=0x0000000000001234 info=8
'''
PROGRAM = f'''#include "trace-demo.h"
#include <guesttrace/control.h>
int main(int argc, char **argv)
{{
    struct gt_trace_error error;
    for (int i = 1; i < argc; i++)
        if (gt_trace_parse(argv[i], stdout, stderr, &error) < 0)
            return 1;
    if (trace_event_get_state(TRACE_QUEUE_CHECK) || TRACE_QUEUE_CHECK_ENABLED ||
        trace_event_get_state_backends(TRACE_QUEUE_CHECK) || !TRACE_QUEUE_PUSH_ENABLED ||
        trace_event_get_state(TRACE_QUEUE_PUSH) != (argc > 1) ||
        trace_event_get_state_backends(TRACE_QUEUE_PUSH) != (argc > 1))
        return 2;
{CALLS}
    return 0;
}}
'''


class Compile(TracetoolTest):
    def make(self, backends, formats=('h', 'c')):
        shutil.copy(EVENTS, self.path('demo.events'))
        self.generate('demo.events', backends, formats)

    def test_log_and_simple_run(self):
        self.make('log,simple')
        self.write('main.c', PROGRAM)
        for compiler in compilers():
            for source in ('main', 'trace-demo'):
                self.compile(compiler, source + '.c', source + '.o', '-O2')
            self.link('main', 'main.o', 'trace-demo.o')
            done = self.run_program('main', 'enable=*', 'file=' + self.path('t'))
            self.assertEqual(done.stderr, TEXT)
            with open(self.path('t'), 'rb') as f:
                self.assertIn(b'\3\0\0\0abc', f.read())
            self.assertEqual(self.run_program('main').stderr, '')

    def test_every_combination(self):
        self.write('main.c', f'#include "trace-demo.h"\nvoid f(void);\nvoid f(void)\n{{{CALLS}}}\n')
        for backends in ('nop', 'log', 'simple', 'dtrace', 'ust', EVERYTHING):
            self.make(backends, [f for f in OUTPUTS if f not in ('rs', 'd')])
            for compiler in compilers():
                sources = ['main', 'trace-demo'] + ['trace-ust-demo'] * ('ust' in backends)
                for source in sources:
                    self.compile(compiler, source + '.c', source + '.o')
            self.compile('gcc', 'trace-demo.c', 'o', '-std=c99', '-O1')
            self.write('main.cc', f'#include "trace-demo.h"\nvoid f();\nvoid f() {{{CALLS}}}\n')
            self.compile('g++', 'main.cc', 'o', '-std=c++11')

    def test_strict_flags(self):
        flags = ['-Wshadow', '-Wundef', '-Wmissing-prototypes', '-Wstrict-prototypes', '-Wconversion',
                 '-Wsign-conversion', '-Wredundant-decls', '-Wcast-qual', '-Wformat=2']
        for backends in ('log,simple', 'dtrace', 'ust'):
            self.make(backends, ['h', 'c', 'ust-events-h'])
            for compiler in compilers():
                self.compile(compiler, 'trace-demo.c', 'o', *flags)

    def test_two_groups_in_one_program(self):
        self.write('a', 'same_place(int a) "%d"\n')
        self.write('b', 'other_place(int a) "%d"\ndisable off(void)\n')
        for group in ('a', 'b'):
            self.generate(group, 'log,dtrace', group=group)
        self.write('main.c', '''#include "trace-a.h"
#include "trace-b.h"
#include <guesttrace/control.h>
int main(void)
{
    gt_trace_switch_all("*_place", true, NULL);
    trace_same_place(1);
    trace_other_place(2);
    gt_trace_list(stdout, NULL);
    return 0;
}
''')
        for name in ('main', 'trace-a', 'trace-b'):
            self.compile('gcc', name + '.c', name + '.o')
        self.link('main', 'main.o', 'trace-a.o', 'trace-b.o')
        done = self.run_program('main')
        self.assertEqual(done.stderr, 'same_place 1\nother_place 2\n')
        self.assertEqual(sorted(done.stdout.split()), ['off', 'other_place', 'same_place'])

    def test_wrong_format_is_where_it_is_written(self):
        self.write('events/e', 'good(int a) "%d"\n\nbad(uint64_t value, int a) "x %s %d"\n'
                               'worse(int a) "%d %d"\n')
        self.generate('events/e', 'log,simple')
        for compiler in compilers():
            for name in ('syslog,simple', 'log', 'ftrace'):
                self.generate('events/e', name)
                done = self.run_in(compiler, '-Wall', '-Wextra', '-Werror=format', f'-I{INCLUDE}',
                                   '-c', 'trace-demo.c')
                self.assertEqual(done.returncode, 1)
                places = re.findall(r'^(\S+?):(\d+):\d+: error: .*format', done.stderr, re.M)
                self.assertEqual(places, [('events/e', '3'), ('events/e', '4')], done.stderr)

    def test_line_goes_back_to_the_output(self):
        self.make('log,simple')
        lines = self.read('trace-demo.c').split('\n')
        back = [(n, line) for n, line in enumerate(lines, 1) if line.endswith(' "trace-demo.c"')]
        self.assertEqual([line for _, line in back],
                         [f'#line {n + 1} "trace-demo.c"' for n, _ in back])
        self.assertEqual(len(back), 8)


class NoCode(TracetoolTest):
    """By the object code of a function with nothing but calls, and of one with nothing."""

    def code_of(self, backends, body, *flags):
        self.write('e', 'on(int a, const char *s) "%d %s"\ndisable off(int a, const char *s) "%d %s"\n')
        self.generate('e', backends)
        self.write('main.c', '#include "trace-demo.h"\nvoid f(int a, char *s);\n'
                             f'void f(int a, char *s)\n{{\n    (void)a; (void)s;\n{body}}}\n')
        self.compile('gcc', 'main.c', 'main.o', *flags)
        text = self.must('objdump', '-dr', '--no-show-raw-insn', 'main.o').stdout
        return text.split('<f>:\n')[1]

    def test_no_code(self):
        guarded = '''    if (trace_event_get_state(TRACE_{0}) || trace_event_get_state_backends(TRACE_{0}))
        f(a + 1, s);
    trace_{1}(a, s);
'''
        for flags in (['-O1'], ['-O2']):
            nothing = self.code_of('log,simple', '', *flags)
            off = guarded.format('OFF', 'off')
            self.assertEqual(self.code_of('log,simple', off, *flags), nothing)
            on = guarded.format('ON', 'on')
            self.assertEqual(self.code_of('nop', on, *flags), nothing)
            self.assertEqual(self.code_of('nop', off, *flags), nothing)
            for backends in ('log', 'simple', 'dtrace'):
                self.assertNotEqual(self.code_of(backends, on, *flags), nothing)

    def test_no_reference_without_optimisation(self):
        self.code_of('log', '    if (trace_event_get_state(TRACE_OFF))\n        trace_off(a, s);\n',
                     '-O0')
        self.assertNotRegex(self.must('nm', '-u', 'main.o').stdout, r'\S')

    def test_one_load_and_one_branch(self):
        code = self.code_of('log,simple', '    trace_on(a, s);\n', '-O2')
        lines = [line.split('\t')[1] for line in code.split('\n') if '\t' in line and ':' in line
                 and 'R_X86_64' not in line]
        path = lines[:lines.index(next(x for x in lines if x.startswith('ret'))) + 1]
        if os.uname().machine == 'x86_64':
            self.assertLessEqual(len(path), 4, code)
            self.assertRegex(path[0], r'^movzwl .*rip')

    def test_nop_needs_no_library(self):
        self.write('e', 'on(int a) "%d"\n')
        self.generate('e', 'nop')
        self.write('main.c', '#include "trace-demo.h"\nint main(void)\n{\n    trace_on(1);\n'
                             '    return trace_event_get_state(TRACE_ON);\n}\n')
        self.compile('gcc', 'main.c', 'main.o')
        self.compile('gcc', 'trace-demo.c', 'trace-demo.o')
        self.must('gcc', 'main.o', 'trace-demo.o', '-o', 'main')
        self.must(self.path('main'))


class Merged(TracetoolTest):
    """The events of Debian's QEMU, all of them, and of the versions that scripts/qemus fetches."""

    def setUp(self):
        super().setUp()
        if not os.path.exists(MERGED):
            raise Skip(f'no {MERGED}')
        with open(MERGED, encoding='utf-8') as f:
            self.names = [re.match(r'(?:\w+ +)*(\w+) *\(', line).group(1)
                          for line in f if line.strip() and not line.startswith('#')]

    def test_compiles(self):
        self.generate(MERGED, 'log,simple,syslog,ftrace', group='all')
        objects = self.read('trace-all.c').count('_EVENT = {')
        self.assertEqual(objects, len(self.names))
        self.assertGreater(objects, 5000)
        for compiler in list(compilers())[:None if paths.LONG else 1]:
            self.compile(compiler, 'trace-all.c', 'all.o', '-O0',
                         warnings=['-Wall', '-Wextra', '-Werror=format', '-Werror'])

    def test_other_versions(self):
        files = glob.glob(f'{paths.CACHE}/qemus/*/root/usr/share/qemu/trace-events-all')
        if not files:
            raise Skip('no other versions of QEMU')
        for path in sorted(files)[0 if paths.LONG else -1:]:
            self.generate(path, 'log,simple,syslog,ftrace', group='all')
            self.assertGreater(self.read('trace-all.c').count('_EVENT = {'), 5800)
            self.must('gcc', *WARNINGS, f'-I{INCLUDE}', '-I.', '-fsyntax-only', 'trace-all.c')
            done = self.tracetool('--format=h', '--backends=log', '--group=all', '--grammar=10.2',
                                  path, 'out')
            self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_every_format(self):
        options = ['--binary=/usr/bin/qemu', '--probe-prefix=qemu.x']
        with open(MERGED, encoding='utf-8') as f:
            enabled = len(self.names) - len([1 for line in f if line.startswith('disable')])
        for name, pattern in (('h', r'\nstatic inline void trace_\w+\('), ('d', r'\nprobe \w+\('),
                              ('rs', r'\npub fn trace_\w+\((?!\) -> bool)'), ('stap', r'\nprobe qemu.x.\w+ = pro'),
                              ('log-stap', r'\nprobe qemu.x.log.\w+ = '),
                              ('simpletrace-stap', r'\nprobe qemu.x.simpletrace.\w+ = '),
                              ('ust-events-h', r'\nTRACEPOINT_EVENT\(')):
            done = self.tracetool(f'--format={name}', '--backends=log,dtrace', '--group=all',
                                  *options, MERGED, 'out')
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            count = len(re.findall(pattern, self.read('out')))
            self.assertEqual(count, len(self.names) if name in ('h', 'rs') else enabled, name)


cases.main('gcc', 'g++', 'objdump')
