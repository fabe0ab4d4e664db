#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""No room for a new part: the guest is undisturbed, it is said once, and what is recorded can be read."""
import re

from gttest import splits
from gttest.commands import must, run
from gttest.paths import GUESTTRACE, LONG
from gttest.results import need
from runs import expect, main, trace_of

ROUNDS = '300'
SPLIT = ['split=64K', 'clock=insn']


def recorded(out):
    """What can be read of it; it says how much that is."""
    done = must([GUESTTRACE, 'info', out])
    return int(re.search(rb'records +: ([\d,]+)', done.stdout)[1].replace(b',', b'')), done.stderr


def test_no_file(t):
    """The disk has room, but not for one more file: the present part goes on, nothing is lost."""
    whole, said = None, set()
    for inodes in range(14, 42, 1 if LONG else 4):
        disk = t.small_disk(f'inodes{inodes}', f'size=16m,nr_inodes={inodes}')
        done = t.both(t.guest('steps'), [ROUNDS], out=f'{disk}/data', plugin=SPLIT)
        said.add(len(done.said))
        need(len(done.said) <= 1, done.said)
        if done.said:
            expect(done, r'/.*/data: it could not be split \d+ times: No space left on device; the parts are larger')
        records, errors = recorded(f'{disk}/data')
        need(not errors, errors)
        whole = whole or records
        need(records == whole, inodes, 'inodes:', records, 'records, not', whole)
    need(said == {0, 1}, 'numbers that make no difference', said)


def test_full(t):
    """Full at some place, of which some are the beginning of a part."""
    said = set()
    for size in range(200, 900, 12 if LONG else 100):
        disk = t.small_disk(f'size{size}', f'size={size}k')
        done = t.both(t.guest('steps'), [ROUNDS], out=f'{disk}/data', plugin=SPLIT)
        said.add(len(done.said))
        lost = [line for line in done.said if 'are lost' in line]
        need(len(lost) <= 1 and len(set(done.said)) == len(done.said), done.said)
        need(all('No space left on device' in line for line in done.said), done.said)
        if lost:
            run(['mount', '-o', 'remount,size=20m', disk])
            t.repair(f'{disk}/data')
        records, errors = recorded(f'{disk}/data')
        need(not errors, errors)
        if lost:
            there, all_of = (int(n) for n in re.search(r'(\d+) of (\d+) records', lost[0]).groups())
            need(records >= all_of - there, records, lost)
    need(len(said) > 1, 'sizes that make no difference', said)


def test_clock(t):
    """The clock becomes the host's with the second thread, in the middle of a part or at its border."""
    program = t.guest('steps')
    for rounds in range(60, 240, 20 if LONG else 60):
        out = f'{t.folder}/clock{rounds}'
        done = t.both(program, [str(rounds), 'threads', '1'], out=out, plugin=['split=64K'])
        expect(done)
        need(splits.parts(out), 'no parts')
        records, errors = recorded(out)
        need(not errors and records == trace_of(out).stats['records'], records, errors)
        t.check(out)


if __name__ == '__main__':
    main(globals())
