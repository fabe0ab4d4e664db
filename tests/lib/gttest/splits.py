# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings in several files: what they are made of, and one run that is recorded in one file and in parts."""
import glob
import os
import re
import shutil

from gttest import compilers, paths
from gttest.commands import must, run
from gttest.paths import GUESTTRACE
from gttest.results import need, read_bytes

EXPORTS = ['perfetto', 'chrome', 'folded', 'speedscope', 'callgrind', 'pprof', 'firefox']
READINGS = [['report'], ['report', '--by', 'task'], ['graph'], ['replay'], ['replay', '--flat']]


def build(folder, most=511):
    """The program of tests/faults/guests/steps.c. Texts of calls that are shown indented are large where many are open."""
    return compilers.compile_to(f'{folder}/steps', 'x86_64', paths.source('faults', 'guests', 'steps.c'), '-O1', '-g0',
                                '-D_GNU_SOURCE', f'-DMOST={most}', *compilers.AS_WRITTEN, '-pthread', f'-I{paths.source("guest")}')


def parts(out):
    """FILE.1 ..., in order."""
    numbers = [n[len(out) + 1:] for n in glob.glob(glob.escape(out) + '.*')]
    return [f'{out}.{n}' for n in sorted((n for n in numbers if n.isdigit()), key=int)]


def size(out):
    return sum(os.path.getsize(p) for p in [out, *parts(out)])


class Both:
    """One run of QEMU in one file, `one`, and in parts, `set`: with the same times, ids and, since their folders differ,
    names."""

    def __init__(self, folder, split, *arguments):
        os.makedirs(f'{folder}/one')
        os.makedirs(f'{folder}/set')
        self.folder, self.one, self.set = folder, f'{folder}/one/run', f'{folder}/set/run'
        second = shutil.copy(paths.plugin('uftrace'), f'{folder}/second.so')  # QEMU loads no plugin twice
        common = ['format=compact', 'clock=insn', 'summary=off', *arguments]
        self.plugins = [','.join([paths.plugin('uftrace'), 'output=' + self.one, *common]),
                        ','.join([second, 'output=' + self.set, 'split=' + split, *common])]

    def words(self):
        """QEMU's."""
        return [word for plugin in self.plugins for word in ('-plugin', plugin)]

    def record(self, qemu, *words, **more):
        return must([qemu, *self.words(), *words], **more)

    def read(self, which, *words):
        """What a reading command says of one of them, named as the other is."""
        done = run([GUESTTRACE, *words, 'run'], cwd=f'{self.folder}/{which}')
        need(done.returncode == 0, words, which, done.stderr)
        return done.stdout, done.stderr

    def info(self, which):
        """Without what the form of the recording, or when it was written, decides."""
        return re.sub(rb'(?m)^(?:size|recorded) +: .*\n|, [\d.]+ bytes each$', b'', self.read(which, 'info')[0])

    def check(self, least, turn):
        """All readers give the same of both; without GUESTTRACE_LONG a third of the exporters, others with each turn."""
        need(len(parts(self.set)) >= least and not parts(self.one), 'parts:', parts(self.set))
        need(not os.path.exists(self.set + '.parts'), 'the working directory is left')
        for words in READINGS:
            one, several = self.read('one', *words), self.read('set', *words)
            need(one[0] and one == several, words, 'differ', several[1])
        need(self.info('one') == self.info('set'), 'info', self.info('one'), self.info('set'))
        for form in EXPORTS if paths.LONG else EXPORTS[turn % 3::3]:
            for which in 'one', 'set':
                self.read(which, 'export', '--format', form, '-o', f'../{which}.{form}')
            need(read_bytes(f'{self.folder}/one.{form}') == read_bytes(f'{self.folder}/set.{form}'), form, 'differs')
