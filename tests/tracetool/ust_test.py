#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""LTTng-UST: a program's events are recorded by `lttng` and read by babeltrace2, with every kind of
argument, and its tracepoints are off while nobody records."""
import glob
import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile

from gttest import cases
from gttest.results import Skip
from tracetool_case import LIB, TracetoolTest

MAIN = r'''
#include "trace-demo.h"
#include <stdio.h>
int main(void)
{
    char text[2048];
    memset(text, 'y', sizeof text);
    text[sizeof text - 1] = 0;
    printf("%d\n", trace_event_get_state_backends(TRACE_QUEUE_PUSH));
    if (trace_event_get_state(TRACE_QUEUE_PUSH))
        return 1;
    trace_queue_push((void *)0x7fffffff0, -5, "abc \"quoted\"");
    trace_queue_push(NULL, 2147483647, text);
    trace_queue_push(NULL, 0, NULL);
    trace_queue_drain();
    trace_queue_check(1);
    trace_no_format((uint8_t *)16, SIZE_MAX);
    trace_sizes(-3, true, 1ull << 63, -2, INT64_MIN, 0xfedc);
    trace_words(1, 2, (char *)"", 3, 4);
    trace_guest_mem_exec((void *)48, UINT64_MAX, 8);
    return 0;
}
'''
EXPECTED = [
    ('queue_push', {'q': '0x7FFFFFFF0', 'n': -5, 'name': 'abc "quoted"'}),
    ('queue_push', {'q': '0x0', 'n': 2147483647, 'name': 'y' * 2047}),
    ('queue_push', {'q': '0x0', 'n': 0, 'name': '(null)'}),
    ('queue_drain', {}),
    ('no_format', {'bytes': '0x10', 'size': 18446744073709551615}),
    ('sizes', {'c': -3, 'b': 1, 'u': 9223372036854775808, 'z': -2, 'i': -9223372036854775808,
               'h': 65244}),
    ('words', {'next': 1, 'for': 2, 'string': '', 'probe': 3, 'class': 4}),
    ('guest_mem_exec', {'__cpu': '0x30', 'vaddr': 18446744073709551615, 'info': 8}),
]
LINE = re.compile(r'.* demo:(\w+): .*?\}, \{ (.*)\}$')


def value_of(text):
    if text.startswith('"'):
        return json.loads(text)
    return text if text.startswith('0x') else int(text)


def fields_of(text):
    return {name: value_of(value)
            for name, value in re.findall(r'(\w+) = ("(?:\\.|[^"\\])*"|[^," ]+)', text)}


def stop(pid):
    """Ends the daemon, which is no child of ours, and waits for its end."""
    process = os.pidfd_open(pid)
    os.kill(pid, signal.SIGTERM)
    select.select([process], [], [], 30)
    os.close(process)


class Ust(TracetoolTest):
    def build(self):
        self.take_demo()
        self.generate('e', 'log,ust', ['h', 'c', 'ust-events-h', 'ust-events-c'],
                      options=['--provider=demo'])
        self.write('main.c', MAIN)
        for name in ('main', 'trace-demo', 'trace-ust-demo'):
            self.compile('gcc', f'{name}.c', f'{name}.o', '-O2')
        self.must('gcc', 'main.o', 'trace-demo.o', 'trace-ust-demo.o', '-o', 'main', f'-L{LIB}',
                  '-lguesttrace-events', '-llttng-ust', '-ldl')

    def lttng(self, *words):
        return self.must('lttng', '--no-sessiond', *words, env=self.env)

    def start_daemon(self):
        """One for this test, if none runs; the session is this test's in any case."""
        if self.run_in('lttng', '--no-sessiond', 'list', env=self.env).returncode == 0:
            return
        subprocess.run(['lttng-sessiond', '--daemonize', '--no-kernel', '--pidfile=sessiond.pid'],
                       cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=True)
        self.addCleanup(stop, int(self.read('sessiond.pid')))

    def run_main(self):
        return self.must(self.path('main'), env=dict(
            self.env, LD_LIBRARY_PATH=LIB, LTTNG_UST_REGISTER_TIMEOUT='30000')).stdout

    def events(self):
        """[(name, {field: value})]"""
        found = []
        for line in self.must('babeltrace2', self.path('trace')).stdout.rstrip('\n').split('\n'):
            match = LINE.match(line)
            self.assertTrue(match, line)
            found.append((match.group(1), fields_of(match.group(2))))
        return found

    def test_recorded(self):
        self.env = dict(os.environ, LTTNG_HOME=self.dir, HOME=self.dir, LC_ALL='C.UTF-8')
        self.build()
        self.start_daemon()
        self.assertEqual(self.run_main(), '0\n')
        name = f'guesttrace-{os.getpid()}'
        self.lttng('create', name, '--output=' + self.path('trace'))
        self.addCleanup(self.run_in, 'lttng', '--no-sessiond', 'destroy', name, env=self.env)
        self.lttng('enable-event', '-s', name, '--userspace', 'demo:*')
        self.lttng('start', name)
        self.assertEqual(self.run_main(), '1\n')
        self.lttng('destroy', name)
        self.assertEqual(self.events(), EXPECTED)


def shared_memory():
    """True where the tracer's buffers have a place."""
    try:
        with tempfile.TemporaryFile(dir='/dev/shm'):
            return shutil.disk_usage('/dev/shm').free >= 32 << 20
    except OSError:
        return False


def need_lttng():
    if not os.path.exists('/usr/include/lttng/tracepoint.h') and not glob.glob(
            '/usr/include/*/lttng/tracepoint.h'):
        raise Skip('no lttng/tracepoint.h')
    if not shared_memory():
        raise Skip('/dev/shm is not usable: LTTng has its buffers there')


cases.main('gcc', 'lttng', 'lttng-sessiond', 'babeltrace2', need_lttng)
