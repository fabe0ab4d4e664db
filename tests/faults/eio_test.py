#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A file system that fails: each call of the writer's, at its first use and later, once and for good."""
import errno
import os
import re

from gttest.results import need
from runs import COMPACT, calls_of, expect, main

ROUNDS = '200000' if COMPACT else '20000'   # of 6 records: some blocks of a file
FEW = '2000'                               # where it is not records that are lost
RECORDS, WRITE = ('.gtrace', 'write') if COMPACT else ('.dat', 'pwritev')
LOST = r'/.*: (Input/output error|Cannot allocate memory): (all )?(\d+ of )?\d+ records are lost.*'
TEXT = r'/.*: cannot be (created|written|opened).*: Input/output error; view the rest with: .*'


def faulty(t, rules, times=None, rounds=ROUNDS):
    """The guest with these faults; it must not notice."""
    env = dict(os.environ, FAULTY=rules)
    if times:
        env['FAULTY_FOR'] = times
    name = re.sub(r'\W', '_', f'{rules}-{times}') + ('.gtrace' if COMPACT else '')
    t.out = f'{t.folder}/{name}'
    return t.both(t.guest('busy'), [rounds], status=7, preload=t.library('faulty'), env=env)


def whole(t, run, *said):
    """As expect; what the directory holds can be made whole."""
    expect(run, *said)
    t.repair(t.out)
    t.check(t.out, readers=False)


def test_records(t):
    """Writing to the record files; a file: its head is the first write, and made when it is first opened."""
    for call, after in (('write', 1), ('write', 3), ('open', 1)) if COMPACT else (
            ('pwritev', 0), ('pwritev', 3), ('openat', 0)):
        run = faulty(t, f'{call},{after},{errno.EIO},{RECORDS}')
        expect(run, LOST)
        if after > (1 if COMPACT else 0):
            t.check_all(killed=COMPACT)  # nor could the text files be written to it


def test_once(t):
    """An error that goes away: nothing comes after the first lost record."""
    expect(faulty(t, f'{WRITE},3,{errno.EIO},{RECORDS}', '1'), LOST)
    t.check_all()


def test_short_writes(t):
    whole(t, faulty(t, 'short,0,1,' + RECORDS, '50'))
    t.check_all()


def test_cutting_fails(t):
    """A write that fails in the middle of a record, which cannot be cut off."""
    run = faulty(t, f'short,2,1,{RECORDS} {WRITE},3,{errno.EIO},{RECORDS} ftruncate,0,{errno.EIO},{RECORDS}')
    expect(run, LOST)
    t.check_all(killed=True)


def test_pool(t):
    """Without its pool file the recording only loses its protection from being killed."""
    for rule in (f'openat,0,{errno.EIO},.ring', f'fallocate,0,{errno.EIO},.ring',
                 f'mmap,0,{errno.EIO},.ring', f'madvise,0,{errno.EFAULT},*'):
        expect(faulty(t, rule.replace('*', '.ring')))
        t.check_all(readers=False)
        need(calls_of(t.out, 'leaf') == 2 * int(ROUNDS), rule)


def test_text_files(t):
    """Text files that cannot be written at first are there at the end; else that is told."""
    for call, name in (('write', 'task.txt'), ('write', '.tmp'), ('rename', 'info'), ('rename', '.sym'),
                       ('rename', '.map'), ('open', 'task.txt'), ('open', '.tmp')):
        for times in ('1', None):
            run = faulty(t, f'{call},0,{errno.EIO},{name}', times, FEW)
            if times:
                expect(run)
                t.check_all(readers=name == '.tmp')
            elif name == 'task.txt':
                expect(run, TEXT)  # without it nobody knows what the files are
            else:
                whole(t, run, TEXT)
            left = [n for n in os.listdir(t.folder if COMPACT else t.out) if n.endswith('.tmp')]
            need(not left, left)


if __name__ == '__main__':
    main(globals())
