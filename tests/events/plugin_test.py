#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugins' own trace events: a running recording is looked into and steered, and neither the
guest nor QEMU notices."""
import os
import re
import shutil
import socket
import subprocess

from gttest import cases, elf, paths, qemus
from gttest.paths import GUESTTRACE, PLUGIN_EVENTS

GUEST = r'''
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(int argc, char **argv)
{
    char go[8];
    int result = fib(12);
    if (argc > 1) {
        puts("ready");
        fflush(stdout);
        if (!fgets(go, sizeof go, stdin))
            return 1;
        for (int i = 0; i < 20; i++)
            result += fib(20);
    }
    if (fork() == 0)
        _exit(fib(10) == 55 ? 0 : 1);
    wait(NULL);
    struct dirent *e;
    for (DIR *d = opendir("/proc/self/fd"); (e = readdir(d));)
        printf("%s ", e->d_name);
    return result == 0;
}
'''


class PluginTest(cases.ScratchCase):
    def setUp(self):
        super().setUp()
        self.guest = self.path('guest')
        self.must('gcc', '-O1', '-static', '-x', 'c', '-', '-o', self.guest, input=GUEST)

    def command(self, tool, arguments, *words):
        plugin = paths.plugin(tool)
        arguments = arguments.replace('@', self.dir)
        out = 'out' if tool == 'execlog' else 'output'
        return ['qemu-x86_64', '-plugin', f'{plugin},{out}={self.dir}/out{arguments}', self.guest,
                *words]

    def run_guest(self, tool, arguments):
        shutil.rmtree(os.path.join(self.dir, 'out'), True)
        done = self.run_in(*self.command(tool, arguments))
        if done.returncode and ('argument' in done.stderr or 'control=' in arguments):
            return done
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def text(self, name):
        """[(event, {argument: value})] of a trace"""
        done = self.run_in(GUESTTRACE, 'events', 'simpletrace', PLUGIN_EVENTS, name)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        lines = [line.split() for line in done.stdout.splitlines()]
        return [(words[0], dict(w.split('=', 1) for w in words[2:])) for words in lines]

    def ask(self, *words):
        return self.must(GUESTTRACE, 'ctl', 'socket', *words).stdout.strip()

    def test_recorded(self):
        bare = self.run_guest('uftrace', '').stdout
        self.assertEqual(os.listdir(self.dir).count('trace'), 0)
        traced = self.run_guest('uftrace', ',trace=uftrace_*,trace-file=@/trace,trace-socket=@/socket')
        self.assertEqual(traced.stdout, bare)  # the guest's descriptors
        self.assertFalse(os.path.exists(os.path.join(self.dir, 'socket')))
        found = self.text('trace')
        names = [name for name, _ in found]
        self.assertEqual(names.count('uftrace_task'), 1)
        self.assertIn('uftrace_module', names)
        self.assertEqual(names[-1], 'uftrace_end')
        calls = int(re.search(r'(\d+) calls recorded', traced.stderr).group(1))
        children = [n for n in os.listdir(self.dir) if n.startswith('trace.')]
        self.assertEqual(len(children), 1)
        child = self.text(children[0])
        self.assertEqual(child[0][1]['pid'], children[0].split('.')[1])
        self.assertEqual(int(found[-1][1]['calls'], 16), calls)
        self.assertGreater(int(child[-1][1]['calls'], 16), 100)

    def test_steered(self):
        child = subprocess.Popen(self.command('uftrace', ',trace-file=@/trace,control=@/socket',
                                              'wait'), cwd=self.dir, text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        with child:
            self.assertEqual(child.stdout.readline(), 'ready\n')
            self.assertEqual(self.ask('info trace-events uftrace_w*'), 'uftrace_window : state 0')
            self.ask('trace-event uftrace_window on')
            self.assertEqual(self.ask('info trace-events uftrace_w*'), 'uftrace_window : state 1')
            self.assertIn('Trace file', self.ask('trace-file'))
            self.assertTrue(self.ask('status').startswith('ok recording=on '))  # the same socket
            state = self.ask('{"execute": "trace-event-get-state", "arguments": {"name": "uftrace_window"}}')
            self.assertEqual(state, '[{"name": "uftrace_window", "state": "enabled"}]')
            out = child.communicate('go\n', timeout=120)
        self.assertEqual(child.returncode, 0, out)
        found = self.text('trace')
        self.assertGreater(len(found), 10)
        self.assertEqual({name for name, _ in found}, {'uftrace_window'})
        records = [int(values['records'], 16) for _, values in found]
        self.assertEqual(records, sorted(records))

    def test_etrace(self):
        bare = self.run_guest('etrace', '').stdout
        traced = self.run_guest('etrace', ',trace=etrace_packets+etrace_s*,trace-file=@/trace')
        self.assertEqual(traced.stdout, bare)
        names = [name for name, _ in self.text('trace')]
        self.assertIn('etrace_packets', names)
        self.assertEqual(names.count('etrace_stream'), 1)

    def test_execlog(self):
        bare = self.run_guest('execlog', '').stdout
        traced = self.run_guest('execlog', ',trace=*,trace-file=@/trace')
        self.assertEqual(traced.stdout, bare)
        self.assertIn('execlog_lines', [name for name, _ in self.text('trace')])

    def test_record(self):
        for tool, event in ('uftrace', 'uftrace_end'), ('etrace', 'etrace_stream'), ('execlog', 'execlog_lines'):
            for spelling in '--control', '--trace-socket':
                done = self.must(GUESTTRACE, 'record', '--tool', tool, '-o', f'out-{tool}', '--trace', event, '--trace-file',
                                 'trace', spelling, 'socket', self.guest)
                self.assertEqual('--trace-socket is --control now' in done.stderr, spelling == '--trace-socket', done.stderr)
                self.assertEqual({name for name, _ in self.text('trace')}, {event})

    def test_one_socket(self):
        """trace-socket= is control=, as it was called: said, and not both."""
        done = self.run_guest('execlog', ',trace-socket=@/socket')
        self.assertIn('argument trace-socket= is control= now', done.stderr)
        for tool in 'uftrace', 'etrace', 'execlog':
            done = self.run_guest(tool, ',control=@/socket,trace-socket=@/other')
            self.assertNotEqual(done.returncode, 0)
            self.assertIn('are one socket now: give control= alone', done.stderr)

    def test_lines(self):
        """In lines, trace events answer with lines before the last one."""
        child = subprocess.Popen(self.command('execlog', ',trace-file=@/trace,control=@/socket', 'wait'), cwd=self.dir, text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with child:
            self.assertEqual(child.stdout.readline(), 'ready\n')
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(os.path.join(self.dir, 'socket'))
                answers = client.makefile()
                self.assertIn('"QMP"', answers.readline())
                client.sendall(b'trace-event execlog_l* on\ninfo trace-events execlog_l*\ntrace-event nobody on\nstop\n')
                self.assertEqual([answers.readline() for _ in range(3)], ['ok\n', 'execlog_lines : state 1\n', 'ok\n'])
                self.assertIn("error: unknown event 'nobody'", answers.readline())
                self.assertEqual(answers.readline(), 'error: unknown command stop: expected one of those that help lists\n')
            out = child.communicate('go\n', timeout=120)
        self.assertEqual(child.returncode, 0, out)
        self.assertEqual({name for name, _ in self.text('trace')}, {'execlog_lines'})

    def test_refused(self):
        for argument, message in (('trace=nobody', "trace event 'nobody' does not exist"),
                                  ('trace=nobody*', "no event's name matches"),
                                  ('trace-file=/no/such/file', '/no/such/file'),
                                  ('control=/no/such/file', '/no/such/file')):
            done = self.run_guest('uftrace', ',' + argument)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.dir, 'out')), argument)

    def test_nothing_exported(self):
        for tool in ('uftrace', 'etrace', 'execlog'):
            exported = {s.name for s in elf.defined(paths.plugin(tool)) if s.table == elf.SHT_DYNSYM}
            self.assertEqual(exported, {'qemu_plugin_install', 'qemu_plugin_version'})


cases.main('gcc', qemus.user_of('x86_64'))
