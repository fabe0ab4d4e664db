#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of etrace's sockets: who may connect, what is replaced, and what is left when QEMU is
ended by a signal; and clients of control= that say too much, or are too many."""
import os
import signal
import stat
import subprocess

from gttest import commands, sockets
from gttest.paths import GUESTTRACE
from gttest.results import need
from gttest.sockets import connected
from runs import BOARDS, SMALL, Control, each, main

FATAL = signal.SIGTERM, signal.SIGINT, signal.SIGHUP


def open_umask():
    commands.limit_files()
    os.umask(0)


def waiting(t, arguments='', *options, **more):
    """A program that waits for a character."""
    return t.user('x86_64', t.build('ask.S', 'x86_64', '-nostdlib'),
                  f',control={t.folder}/control' + arguments, *options, stdin=subprocess.PIPE,
                  preexec_fn=open_umask, **more)


def dumping(path):
    return commands.start([GUESTTRACE, 'dump', f'unix:{path}'], preexec_fn=open_umask)


def is_private(path):
    mode = os.stat(path).st_mode
    return stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600


def need_gone(t, *words):
    left = [name for name in os.listdir(t.folder) if name.startswith(('stream', 'control'))]
    need(not left, *words, 'left', left)


def test_modes(t):
    """Whatever the umask is."""
    path = t.to_socket()
    child = waiting(t)
    Control(t, child).close()
    for name in 'stream', 'control':
        need(is_private(f'{t.folder}/{name}'), name, 'is open to others')
    os.killpg(child.pid, signal.SIGTERM)
    t.finish(child)
    child = dumping(path)
    connected(path, child).close()
    t.finish(child)
    child = dumping(path)
    while not os.path.exists(path):
        need(child.poll() is None, 'dump has ended')
    need(is_private(path), 'the socket of dump is open to others')


def test_signals(t):
    """QEMU is killed as without us, and nothing is left."""
    for fatal in FATAL:
        signal.signal(fatal, signal.SIG_DFL)  # not ignored, as below nohup; for all that is started here
    path = t.to_socket()
    for fatal in FATAL:
        child = waiting(t)
        Control(t, child).close()
        child.send_signal(fatal)
        need(t.finish(child).status == -fatal, fatal, 'status', child.returncode)
        need_gone(t, fatal)
        child = dumping(path)
        while not os.path.exists(path):
            need(child.poll() is None, 'dump has ended')
        child.send_signal(fatal)
        need(t.finish(child).status == -fatal, fatal, 'status of dump', child.returncode)
        need_gone(t, 'dump', fatal)


def test_machines(t):
    def check(arch, version, qemu, t):
        guest = t.guest('spin', arch)
        child = commands.start([qemu, *BOARDS[arch], '-smp', '18', *SMALL, '-kernel', guest,
                                '-plugin', t.word(f'output=unix:{t.folder}/stream', 'flags=coverage',
                                                  f'control={t.folder}/control')])
        reader = connected(f'{t.folder}/stream', child)
        control = Control(t, child)
        while control.ask('counts').startswith('ok 0 '):
            need(reader.recv(1 << 16), 'the stream has ended')
        child.send_signal(signal.SIGTERM)
        while reader.recv(1 << 16):
            pass
        need(t.finish(child).status == 0, version, 'status', child.returncode)
        need_gone(t, version)
    each('riscv64', check, t)


def test_guest_handles(t):
    """A guest that catches SIGTERM does; that it kills its child removes nothing."""
    child = t.user('x86_64', t.build('terms.c', 'x86_64', '-O1'), f',control={t.folder}/control')
    need(child.stdout.readline() == b'ready\n', 'the guest ended')
    need(is_private(f'{t.folder}/control'), 'the socket is gone')
    child.send_signal(signal.SIGTERM)
    need(t.finish(child).status == 7, 'status', child.returncode)
    need_gone(t)


def test_stale(t):
    """What a QEMU that was killed has left is replaced."""
    path = t.to_socket()
    for _ in range(2):
        child = waiting(t)
        Control(t, child).close()
        os.killpg(child.pid, signal.SIGKILL)
        t.finish(child)
        need(os.path.exists(path) and os.path.exists(f'{t.folder}/control'), 'no sockets')
    child = dumping(path)
    connected(path, child).close()
    t.finish(child)
    need(not os.path.exists(path), 'dump has left its socket')


def refused(t, child, words):
    done = t.finish(child)
    need(done.status == 1 and words in done.errors, words, done)
    need(os.path.exists(f'{t.folder}/control'), 'the socket was removed')


def test_busy(t):
    """Somebody listens there, even if he is too busy to take more, or is another user."""
    path = f'{t.folder}/control'
    guest = t.build('ask.S', 'x86_64', '-nostdlib')
    with sockets.listen(path, 0), sockets.connect(path):
        refused(t, t.user('x86_64', guest, f',control={path}'), 'another process is listening there')
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
        refused(t, t.user('x86_64', guest, f',control={path}'), "another user's socket")
    os.unlink(path)
    with open(path, 'w', encoding='utf-8'):
        refused(t, t.user('x86_64', guest, f',control={path}'), 'exists and is not a socket')
        refused(t, dumping(path), 'exists and is not a socket')


def test_long_line(t):
    """It gets an answer, and so does the next one."""
    child = waiting(t)
    control = Control(t, child)
    need(control.ask('x' * 100000) == 'error: too many bytes in a command: at most 79', 'long')
    need(control.ask('flush') == 'ok', 'the next one')
    need(control.ask('y' * 79).startswith('error: unknown command yyy'), 'the longest')
    control.close()


def test_crowd(t):
    """The 33rd is told so; when one has gone, another one may come."""
    child = waiting(t)
    crowd = [Control(t, child) for _ in range(32)]
    for c in crowd:
        need(c.ask('flush') == 'ok', 'one of them')
    late = connected(f'{t.folder}/control', child)
    need(late.makefile('rb').read() == b'error: too many clients: at most 32\n', 'the 33rd')
    late.close()
    crowd.pop().close()
    answer = ''
    while answer != 'ok':  # once it is seen that one has gone
        need(child.poll() is None, 'the guest has ended')
        another = Control(t, child)
        try:
            answer = another.ask('flush')
        except OSError:  # it was sent away
            another.socket.close()
        else:
            another.close()
    for c in crowd:
        c.close()


main(globals())
