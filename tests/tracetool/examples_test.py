#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The example projects, built and run with nothing but what `make install DESTDIR=...` installs."""
import glob
import os
import shutil
import subprocess
import tempfile

from gttest import cases, paths
from tracetool_case import TracetoolTest

QUEUE = '''queue_push queue Q item 1 depth 1
queue_push queue Q item 4 depth 2
queue_push queue Q item 9 depth 3
queue_full queue Q: an item is lost
queue_full queue Q: an item is lost
queue_pop queue Q item 1 depth 2
queue_pop queue Q item 4 depth 1
queue_pop queue Q item 9 depth 0
'''
PRIMES = '''prime_found 2
multiples_struck 2 has 4 multiples
prime_found 3
multiples_struck 3 has 2 multiples
prime_found 5
multiples_struck 5 has 1 multiples
prime_found 7
multiples_struck 7 has 0 multiples
'''


class Examples(TracetoolTest):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix='guesttrace-installed-')
        cls.addClassCleanup(shutil.rmtree, cls.root)
        done = subprocess.run(['meson', 'install', '-C', paths.BUILD, '--no-rebuild',
                               '--destdir', cls.root], capture_output=True, encoding='utf-8',
                              check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        pc, = glob.glob(cls.root + '/**/pkgconfig/guesttrace-events.pc', recursive=True)
        tool, = glob.glob(cls.root + '/**/bin/tracetool', recursive=True)
        lib = os.path.dirname(os.path.dirname(pc))
        cls.env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(pc), LC_ALL='C.UTF-8',
                       PKG_CONFIG_SYSROOT_DIR=cls.root, LD_LIBRARY_PATH=lib,
                       PATH=os.path.dirname(tool) + ':' + os.environ['PATH'])
        for name in ('MAKEFLAGS', 'MAKELEVEL', 'CFLAGS', 'LDFLAGS'):
            cls.env.pop(name, None)

    def test_manual_page(self):
        page, = glob.glob(self.root + '/**/man1/tracetool.1', recursive=True)
        self.assertGreater(os.path.getsize(page), 1000)

    def copy(self, project):
        shutil.copytree(os.path.join(paths.ROOT, 'examples', project), self.dir, dirs_exist_ok=True)

    def call(self, *command):
        return self.must(*command, env=self.env)

    def check_trace(self, trace, name):
        with open(self.path(trace), 'rb') as f:
            data = f.read()
        self.assertTrue(data.startswith(b'\xff' * 8))
        self.assertIn(name, data)

    def test_meson(self):
        self.copy('meson-project')
        self.call('meson', 'setup', 'build')
        self.call('ninja', '-C', 'build')
        program = self.path('build/queue')
        done = self.call(program)
        self.assertEqual((done.stdout, done.stderr), ('sum 14\n', ''))
        done = self.call(program, 'queue_*,file=q.trace')
        queue = done.stderr.split()[2]
        self.assertEqual((done.stdout, done.stderr.replace(queue, 'Q')), ('sum 14\n', QUEUE))
        self.check_trace('q.trace', b'an item is lost')
        done = self.call(program, 'help')
        self.assertEqual(set(done.stdout.split()), {'queue_push', 'queue_pop', 'queue_full',
                                                    'queue_check'})

    def test_pkg_config_names_tracetool(self):
        tool = self.call('pkg-config', '--variable=tracetool', 'guesttrace-events').stdout.strip()
        if not tool.startswith(self.root):  # some versions leave the sysroot to the caller
            tool = self.root + tool
        self.assertIn('simple', self.call(tool, '--list-backends').stdout)

    def test_make(self):
        self.copy('make-project')
        self.call('make')
        done = self.call(self.path('primes'), '10')
        self.assertEqual((done.stdout, done.stderr), ('4 primes\n', ''))
        done = self.call(self.path('primes'), '10', '*', 'file=p.trace')
        self.assertEqual((done.stdout, done.stderr), ('4 primes\n', PRIMES))
        self.check_trace('p.trace', b'multiples_struck')
        # an event that is added is there after `make`
        with open(self.path('trace-events'), 'a', encoding='utf-8') as f:
            f.write('more(void)\n')
        self.call('make')
        self.assertIn('trace_more(void)', self.read('trace-primes.h'))
        self.call('make', 'clean')
        self.assertEqual(sorted(f for f in os.listdir(self.dir) if f != 'p.trace'),
                         ['Makefile', 'primes.c', 'trace-events'])


cases.main('meson', 'ninja', 'make', 'gcc', 'pkg-config')
