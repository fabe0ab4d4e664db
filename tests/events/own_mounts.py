# SPDX-License-Identifier: GPL-2.0-or-later
"""A tracefs and a /dev/log of the test's own, in a mount namespace: nobody else's trace or log gets the lines."""
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

from gttest.results import Skip, read_text, status, write

LIMIT = 60


def mount(*words):
    done = subprocess.run(['mount', *words], capture_output=True, text=True, check=False, timeout=LIMIT)
    if done.returncode != 0:
        raise Skip(f'{words[1]} cannot be mounted: {done.stderr.strip()}')


@contextlib.contextmanager
def tracefs(folder):
    """An instance's folder, which is mounted last: so the events library takes it. Tracing is off there."""
    root, own = f'{folder}/root', f'{folder}/own'
    os.mkdir(root)
    os.mkdir(own)
    mount('-t', 'tracefs', 'none', root)
    instance = f'{root}/instances/guesttrace-{os.getpid()}'
    try:
        os.mkdir(instance)
    except OSError as error:
        raise Skip(f'no instance of tracefs: {error}') from error
    try:
        mount('--bind', instance, own)
        write(f'{own}/tracing_on', '0')
        yield own
    finally:
        subprocess.run(['umount', own], capture_output=True, check=False, timeout=LIMIT)
        os.rmdir(instance)


@contextlib.contextmanager
def log(folder):
    """/dev/log: the list of messages, whole when the block has ended."""
    dev = f'{folder}/dev'
    os.mkdir(dev)
    mount('-t', 'tmpfs', 'none', dev)
    for name in ('null', 'zero', 'urandom'):
        write(f'{dev}/{name}', '')
        mount('--bind', f'/dev/{name}', f'{dev}/{name}')
    os.mkdir(f'{dev}/shm')
    mount('--rbind', dev, '/dev')
    messages = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind('/dev/log')

        def listen():
            while message := listener.recv(65536):
                messages.append(message.decode())
        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield messages
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
                end.sendto(b'', '/dev/log')
            thread.join()


def inside(check):
    """Calls it with a folder, in the namespace; the script's arguments stay."""
    if os.geteuid() != 0:
        raise Skip('no root, so nothing can be mounted')
    if not os.environ.get('INSIDE'):
        if not shutil.which('unshare'):
            raise Skip('no unshare')
        words = ['unshare', '--mount', '--propagation', 'private']
        tried = subprocess.run([*words, 'true'], capture_output=True, text=True, check=False,
                               timeout=LIMIT)
        if tried.returncode != 0:
            raise Skip(f'no mount namespace: {tried.stderr.strip()}')
        return subprocess.run([*words, sys.executable, *sys.argv], env=dict(os.environ, INSIDE='1'),
                              check=False, timeout=2 * LIMIT).returncode
    with tempfile.TemporaryDirectory() as folder:
        try:
            check(folder)
        finally:
            for name in ('own', 'root', 'dev'):
                subprocess.run(['umount', '-l', f'{folder}/{name}'], capture_output=True, check=False,
                               timeout=LIMIT)
    return 0


def main(check):
    sys.exit(status(inside, check))


def traced(own):
    """The lines that were written to trace_marker."""
    return [line.split(': tracing_mark_write: ', 1)[1]
            for line in read_text(f'{own}/trace').splitlines() if ': tracing_mark_write: ' in line]
