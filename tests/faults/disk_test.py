#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks that fill: at the start, in the middle, at the end; no inodes; limits and quotas."""
import os

from gttest.commands import limit_files, run
from gttest.paths import GUESTTRACE, LONG
from gttest.results import Skip, need, read_bytes
from runs import COMPACT, VIEW, expect, main, needs_exit, opened, sanitizers, trace_of

LOST = r'(/.*): {}: (\d+) of (\d+) records are lost; view the rest with: ' + VIEW
FULL = LOST.format('No space left on device')
# Times of a host's clock are not predictable: a record takes about a byte.
HOST = ['clock=host'] if COMPACT else []
ROUNDS = (300000 if LONG else 150000) if COMPACT else 30000   # of 6 records: 2.9 MB of them in a directory


def fill(disk, leave=0):
    """Leaves so many bytes; the file that takes the rest."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize
    with open(f'{disk}/filler', 'wb') as f:
        f.write(bytes(free - leave))
    return f'{disk}/filler'


def lossy(t, disk, done, pattern=FULL, can_grow=True):
    """One line; what was recorded is whole, and the loss is marked in it."""
    expect(done, pattern)
    need(not done.summary, done.summary)
    if COMPACT and not can_grow:  # its text files are still beside it
        t.repair(f'{disk}/data')
    stats = trace_of(f'{disk}/data').stats
    need(stats['lost_records'] > 0 and
         f"{stats['lost_records']} of {stats['lost_records'] + stats['records']} " in done.said[0],
         stats, done.said)
    if can_grow:
        need(b'guesttrace:lost' in read_bytes(f"{opened(f'{disk}/data')}/events.txt"), 'no guesttrace:lost')
    t.check_all(f'{disk}/data', killed=not can_grow)


def readable(t, disk, done):
    """Whole; or, where there was no room even for text files, whole after a repair that has room."""
    need(len(done.said) <= 1, done.said)
    if not done.said:
        t.check_all(f'{disk}/data')
    elif ' all ' not in done.said[0]:
        need('No space left on device' in done.said[0], done.said)
        run(['mount', '-o', 'remount,size=20m,nr_inodes=1000', disk])
        t.repair(f'{disk}/data')
        t.check(f'{disk}/data')


def test_middle(t):
    sizes = ('300k', '400k', '500k') if COMPACT else ('512k', '900k', '1m', '2m')
    for size in sizes if LONG else sizes[1::2]:
        disk = t.small_disk(size, 'size=' + size)
        done = t.both(t.guest('busy'), [str(ROUNDS)], status=7, out=f'{disk}/data', plugin=HOST)
        lossy(t, disk, done)


def refused(t, disk):
    """A file without room for its head: the guest does not run, and nothing is left."""
    needs_exit()
    before = os.listdir(disk)
    done = t.traced(t.guest('busy'), ['100'], out=f'{disk}/data')
    need(done.status == 1 and done.out == b'', done.status, done.out)
    expect(done, r'/.*: No space left on device')
    need(os.listdir(disk) == before, os.listdir(disk))


def test_start(t):
    """Not a byte is left: there is no recording, and that is said."""
    disk = t.small_disk()
    fill(disk)
    if COMPACT:
        refused(t, disk)
        return
    done = t.both(t.guest('busy'), ['100'], status=7, out=f'{disk}/data')
    expect(done, r'/.*/data/\d+.dat: No space left on device: all \d+ records are lost')
    need(all(os.path.getsize(f'{disk}/data/{n}') == 0 for n in os.listdir(f'{disk}/data')),
         os.listdir(f'{disk}/data'))


def test_start_by_command(t):
    """The command says nothing of its own beside what the plugin says."""
    disk = t.small_disk()
    fill(disk)
    if sanitizers():
        raise Skip('the command preloads no sanitizer into QEMU')
    form = ['--format', 'compact' if COMPACT else 'uftrace']
    done = run([GUESTTRACE, 'record', *form, '-o', f'{disk}/data', '--qemu', 'qemu-x86_64',
                        t.guest('busy'), '100'])
    need(done.returncode == (125 if COMPACT else 7), done)
    lines = [line for line in done.stderr.splitlines() if not COMPACT or line.startswith(b'guesttrace-')]
    need(len(lines) == 1 and b'No space left on device' in lines[0], lines)


def test_end(t):
    """What is wanting at the end: the last records, a text file, nothing."""
    said = set()
    for pages in range(4, 200, 4 if LONG else 48):
        disk = t.small_disk(f'disk{pages}', 'size=4m')
        fill(disk, 4096 * pages)
        done = t.both(t.guest('busy'), ['1000'], status=7, out=f'{disk}/data')
        said.add(len(done.said))
        readable(t, disk, done)
    need(said == {0, 1}, 'sizes that make no difference')


def test_inodes(t):
    said = set()
    for n in range(2, 16, 1 if LONG else 2):
        disk = t.small_disk(f'inodes{n}', f'size=8m,nr_inodes={n}')
        if COMPACT and n < 4:  # the folder, the file, and what is beside it
            if not sanitizers():
                refused(t, disk)
            continue
        done = t.both(t.guest('busy'), ['1000'], status=7, out=f'{disk}/data')
        said.add(len(done.said))
        readable(t, disk, done)
    need(said == {0, 1}, 'numbers that make no difference')


def test_freed_later(t):
    """Space comes back in the middle: no record after the first lost one, but all text files."""
    disk = t.small_disk(options='size=8m')
    filler = fill(disk, 4096 * 50)
    done = t.both(t.guest('busy'), [str(ROUNDS), filler], status=7, out=f'{disk}/data', plugin=HOST)
    if done.said:  # the writer may have been late
        lossy(t, disk, done)
    else:
        t.check_all(f'{disk}/data')


def test_file_size_limit(t):
    done = t.both(t.guest('busy'), [str(ROUNDS)], status=7, preexec_fn=lambda: limit_files(200000), plugin=HOST)
    lossy(t, t.folder, done, LOST.format('File too large'), can_grow=False)


def test_quota(t):
    """As a quota does: EDQUOT."""
    rule = 'write,3,122,/data' if COMPACT else 'pwritev,10,122,.dat'
    done = t.both(t.guest('busy'), [str(ROUNDS)], status=7, preload=t.library('faulty'),
                  env=dict(os.environ, FAULTY=rule), plugin=HOST)
    lossy(t, t.folder, done, LOST.format('Disk quota exceeded'), can_grow=not COMPACT)


if __name__ == '__main__':
    main(globals())
