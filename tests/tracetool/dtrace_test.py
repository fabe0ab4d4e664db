#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Static probes: seen in the program by readelf, caught with their values by gdb where there is one,
and the d format is what `dtrace` of SystemTap reads."""
import os
import re

from gttest import cases
from gttest.paths import LONG
from gttest.results import Skip
from tracetool_case import LIB, MERGED, TracetoolTest

EVENTS = '''    trace_words(-1, 2, (char *)"shown", 3, 4);
    trace_sizes('x', true, 1ull << 63, -2, INT64_MIN, 0xfedc);
'''
MAIN = f'''#include "trace-demo.h"
int main(void)
{{
    if (trace_event_get_state_backends(TRACE_WORDS))
        return 1;
{EVENTS}
    demo_words_semaphore = 1;
    demo_sizes_semaphore = 1;
    if (!trace_event_get_state_backends(TRACE_WORDS) || trace_event_get_state(TRACE_WORDS))
        return 2;
{EVENTS}
    return 0;
}}
'''
# A tracer raises the semaphores itself.
TRACED = f'''#include "trace-demo.h"
int main(void)
{{
{EVENTS}
    return 0;
}}
'''
GDB = r'''set debuginfod enabled off
break -probe-stap demo:words
commands
silent
printf "words %d %s\n", $_probe_arg0, $_probe_arg2
continue
end
break -probe-stap demo:sizes
commands
silent
printf "sizes %c %d %lu %ld %ld %d\n", $_probe_arg0, $_probe_arg1, $_probe_arg2, $_probe_arg3, $_probe_arg4, $_probe_arg5
continue
end
run
quit
'''


class Probes(TracetoolTest):
    def setUp(self):
        super().setUp()
        self.take_demo()
        self.generate('e', 'dtrace', ['h', 'c', 'd'], options=['--provider=demo'])
        self.write('main.c', MAIN)
        for name in ('main', 'trace-demo'):
            self.compile('gcc', f'{name}.c', f'{name}.o', '-O2', '-g')

    def probes(self, program):
        """{name: (semaphore, [the sizes of the arguments, negative for signed ones])}"""
        text = self.must('readelf', '-nW', program).stdout
        found = re.findall(r'Provider: demo\n\s+Name: (\w+)\n\s+Location: \w+, Base: \w+, '
                           r'Semaphore: (\w+)\n\s+Arguments:([^\n]*)\n', text)
        self.assertEqual(len({f[1] for f in found}), len(found), 'semaphores are shared')
        return {name: (int(semaphore, 16), [int(a.split('@')[0]) for a in arguments.split()])
                for name, semaphore, arguments in found}

    def test_readelf(self):
        self.link('main', 'main.o', 'trace-demo.o')
        found = self.probes('main')
        self.assertTrue(all(semaphore for semaphore, _ in found.values()))
        self.assertEqual({name: sizes for name, (_, sizes) in found.items()}, {
            'queue_push': [8, -4, 8], 'queue_drain': [], 'no_format': [8, 8],
            'sizes': [-1, 1, 8, -8, -8, 2], 'words': [-4, -4, 8, -4, -4], 'cpu_reset': [8],
            'guest_mem_trans': [8, 2], 'guest_mem_exec': [8, 8, 2]})
        self.run_program('main')

    def test_gdb(self):
        cases.need('gdb')
        self.write('traced.c', TRACED)
        self.write('commands', GDB)
        self.compile('gcc', 'traced.c', 'traced.o', '-O2')
        self.link('traced', 'traced.o', 'trace-demo.o')
        env = dict(os.environ, LD_LIBRARY_PATH=LIB, LC_ALL='C.UTF-8')
        done = self.run_in('gdb', '-nx', '-batch', '-x', 'commands', self.path('traced'), env=env)
        if 'Operation not permitted' in done.stderr:
            raise Skip('gdb may not trace here')
        self.assertIn('words -1 shown\n', done.stdout, done.stderr)
        self.assertIn('sizes x 1 9223372036854775808 -2 -9223372036854775808 65244\n', done.stdout)

    def header(self, source, out):
        """What `dtrace` makes of a provider, in both its ways: it has two parsers. Which one it takes, and what Python
        prints meanwhile, depends on the python3-pyparsing that is installed; the header does not."""
        cases.need('dtrace')
        done = self.must('dtrace', '--no-pyparsing', '-h', '-s', source, '-o', out)
        self.assertEqual(done.stdout + done.stderr, '')
        self.must('dtrace', '-h', '-s', source, '-o', 'again.h')
        comment = re.compile(r'^/\*.*\*/$', re.M)  # shows the declaration, each parser in its way
        self.assertTrue(comment.sub('', self.read(out)) == comment.sub('', self.read('again.h')), 'the headers differ')

    def test_dtrace(self):
        self.header('trace-demo.d', 'probes.h')
        self.assertEqual(set(re.findall(r'define DEMO_(\w+)_ENABLED', self.read('probes.h'))),
                         {name.upper() for name in ('queue_push', 'queue_drain', 'no_format', 'sizes',
                                                    'words', 'cpu_reset', 'guest_mem_trans',
                                                    'guest_mem_exec')})
        self.write('user.c', '#include "probes.h"\nvoid f(void);\nvoid f(void)\n{\n'
                             '    DEMO_WORDS(1, 2, "s", 3, 4);\n    DEMO_QUEUE_DRAIN();\n}\n')
        self.compile('gcc', 'user.c', 'user.o')
        # its object has the semaphores too: they are the same
        self.must('dtrace', '--no-pyparsing', '-G', '-s', 'trace-demo.d', '-o', 'semaphores.o')
        self.link('main', 'main.o', 'trace-demo.o', 'user.o', 'semaphores.o')
        self.run_program('main')

    def test_dtrace_reads_all_of_qemu(self):
        if not os.path.exists(MERGED):
            raise Skip(f'no {MERGED}')
        step = 1 if LONG else 10  # of the events, of which dtrace takes twenty seconds
        with open(MERGED, encoding='utf-8') as f:
            events = [line for line in f if line.strip() and not line.startswith('#')]
        self.generate(self.write('events', ''.join(events[::step])), 'dtrace', ['d'], group='all', options=['--grammar=5.0'])
        self.header('trace-all.d', 'all.h')
        self.assertGreater(self.read('all.h').count('_ENABLED()'), 5000 // step - (step > 1) * 50)


cases.main('gcc', 'readelf')
