# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of tracetool share: running tracetool, compiling what it made."""
import os
import shutil

from gttest import cases, paths
from gttest.paths import TRACETOOL

INCLUDE, LIB = paths.INCLUDE, paths.EVENTS_LIBRARY
GOLDEN = paths.source('tracetool', 'golden')
MERGED = '/usr/share/qemu/trace-events-all'
WARNINGS = ['-Wall', '-Wextra', '-Werror']
OUTPUTS = {'h': 'trace-{}.h', 'c': 'trace-{}.c', 'd': 'trace-{}.d', 'rs': 'trace-{}.rs',
           'ust-events-h': 'trace-ust-{}.h', 'ust-events-c': 'trace-ust-{}.c'}


def compilers():
    return [c for c in ('gcc', 'clang') if shutil.which(c)]


class TracetoolTest(cases.ScratchCase):
    def take_demo(self, name='e'):
        """The events of golden/, in the test's folder."""
        shutil.copy(os.path.join(GOLDEN, 'demo.events'), self.path(name))

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
