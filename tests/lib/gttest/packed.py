# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings between their two forms, by export: readers say the same of both."""
import glob
import os

from gttest.commands import must
from gttest.paths import GUESTTRACE
from gttest.results import need, read_bytes, same

FORMATS = 'chrome', 'perfetto', 'folded'


def said(recording, *command):
    """What a command prints of it, without its name."""
    return must([GUESTTRACE, *command, recording]).stdout.decode(errors='surrogateescape').replace(recording, 'NAME')


def exported(recording, form):
    name = f'{recording}.{form}'
    must([GUESTTRACE, 'export', '--format', form, '-o', name, recording])
    data = read_bytes(name).replace(recording.encode(), b'NAME')
    os.remove(name)
    return data


def check_same(one, two, *by):
    """Readers say the same of two recordings; `by`: FUNC:VALUE of report."""
    for command in ['replay', '--no-pager'], ['report', '--no-pager'], *(['report', '--no-pager', '--by', b] for b in by):
        same(said(two, *command), said(one, *command), f'{" ".join(command)} of {two} and of {one}')
    for form in FORMATS:
        need(exported(two, form) == exported(one, form), f'{form} of {two} is not that of {one}')


def check_there_and_back(folder, *by):
    """A directory becomes a file, of which readers say the same and which gives the same records back."""
    file, back = f'{folder}.packed', f'{folder}.back'
    done = must([GUESTTRACE, 'export', '--format', 'compact', '-o', file, folder])
    need(not done.stderr, 'export says', done.stderr)
    check_same(folder, file, *by)
    done = must([GUESTTRACE, 'export', '--format', 'uftrace', '-o', back, file])
    need(not done.stderr, 'export says', done.stderr)
    names = [os.path.basename(name) for name in glob.glob(f'{folder}/*.dat')]
    need(names, folder, 'has no records')
    for name in names:
        need(read_bytes(f'{back}/{name}') == read_bytes(f'{folder}/{name}'), f'{name} comes back as something else')
    return file, back
