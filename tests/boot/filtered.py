# SPDX-License-Identifier: GPL-2.0-or-later
"""A Linux that is recorded whole and, in the same run, by copies of the plugin with filters."""
import re
import shutil
from glob import glob

from gttest import paths
from gttest.commands import printed
from gttest.recordings import check_directory
from gttest.results import need, same

DEPTH = '1048576'


def flat(out, *options):
    """`guesttrace replay --flat`, without the lines of the console and of triggers."""
    text = printed([paths.GUESTTRACE, 'replay', '--no-pager', '--flat', *options, out])
    return re.sub(r'(?m)^ *\S+ +- +- console .*\n', '', text)


class Copies:
    """A plugin each of these lists of arguments; all have the clock of instructions, and all levels of calls if they do not say how
    many."""

    def __init__(self, folder, sets):
        self.whole, self.folder, self.words = f'{folder}/whole', folder, []
        self.options = ['--format', 'uftrace', '--clock', 'insn', '--depth', DEPTH]  # of record
        for i, arguments in enumerate(sets):
            levels = [] if any(word.startswith('depth=') for word in arguments) else [f'depth={DEPTH}']
            copy = shutil.copy(paths.plugin('uftrace'), f'{folder}/{i}.so')
            self.words += ['-plugin', ','.join([f'{copy},output={self.out(i)},clock=insn,summary=off,code={self.whole}.code.map', *levels,
                                                *arguments])]

    def out(self, i):
        return f'{self.folder}/{i}'

    def take_names(self, i):
        """Of the whole recording's functions, by address: the recording of copy i."""
        out = self.out(i)
        check_directory(out, readers=False)
        for path in glob(f'{self.whole}/*.sym') + [f'{self.whole}/code.found']:
            shutil.copy(path, out)
        known, own = (glob(f'{d}/sid-*.map')[0] for d in (self.whole, out))
        shutil.copy(known, own)
        return out

    def flat_of(self, i):
        return flat(self.take_names(i))

    def compare(self, i, options, least):
        """Copy i has what the reader shows of the whole recording with the options: calls of at least so many functions."""
        wanted = flat(self.whole, *options)
        same(self.flat_of(i), wanted, f"record {' '.join(options)}:")
        names = set(re.findall(r'enter .* (\S+)$', wanted, re.M))
        need(len(names) >= least, options, 'shows only', names)
        return wanted
