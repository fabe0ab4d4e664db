#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a recording may go, and where not: refused before the guest begins, in one line of ours."""
import glob
import os
import shutil

from gttest.commands import run
from gttest.results import Skip, need, read_bytes
from runs import COMPACT, main, needs_exit


def refused(t, out, word, **more):
    needs_exit()
    run = t.traced(t.guest('busy'), ['10'], out=out, **more)
    need(run.status == 1 and run.out == b'', run.status, run.out)
    need(len(run.said) == 1 and word in run.said[0] and len(run.said[0]) < 600, run.said)
    need(run.errors.count(b'\n') == 1, run.errors)  # QEMU's own


def recorded(t, out, word=None, **more):
    run = t.both(t.guest('busy'), ['10'], status=7, out=word or out, **more)
    need(not run.said and len(run.summary) == 1, run.all_errors)
    t.check_all(out)


def snapshot(folder):
    return {n: read_bytes(f'{folder}/{n}') for n in os.listdir(folder)}


def test_refused(t):
    refused(t, f'{t.folder}/none/data', 'No such file or directory')
    with open(f'{t.folder}/file', 'w', encoding='utf-8') as f:
        f.write('mine')
    refused(t, f'{t.folder}/file', 'left alone')
    refused(t, f'{t.folder}/file/data', 'Not a directory')
    os.mkdir(f'{t.folder}/other')
    with open(f'{t.folder}/other/info', 'w', encoding='utf-8') as f:
        f.write('mine')
    before = snapshot(f'{t.folder}/other')
    refused(t, f'{t.folder}/other', 'left alone')
    need(snapshot(f'{t.folder}/other') == before, 'a folder of somebody else')
    os.symlink('nowhere', f'{t.folder}/dangling')
    refused(t, f'{t.folder}/dangling', 'dangling')


def test_long(t):
    """Too long for us, for the kernel, and one component for the file system."""
    refused(t, t.folder + '/x' * 2100, 'too long')
    refused(t, t.folder + '/x' * 2040, 'too long')
    refused(t, t.folder + '/' + 'x' * 300, 'too long')


def test_read_only(t):
    disk = t.small_disk()
    os.mkdir(f'{disk}/empty')
    run(['mount', '-o', 'remount,ro', disk])
    refused(t, f'{disk}/data', 'Read-only file system')
    refused(t, f'{disk}/empty', 'left alone' if COMPACT else 'Read-only file system')


def test_unwritable(t):
    if os.geteuid() != 0:
        raise Skip('no root, so no other user')
    os.chmod(t.folder, 0o755)
    os.mkdir(f'{t.folder}/empty', 0o755)
    more = {'preexec_fn': lambda: os.setuid(65534), 'cwd': '/'}
    t.guest('busy')
    t.plugin = shutil.copy(t.plugin, t.folder)  # that user may not reach the build folder
    try:
        refused(t, f'{t.folder}/data', 'Permission denied', **more)
        refused(t, f'{t.folder}/empty', 'left alone' if COMPACT else 'Permission denied', **more)
    except PermissionError as why:
        raise Skip('this QEMU is where no other user may go') from why


def test_odd_names(t):
    for name in ('with space', 'new\nline', 'a=b', 'quote"\'', os.fsdecode(b'\xff\xfe'), '-dash', '%s%n'):
        recorded(t, f'{t.folder}/{name}')
    recorded(t, f'{t.folder}/a,b', f'{t.folder}/a,,b')


def test_relative(t):
    recorded(t, f'{t.folder}/here', 'here', cwd=t.folder)
    os.mkdir(f'{t.folder}/sub')
    recorded(t, f'{t.folder}/there', '../there' if COMPACT else '../there/', cwd=f'{t.folder}/sub')
    recorded(t, f'{t.folder}/uftrace.data', './uftrace.data', cwd=t.folder)


def test_again(t):
    """A recording that is there is kept, once."""
    for _ in range(3):
        recorded(t, t.out)
    t.check(f'{t.out}.old')
    need(not COMPACT or not glob.glob(glob.escape(t.folder) + '/*.parts'), os.listdir(t.folder))
    need(not os.path.exists(f'{t.out}.old.old'), 'two kept')


if __name__ == '__main__':
    main(globals())
