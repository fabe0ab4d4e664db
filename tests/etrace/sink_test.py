#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a stream goes, and what the guest does to itself meanwhile: the guest always does as without
us, with its exit status and its output, and what arrives is whole packets."""
import os
import signal
import subprocess
import time

from gttest import commands, etrace, qemus, sockets
from gttest.commands import tool
from gttest.etrace import Stream
from gttest.results import Failure, need, read_bytes, read_text, write
from runs import main, type_x

RESULT = b'599990\n'


class Reader(sockets.Reader):
    def stream(self):
        return Stream(self.bytes())


def guest(t):
    return t.build('threads.c', 'x86_64', '-O1', '-pthread')


def begin(t, arguments='', *command):
    return t.user('x86_64', guest(t), arguments, command=command)


NO_VALUES = ['values of memory']  # QEMU 7.2 tells none


def good(done, said=(), status=42, out=RESULT):
    need(done.status == status and done.out == out, done)
    if qemus.tells_values(tool('qemu-x86_64')):
        said = [words for words in said if words not in NO_VALUES]
    need(len(done.said) == len(said), done.said)
    for line, words in zip(done.said, said):
        need(words in line, line, 'is not', words)
    ours = [line for line in done.errors.split('\n') if line.startswith('guesttrace-etrace: ')]
    need(len(ours) == len([line for line in done.errors.split('\n') if line]), done.errors)


def instructions(stream):
    return sum(e.duration for e in stream.of('exec'))


def whole(t):
    good(t.finish(begin(t)))
    return instructions(t.stream())


def test_reader_listens(t):
    n = whole(t)
    reader = Reader(t.to_socket())
    good(t.finish(begin(t)))
    need(instructions(reader.stream()) == n, 'the stream is not whole')


def test_reader_is_late(t):
    n = whole(t)
    path = t.to_socket()
    child = begin(t)
    reader = Reader(path, listens=False)
    good(t.finish(child), ['waits for a reader, 60 s at most'])
    need(instructions(reader.stream()) == n, 'the stream is not whole')
    need(not os.path.exists(path), 'the socket is left')


def test_reader_is_absent(t):
    t.to_socket()
    good(t.finish(begin(t, ',wait=1')),
         ['waits for a reader, 1 s', 'no reader came within 1 s; nothing is recorded',
          '0 bytes were written, '])


def test_reader_goes(t):
    reader = Reader(t.to_socket(), 300000)
    done = t.finish(begin(t, ',flags=exec+mem'))
    good(done, ['values of memory', 'the reader is gone (', 'bytes dropped'])
    reader.join()
    need(len(reader.data) >= 300000, len(reader.data))


def test_reader_comes_again(t):
    """It begins with INFO and ARCH again, and a mark says how much is missing."""
    path = t.to_socket()
    first = Reader(path, 300000)
    child = t.user('x86_64', guest(t), ',flags=exec+mem,reconnect=on', command=['wait'],
                   stdin=subprocess.PIPE)
    first.join()
    os.unlink(path)
    second = Reader(path)
    while not second.data and child.poll() is None:
        time.sleep(0.01)
    type_x(child)
    done = t.finish(child)
    good(done, ['values of memory', 'what comes is dropped until there is a reader again',
                'bytes dropped'])
    stream = second.stream()
    marks = [e for e in stream.of('event') if e.name == 'dropped']
    need(marks and marks[0] is stream.items[0] and marks[0].device == 'etrace', marks)
    dropped = int(done.said[-1].split(', ')[1].split()[0])
    need(sum(m.value for m in marks) == dropped, 'marks', marks, done.said)


def test_live(t):
    """What ran is seen while the guest waits."""
    path = t.to_socket()
    for arguments, least, said in ('', BEFORE_IT_WAITS, []), (',flags=mem', STORES, NO_VALUES):
        reader = Reader(path)
        child = ask(t, arguments)
        until = time.monotonic() + commands.SECONDS
        seen = 0
        while seen < least and time.monotonic() < until:
            time.sleep(0.01)
            seen = amount(etrace.whole_prefix(bytes(reader.data))) if len(reader.data) >= 40 else 0
        os.unlink(path)
        answer(t, child, said)
        need(seen == least, 'seen while the guest waited:', seen, arguments)
        need(amount(reader.stream()) > seen or seen == STORES, 'the end')


def test_drop(t):
    """A reader that does not read: the guest is not slowed; what is lost is counted and marked."""
    path = t.to_socket()
    server = sockets.listen(path)
    child = begin(t, ',flags=exec+mem,drop=on')
    sleeper, _ = server.accept()
    out = b''
    while len(out) < len(RESULT): # the end waits for the reader
        out += os.read(child.stdout.fileno(), 100)
    data = bytearray()
    while some := sleeper.recv(1 << 16):
        data.extend(some)
    done = t.finish(child)
    need(done.status == 42 and out == RESULT, done, out)
    stream = Stream(bytes(data))
    dropped = int(done.said[-1].split(', ')[1].split()[0])
    need(dropped > 0, done.said)
    need(sum(e.value for e in stream.of('event')) == dropped, 'marks')


def test_bad_targets(t):
    write(f'{t.folder}/file', 'mine')
    for target, words in [(f'unix:{t.folder}/file', 'exists and is not a socket'),
                          ('unix:' + 'x' * 200, 'at most 107 bytes'),
                          (f'{t.folder}/no/file', 'No such file'), (t.folder, 'Is a directory')]:
        t.out = target
        done = t.finish(begin(t))
        need(done.status != 42 and done.out == b'', done)
        need(len(done.said) == 1 and words in done.said[0], done.said)
    need(read_text(f'{t.folder}/file') == 'mine', 'the file was changed')


def test_full_disk(t):
    t.out = '/dev/full'
    good(t.finish(begin(t)), ['No space left on device after 0 bytes; the rest is dropped',
                            '0 bytes were written, '])


def test_file_limit(t):
    """The limit of commands.FILE_LIMIT, lowered: what was written before is whole packets."""
    child = t.user('x86_64', guest(t), ',flags=exec+mem', preexec_fn=lambda: commands.limit_files(200000))
    done = t.finish(child)
    good(done, ['values of memory', 'File too large after', 'bytes dropped'])
    stream = t.stream()
    need(100000 < os.path.getsize(t.out) <= 200000 and stream.of('mem'), 'size of the file')


def test_unknown_arguments(t):
    for arguments, words in [
            (',flags=exec+foo', 'unknown flag foo: expected some of none, exec, disas, mem'),
            (',flags=', 'argument flags=: expected a value'),
            (',flags=cpu', 'cannot read registers; 9.0 and later can'),
            (',clock=sun', 'expected one of auto, insn, host'),
            (',foo=1', 'unknown argument foo=1')]:
        if 'cpu' in arguments and qemus.tells_values(tool('qemu-x86_64')):
            continue
        done = t.finish(begin(t, arguments))
        need(done.status == 1 and not done.out and words in done.said[0], arguments, done)


def test_commas(t):
    """QEMU splits flags at the comma, and says so."""
    done = t.finish(begin(t, ',flags=exec,mem'))
    need(done.status == 42, done)
    need({e.kind for e in t.stream().items} == {'exec', 'mem'}, 'flags')


def test_threads(t):
    good(t.finish(begin(t, '', 'threads')), out=b'')
    stream = t.stream()
    units = {e.unit for e in stream.of('exec')}
    need(units == set(range(61)), 'a unit is a thread, though QEMU uses their numbers again', units)
    for unit in units:
        times = [e.time for e in stream.of('exec', unit)]
        need(times[0] == 0, 'first time of unit', unit, times[0])
        need(times == sorted(times), 'times of unit', unit)


def test_fork(t):
    """Of children's children as well."""
    done = t.finish(begin(t, '', 'fork'))
    good(done, ['6 forked processes of the guest are not recorded'], out=b'')
    need(instructions(t.stream()) < 400000, 'children were recorded')


def test_exec(t):
    """What the process did before is in the file."""
    done = t.finish(begin(t, '', 'exec'))
    need(done.status == 42, done)
    need(instructions(t.stream()) > 1000, 'too little')


def test_abort(t):
    child = begin(t, '', 'abort')
    done = t.finish(child)
    need(done.status == -signal.SIGABRT, done)
    t.stream()


def ask(t, arguments=''):
    """A program that runs a little and then waits for a character."""
    if os.path.isfile(t.out):
        os.unlink(t.out)  # of the run before
    return t.user('x86_64', t.build('ask.S', 'x86_64', '-nostdlib'), arguments,
                  stdin=subprocess.PIPE)



def answer(t, child, said=()):
    type_x(child)
    good(t.finish(child), said, out=b'')


def amount(stream):
    """Instructions; or accesses, where there are none."""
    return sum(e.duration for e in stream.of('exec')) or len(stream.of('mem'))


def wait_for(t, child, least):
    """Until the file, which is whole at any moment, has so much."""
    until = time.monotonic() + commands.SECONDS
    while time.monotonic() < until and child.poll() is None:
        if os.path.exists(t.out) and os.path.getsize(t.out) > 40:
            stream = etrace.whole_prefix(read_bytes(t.out))
            if amount(stream) >= least:
                return stream
        time.sleep(0.01)
    raise Failure('the file does not have what ran')


BEFORE_IT_WAITS = 1 + 100 * 3 + 7  # instructions of ask.S
STORES = 100  # in it


def test_killed_while_it_waits(t):
    """What ran is in the file soon, and stays there; and a file that is ended has the same bytes as
    one that never had to show what it has."""
    for arguments, least, said in ('', BEFORE_IT_WAITS, []), (',flags=mem', STORES, NO_VALUES):
        child = ask(t, arguments)
        stream = wait_for(t, child, least)
        need(len(stream.items) > 50, 'entries')
        os.killpg(child.pid, signal.SIGKILL)
        need(t.finish(child).status == -signal.SIGKILL, 'status')
        need(amount(t.stream()) >= least, 'lost', arguments)
        child = ask(t, arguments)
        wait_for(t, child, least)
        answer(t, child, said)
        shown = read_bytes(t.out)
        child = ask(t, arguments)
        answer(t, child, said)
        again = read_bytes(t.out)
        need(len(shown) == len(again), 'sizes differ', arguments)
        if not (said and qemus.tells_values(tool('qemu-x86_64'))):  # values of random bytes
            need(shown == again, 'the bytes differ', arguments)


def test_killed_while_it_runs(t):
    for arguments in '', ',flags=exec+mem', ',clock=host', ',flags=mem':
        if os.path.exists(t.out):
            os.unlink(t.out)  # of the run before
        child = t.user('x86_64', t.build('pulse.S', 'x86_64', '-nostdlib'), arguments)
        before = wait_for(t, child, 1000)
        os.killpg(child.pid, signal.SIGKILL)
        need(t.finish(child).status == -signal.SIGKILL, 'status')
        after = etrace.whole_prefix(read_bytes(t.out))
        kind = 'exec' if before.of('exec') else 'mem'
        need(len(after.of(kind)) >= len(before.of(kind)) - 1, 'less than there was:',
             len(after.of(kind)), kind, 'and before', len(before.of(kind)), arguments)


def test_killed(t):
    """What was handed over before is there."""
    reader = Reader(t.to_socket())
    child = begin(t, ',flags=exec+mem')
    while len(reader.data) < 200000:
        pass
    child.send_signal(signal.SIGKILL)
    need(t.finish(child).status == -signal.SIGKILL, 'status')
    reader.join()


main(globals())
