#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest sees of itself and does to itself: the same with the plugin, and the recording whole."""
import os
import subprocess
import time

from gttest.commands import SECONDS, run
from gttest.results import Skip, need
from runs import COMPACT, SUMMARY, calls_of, expect, main


def test_self(t):
    """Descriptors, signal masks and dispositions, limits, children, environment."""
    for arch in ('x86_64', 'aarch64'):
        out = f'{t.out}-{arch}'
        run = t.both(t.guest('odd', arch), ['self'], status=6, arch=arch, out=out)
        need(b'wait4 -1 10\n' in run.out and b'lowest 3\n' in run.out, run.out)
        expect(run)
        t.check_all(out, readers=arch == 'x86_64')


def test_files_closed(t):
    for mode in ('close', 'close-all'):
        out = f'{t.out}-{mode}'
        expect(t.both(t.guest('odd'), [mode], status=6, out=out))
        t.check_all(out)


def test_umask(t):
    """Ours is that of the start, also in children: files that nobody may open would end a recording
    of a user who is not root."""
    expect(t.both(t.guest('odd'), ['umask'], status=6))
    paths = [t.out] if COMPACT else [f'{t.out}/{name}' for name in os.listdir(t.out)]
    for path in paths:
        need(os.stat(path).st_mode & 0o600 == 0o600, path)
    t.check_all()


def test_chdir(t):
    run = t.both(t.guest('odd'), ['chdir', '/'], status=6, out='data', cwd=t.folder)
    expect(run)
    t.check_all()


def test_chroot(t):
    """Ours stays outside, and so do children that begin inside."""
    if os.geteuid() != 0:
        raise Skip('no root, so no chroot')
    os.mkdir(f'{t.folder}/jail')
    run = t.both(t.guest('odd'), ['chroot', f'{t.folder}/jail'], status=6)
    need(b'chroot 0 0' in run.out, run.out)
    expect(run)
    t.check_all()


def test_few_descriptors(t):
    """Three are enough for us; without, what was open goes on: in a file, all threads."""
    cases = {5: (4, ()), 4: (4, ()),
             0: (3 if COMPACT else 2, (r'.*: Too many open files: all \d+ records of process \d+ are lost; .*',))}
    for most, (calls, said) in cases.items():
        out = f'{t.out}-{most}'
        expect(t.both(t.guest('odd'), ['nofile', str(most)], status=6, out=out), *said)
        t.repair(out)
        t.check(out)
        got = calls_of(out, 'some_calls')
        need(got == calls, most, got)


def test_other_user(t):
    """A guest that gives up its rights and may start no thread."""
    if os.geteuid() != 0:
        raise Skip('no root, so no rights to give up')
    expect(t.both(t.guest('odd'), ['noproc'], status=6))
    t.check_all()


def run_with_stderr(t, stderr, before=()):
    """The traced guest's end, its standard error being what it is."""
    command = [*before, *t.command(t.guest('odd'), ['umask'], (), t.out)]
    done = run(command, stderr=stderr)
    need(done.returncode == 6 and done.stdout == b'child 768\n', done)
    t.check_all()


def test_stderr_closed(t):
    run_with_stderr(t, None, ['sh', '-c', 'exec "$@" 2>&-', 'sh'])


def test_stderr_without_reader(t):
    read_end, write_end = os.pipe()
    os.close(read_end)
    run_with_stderr(t, write_end)
    os.close(write_end)


def test_stderr_full(t):
    """A pipe that nobody reads holds up no guest that does not write to it."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    try:
        while os.write(write_end, bytes(4096)):
            pass
    except BlockingIOError:
        os.set_blocking(write_end, True)
    run_with_stderr(t, write_end)
    os.close(read_end)
    os.close(write_end)


def test_stderr_of_the_guest(t):
    """A file of its own where standard error was takes none of our lines."""
    path = f'{t.folder}/own'
    run = t.both(t.guest('odd'), ['stderr', path], status=6)
    with open(path, 'rb') as f:
        content = f.read()
    need(content == b'mine 2\n', content)
    need(run.all_errors == b'', run.all_errors)
    t.check_all()


def test_daemon(t):
    """Its pipes reach their end while the daemon lives."""
    fifo = f'{t.folder}/fifo'
    os.mkfifo(fifo)
    for traced in (False, True):
        plugin = () if traced else None
        command = t.command(t.guest('odd'), ['daemon', fifo], plugin, t.out)
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as p:
            out, err = p.communicate(timeout=SECONDS)
        need(p.returncode == 5 and not out, p.returncode, out)
        need(not traced or SUMMARY.search(err), err)
        with open(fifo, 'wb'):
            pass
    end = time.monotonic() + SECONDS
    while os.path.exists(t.out + '.parts') if COMPACT else [n for n in os.listdir(t.out) if n.endswith('.ring')]:
        need(time.monotonic() < end, 'the daemon does not end')
        time.sleep(0.01)
    t.check_all()


if __name__ == '__main__':
    main(globals())
