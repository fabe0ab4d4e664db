# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of tracetool share: a folder of their own, running tracetool, compiling what it made.

TRACETOOL names the executable under test, EVENTS_INCLUDE and EVENTS_LIB the runtime's headers and
library.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TRACETOOL = os.environ['TRACETOOL']
INCLUDE = os.environ['EVENTS_INCLUDE']
LIB = os.environ['EVENTS_LIB']
MERGED = '/usr/share/qemu/trace-events-all'
WARNINGS = ['-Wall', '-Wextra', '-Werror']
OUTPUTS = {'h': 'trace-{}.h', 'c': 'trace-{}.c', 'd': 'trace-{}.d', 'rs': 'trace-{}.rs',
           'ust-events-h': 'trace-ust-{}.h', 'ust-events-c': 'trace-ust-{}.c'}


def skip(why):
    print(f'SKIP: {why}')
    sys.exit(77)


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            skip(f'no {program}')


def compilers():
    return [c for c in ('gcc', 'clang') if shutil.which(c)]


class TracetoolTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='guesttrace-tracetool-')
        self.addCleanup(shutil.rmtree, self.dir)

    def skip_part(self, why):
        """This test alone; the test runner wants to know."""
        print(f'SKIP: {why}')
        self.skipTest(why)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return path

    def read(self, name):
        with open(self.path(name), encoding='utf-8') as f:
            return f.read()

    def run_in(self, *command, **options):
        """In the test's folder; what it prints is text."""
        return subprocess.run(command, cwd=self.dir, capture_output=True, encoding='utf-8',
                              errors='replace', timeout=120, check=False, **options)

    def must(self, *command, **options):
        done = self.run_in(*command, **options)
        self.assertEqual(done.returncode, 0, f'{" ".join(command)}:\n{done.stdout}{done.stderr}')
        return done

    def tracetool(self, *arguments):
        return self.run_in(TRACETOOL, *arguments)

    def generate(self, events, backends, formats=('h', 'c'), group='demo', options=()):
        for name in formats:
            self.must(TRACETOOL, f'--format={name}', f'--backends={backends}', f'--group={group}',
                      *options, events, OUTPUTS[name].format(group))

    def compile(self, compiler, source, output, *flags, warnings=WARNINGS):
        return self.must(compiler, *warnings, f'-I{INCLUDE}', '-I.', *flags, '-c', source, '-o',
                         output)

    def link(self, output, *objects):
        self.must('gcc', *objects, '-o', output, f'-L{LIB}', '-lguesttrace-events')

    def run_program(self, name, *arguments, **options):
        env = dict(os.environ, LD_LIBRARY_PATH=LIB, LC_ALL='C.UTF-8')
        return self.must(self.path(name), *arguments, env=env, **options)
