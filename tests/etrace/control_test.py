#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands from outside, while the guest runs: counts of blocks on request, several times in one
stream; what is asked for wrongly; and nothing of it disturbs the guest."""
import collections
import os
import signal
import socket
import subprocess

from gttest import commands, elf, etrace, qemulog, sockets
from gttest.paths import GUESTTRACE
from gttest.results import need, read_text, write
from gttest.sockets import connected
from runs import BOARDS, SMALL, Control, each, main, type_x


def told(stream):
    """How often each range ran, by the last count of each; each one says what the last said."""
    last, since, snapshots = {}, 0, []
    for e in stream.of('event'):
        if e.device == 'etrace':
            need(e.name in ('counts', 'dropped') and e.value, e)
            if e.name == 'dropped':
                continue
            need(e.value == e.previous + 1, e)
            snapshots.append(since)
            since = 0
            continue
        need(e.device == 'coverage', e)
        need(e.previous == last.get(e.name, 0) and e.value > e.previous, e, last.get(e.name))
        last[e.name] = e.value
        since += 1
    return last, snapshots


def waiting_guest(t, arguments, *options):
    """A program that has counted to 100 and waits."""
    return t.user('x86_64', t.build('ask.S', 'x86_64', '-nostdlib'),
                  f',control={t.folder}/control' + arguments, *options, stdin=subprocess.PIPE)


def go_on(t, child, said=()):
    type_x(child)
    done = t.finish(child)
    need(done.status == 42 and done.said == list(said), done)


def ran_before_it_waits(t, control, stream):
    """Counts are asked for until one tells of the block that waits, and once more: who reads the
    counts may have passed the blocks before it too early. How many were asked for; what was told."""
    waits = f'{elf.symbols(f"{t.folder}/ask.S-x86_64")["waits"]:#x}-'
    n = seen = 0
    while seen < 2:
        n += 1
        answer = control.ask('counts')
        need(answer.startswith('ok ') and answer.endswith(f' counts, number {n}'), answer)
        counts, snapshots = told(stream(n))
        need(len(snapshots) == n, snapshots)
        seen += any(name.startswith(waits) for name in counts)
    return n, counts


def test_user(t):
    """What is there while the guest waits, and what is added in the end, are QEMU's own counts."""
    child = waiting_guest(t, ',flags=coverage', *qemulog.LOGGING, '-D', t.log)
    control = Control(t, child)
    _, early = ran_before_it_waits(t, control, lambda _: t.stream())
    need(len(early) >= 4 and max(early.values()) >= 99, early)
    go_on(t, child)
    log = qemulog.Log(t.log)
    all_counts, _ = told(t.stream())
    need(len(all_counts) > len(early), early, all_counts)
    want = collections.Counter(log.instructions())
    need(etrace.expand_counts(all_counts.items(), log.following) == want, 'counts')
    need(not os.path.exists(f'{t.folder}/control'), 'the socket is left')


def check_machine(arch, version, qemu, t):
    """Harts that never stop: counts grow with every request, of all harts; and in the end."""
    guest = t.guest('spin', arch)
    names = elf.symbols(guest)
    child = commands.start([qemu, *BOARDS[arch], '-smp', '18', *SMALL, '-kernel', guest, '-plugin',
                            t.word(f'output={t.out}', 'flags=coverage', f'control={t.folder}/control')])
    control = Control(t, child)
    loops = {'even': [], 'odd': []}
    number = 0
    while min(len(seen) for seen in loops.values()) < 4:
        number += 1
        answer = control.ask('counts')
        need(answer.startswith('ok ') and answer.endswith(f' counts, number {number}'), answer)
        counts, snapshots = told(t.stream())
        need(len(snapshots) == number, snapshots)
        for loop, seen in loops.items():
            now = sum(n for name, n in counts.items() if name.startswith(f'{names[loop]:#x}-'))
            need(not seen or now >= seen[-1], version, loop, now, seen)
            if now and now not in seen:
                seen.append(now)
    child.send_signal(signal.SIGTERM)
    done = t.finish(child)
    need(done.status == 0 and all('signal 15' in x for x in done.errors.splitlines()), done)
    final, _ = told(t.stream())
    need(sum(final.values()) > loops['even'][-1] + loops['odd'][-1], 'the end')


def test_machine(t):
    def check(arch, version, qemu, t):
        try:
            check_machine(arch, version, qemu, t)
        finally:
            for name in 'out', 'control':
                if os.path.exists(f'{t.folder}/{name}'):
                    os.unlink(f'{t.folder}/{name}')
    each('riscv64', check, t)


class Reader:
    """A stream as it comes."""
    def __init__(self, s):
        self.socket, self.data = s, bytearray()

    def snapshots(self, n):
        """What there is up to the mark of so many counts."""
        while self.data.count(b'etrace\0counts\0') < n:
            some = self.socket.recv(1 << 16)
            need(some, 'the stream ended')
            self.data.extend(some)
        return etrace.Stream(bytes(self.data))


def dropped_counts(control):
    """Asks for counts: whether anything was dropped meanwhile."""
    before = control.ask('status').partition('dropped=')[2]
    control.ask('counts')
    return control.ask('status').partition('dropped=')[2] != before


def test_second_reader(t):
    """Who comes later is told all: totals, of which this stream said nothing before."""
    path = f'{t.folder}/sock'
    t.out = f'unix:{path}'
    child = waiting_guest(t, ',flags=coverage,reconnect=on')
    control = Control(t, child)
    with connected(path, child) as s:
        _, first = ran_before_it_waits(t, control, Reader(s).snapshots)
    while control.ask('counts').startswith('ok') and 'dropped=0' in control.ask('status'):
        pass  # until it is seen that the reader is gone
    with connected(path, child) as s:
        s.recv(40, socket.MSG_WAITALL | socket.MSG_PEEK)  # it is served
        while dropped_counts(control):
            pass  # it has the head of the stream, and is not yet sent more
        control.ask('counts')
        second, _ = told(Reader(s).snapshots(2))
    need(first == second and len(first) >= 4, first, second)
    child.kill()
    child.communicate()


def test_commands(t):
    child = waiting_guest(t, ',flags=exec')
    silent, control = Control(t, child), Control(t, child)
    while 'vcpus=1' not in control.ask('status'):
        need(child.poll() is None, 'the guest has ended')
    need(control.ask('counts') == 'error: counts: flags=coverage was not asked for', 'counts')
    need(control.ask('flush') == 'ok', 'flush')
    need(control.ask('').startswith('error: unknown command :'), 'an empty line')
    need(control.ask('stop\r') == 'error: unknown command stop: expected counts, flush or status',
         'stop')
    answer = control.ask('status')
    need(answer.startswith('ok written=') and ' dropped=0 vcpus=1' in answer, answer)
    control.socket.sendall(b'status\nstatus\n')
    need(control.lines.readline() == control.lines.readline() == answer.encode() + b'\n', 'two')
    control.close()
    crowd = [Control(t, child) for _ in range(12)]
    need(crowd[0].ask('flush') == 'ok', 'one of many')
    go_on(t, child)
    for c in [silent, *crowd]:
        c.close()


def ctl(t, *words, **more):
    return t.run([GUESTTRACE, 'ctl', f'{t.folder}/control', *words], **more)


def test_ctl(t):
    """`guesttrace ctl` takes this socket, too."""
    child = waiting_guest(t, ',flags=coverage')
    connected(f'{t.folder}/control', child).close()
    done = ctl(t, 'flush')
    need(done.status == 0 and done.out == b'ok\n' and not done.errors, done)
    with subprocess.Popen(['printf', 'counts\n# two\ncounts\n'], stdout=subprocess.PIPE) as lines:
        done = ctl(t, stdin=lines.stdout)
    need(done.status == 0 and done.out.count(b'counts, number') == 2, done)
    done = ctl(t, 'stop')
    need(done.status == 1 and done.errors == 'guesttrace ctl: unknown command stop: expected counts, '
         'flush or status\n', done)
    crowd = [Control(t, child) for _ in range(32)]
    for c in crowd:
        need(c.ask('flush') == 'ok', 'one of them')
    done = ctl(t, 'flush')
    need(done.status == 1 and done.errors == f'guesttrace ctl: {t.folder}/control: too many clients: at most 32\n', done)
    go_on(t, child)
    for c in crowd:
        c.close()


def test_threads_come(t):
    """Counts are asked for while threads begin and end."""
    child = t.user('x86_64', t.build('threads.c', 'x86_64', '-O1', '-pthread'),
                   f',flags=coverage,control={t.folder}/control', command=['threads'])
    control = Control(t, child)
    try:
        while control.ask('counts'):
            pass
    except OSError:
        pass
    done = t.finish(child)
    need(done.status == 42 and not done.said, done)
    told(t.stream())


def test_refused(t):
    guest = t.build('ask.S', 'x86_64', '-nostdlib')
    busy = sockets.listen(f'{t.folder}/busy')
    write(f'{t.folder}/file', 'mine')
    for path, words in [(f'{t.folder}/file', 'exists and is not a socket'),
                        (f'{t.folder}/busy', 'another process is listening there'),
                        ('x' * 200, 'at most 107 bytes'), (f'{t.folder}/no/file', 'No such file')]:
        done = t.finish(t.user('x86_64', guest, f',control={path}'))
        need(done.status == 1 and len(done.said) == 1 and words in done.said[0], path, done)
    need(read_text(f'{t.folder}/file') == 'mine', 'the file was changed')
    busy.close()


if __name__ == '__main__':
    main(globals())
