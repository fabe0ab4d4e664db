#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""SystemTap reads the tapset and the scripts, and finds each probe and its arguments in the program.

It runs no script here: that takes a kernel with its headers. A folder that looks like a kernel's is
enough for it to parse and to resolve."""
import os

from gttest import cases
from gttest.paths import TRACETOOL
from tracetool_case import TracetoolTest

KERNEL = {'.config': 'CONFIG_TRACEPOINTS=y\nCONFIG_ARCH_SUPPORTS_UPROBES=y\nCONFIG_UPROBES=y\n',
          'Module.symvers': '', 'include/config/kernel.release': '6.1.0\n',
          'include/generated/utsrelease.h': '#define UTS_RELEASE "6.1.0"\n'}
# name: the arguments, as the tapset names them
PROBES = {'queue_push': 'q n name', 'queue_drain': '', 'no_format': 'bytes size',
          'sizes': 'c b u z i h', 'words': 'next_ for_ string_ probe_ class', 'cpu_reset': '__cpu',
          'guest_mem_trans': '__cpu info', 'guest_mem_exec': '__cpu vaddr info'}


class Stap(TracetoolTest):
    def setUp(self):
        super().setUp()
        for name, text in KERNEL.items():
            self.write('kernel/' + name, text)

    def stap(self, *words):
        return self.run_in('stap', '-r', self.path('kernel'), *words)

    def test_finds_the_probes(self):
        done = self.stap('-p1', '-e', 'probe begin {}')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.take_demo()
        self.generate('e', 'dtrace', options=['--provider=demo'])
        self.write('main.c', '#include "trace-demo.h"\nint main(void)\n{\n    trace_queue_drain();\n'
                             '    return 0;\n}\n')
        for name in ('main', 'trace-demo'):
            self.compile('gcc', f'{name}.c', f'{name}.o', '-O1')
        self.link('main', 'main.o', 'trace-demo.o')
        os.mkdir(self.path('tapset'))
        for name in ('stap', 'log-stap', 'simpletrace-stap'):
            self.must(TRACETOOL, f'--format={name}', '--backends=dtrace',
                      '--group=demo', '--binary=' + self.path('main'), '--probe-prefix=my.demo', 'e',
                      f'tapset/{name}.stp')
        self.check_list()
        for script in ('log', 'simpletrace'):
            done = self.stap('-p2', '-I', 'tapset', '-e', f'probe my.demo.{script}.* {{}}')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count('.statement(') // 2, len(PROBES), done.stdout)

    def check_list(self):
        found = {}
        for line in self.stap('-I', 'tapset', '-L', 'my.demo.*').stdout.split('\n'):
            if line:
                name, *arguments = line.split()
                found[name] = ' '.join(a.split(':')[0] for a in arguments if a[0] != '$')
                self.assertEqual(sum(a[0] == '$' for a in arguments) * 2, len(arguments))
        self.assertEqual(found, {'my.demo.' + name: words for name, words in PROBES.items()})


cases.main('stap', 'gcc')
