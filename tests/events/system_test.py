#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The backends ftrace and syslog with the kernel's tracefs and with a listener at /dev/log.

usage: system_test.py tracefs|syslog FIRE

Both in a mount namespace of the test's own: tracefs is an instance of the test's, so that nobody else's
trace gets the lines, and /dev is another one. FIRE is fire.c: threads, each of which numbers its events."""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

from gttest.results import Skip, need, read_text, status, write

THREADS, EVENTS, LIMIT = 8, 500, 60


def mount(*words):
    done = subprocess.run(['mount', *words], capture_output=True, text=True, check=False, timeout=LIMIT)
    if done.returncode != 0:
        raise Skip(f'{words[1]} cannot be mounted: {done.stderr.strip()}')


def fire(program, backend):
    """Its process id."""
    with subprocess.Popen([program, f'hm_two,backends={backend}', '--', 'count', str(EVENTS),
                           str(THREADS)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        error = child.communicate(timeout=LIMIT)[1]
    need(child.returncode == 0 and not error, 'fire:', child.returncode, error)
    return child.pid


def check(events):
    """(thread, number) of each event: all are there, those of a thread one after the other."""
    numbers = {}
    for thread, number in events:
        numbers.setdefault(int(thread), []).append(int(number))
    need(sorted(numbers) == list(range(THREADS)), 'threads', sorted(numbers))
    for thread, found in numbers.items():
        need(found == list(range(EVENTS)), 'events of thread', thread, found)


def test_tracefs(program, folder):
    """The library takes the tracefs that was mounted last."""
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
        fire(program, 'ftrace')
        need(read_text(f'{own}/tracing_on') == '1\n', 'tracing is off')
        text = read_text(f'{own}/trace')
        found = re.findall(r': tracing_mark_write: hm_two a (\d+) b (\d+)$', text, re.MULTILINE)
        need(len(found) == text.count('tracing_mark_write'), text[:2000])
        check(found)
    finally:
        subprocess.run(['umount', own], capture_output=True, check=False, timeout=LIMIT)
        os.rmdir(instance)


def test_syslog(program, folder):
    dev = f'{folder}/dev'
    os.mkdir(dev)
    mount('-t', 'tmpfs', 'none', dev)
    for name in ('null', 'zero', 'urandom'):
        write(f'{dev}/{name}', '')
        mount('--bind', f'/dev/{name}', f'{dev}/{name}')
    mount('--rbind', dev, '/dev')
    messages = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind('/dev/log')

        def listen():
            while message := log.recv(65536):
                messages.append(message.decode())
        thread = threading.Thread(target=listen)
        thread.start()
        pid = fire(program, 'syslog')
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.sendto(b'', '/dev/log')
        thread.join()
    form = re.compile(r'<30>\w{3} [ \d]\d \d\d:\d\d:\d\d %s\[%d\]: hm_two a (\d+) b (\d+)' %
                      (os.path.basename(program), pid))  # 30: LOG_DAEMON, LOG_INFO
    found = [form.fullmatch(message) for message in messages]
    need(all(found), [m for m, f in zip(messages, found) if not f][:3])
    check(match.groups() for match in found)


def main():
    what, program = sys.argv[1:3]
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
            {'tracefs': test_tracefs, 'syslog': test_syslog}[what](program, folder)
        finally:
            for name in ('own', 'root', 'dev'):
                subprocess.run(['umount', '-l', f'{folder}/{name}'], capture_output=True, check=False,
                               timeout=LIMIT)
    return 0


sys.exit(status(main))
