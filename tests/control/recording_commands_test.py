#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of a recording's control=, in lines, by QMP and by `guesttrace ctl`; processes that fork and execute
others."""
import os
import pty
import select
import signal
import stat
import subprocess
import sys

from gttest import functions, sockets, uftrace
from gttest.commands import SECONDS
from gttest.paths import GUESTTRACE
from gttest.recordings import check_directory, export
from gttest.results import need, write
from recording import Client, RecordingTest, fork, read_line, step

LIST = 'expected status, flush, path, on, off, filter, trigger or snapshot'
HELP = 'ok status | flush | path | on | off | filter [OPTION...] | trigger FUNC@ACTION... | snapshot [FILE]' \
    ' | info trace-events [PATTERN] | trace-event NAME|PATTERN on|off [vcpu] | trace-file [on|off|flush|set [PATH]|dump [PATH]]'
START = 10  # more calls than that come before main()


def ctl(t, *words, **more):
    return t.run([GUESTTRACE, 'ctl', f'{t.folder}/control', *words], **more)


# ---- commands ----------------------------------------------------------------------------------------

def test_commands(t):
    child = t.start()
    c = Client(t, child)
    first = c.status()
    need(list(first) == ['recording', 'tracking', 'records', 'lost', 'calls_tracked', 'tasks', 'vcpus', 'clock', 'elapsed_ns'], first)
    need((first['recording'], first['tracking'], first['lost'], first['tasks'], first['vcpus'], first['clock']) ==
         ('on', 'on', 0, 1, 1, 'insn'), first)
    need(first['calls_tracked'] > START and first['records'] > first['calls_tracked'] and first['elapsed_ns'] > 1000, first)
    step(child, 'w')
    second = c.status()
    need(400 <= second['calls_tracked'] - first['calls_tracked'] < 450, first, second)
    need(800 <= second['records'] - first['records'] < 900, first, second)
    need(second['elapsed_ns'] > first['elapsed_ns'] + 1000, first, second)
    need(c.ask('help') == HELP, c.ask('help'))
    for line, answer in (('stop', f'unknown command stop: {LIST}'), ('', f'unknown command : {LIST}'),
                         ('on now', 'on: takes no arguments'), ('trigger', 'trigger: expected FUNC@ACTION...'),
                         ('snapshot x', 'snapshot: the recording has no flight recorder (argument last=)'),
                         ('x' * 5000, 'too many bytes in a command: at most 4095')):
        need(c.ask(line) == f'error: {answer}', line, c.ask(line))
    c.close()
    t.end(child)


def test_qmp(t):
    child = t.start()
    c = Client(t, child)
    need(c.qmp('qmp_capabilities') == {'return': {}, 'id': 7}, 'qmp_capabilities')
    names = [command['name'] for command in c.qmp('query-commands')['return']]
    for name in 'status', 'flush', 'path', 'on', 'off', 'filter', 'trigger', 'snapshot':
        need(f'guesttrace-{name}' in names, names)
    need(c.qmp('guesttrace-off') == {'return': {'answer': ''}, 'id': 7}, 'off')
    need(c.qmp('guesttrace-status')['return']['answer'].startswith('recording=off '), 'status')
    need(c.qmp('guesttrace-filter', options="-F 'work' -D 1") == {'return': {'answer': ''}, 'id': 7}, 'filter')
    need('return' in c.qmp('guesttrace-trigger', triggers='leaf@trace-on'), 'trigger')
    need(c.qmp('guesttrace-snapshot', file='a')['error']['desc'] == 'snapshot: the recording has no flight recorder (argument last=)', 'snapshot')
    need(c.qmp('guesttrace-filter', options='-F (')['error']['class'] == 'GenericError', 'a wrong filter')
    need(c.qmp('guesttrace-nothing')['error']['class'] == 'CommandNotFound', 'unknown')
    c.close()
    t.end(child)


def test_snapshots(t):
    """Of a flight recorder: what was called up to the command is in the file that it answers with."""
    child = t.start(',format=compact,last=1M')
    c = Client(t, child)
    for i, name in enumerate(('', '.1', '.2'), 1):
        step(child, 'w')
        need(c.ask('snapshot') == f'ok {t.out}{name}', name)
        export(t.out + name, f'{t.folder}/export{i}')
        need(uftrace.Trace(f'{t.folder}/export{i}').calls_of('leaf') == 300 * i, name)
    need(c.ask('snapshot boom') == f'ok {t.folder}/boom' and os.path.isfile(f'{t.folder}/boom'), 'boom')
    need(c.ask('snapshot boom').endswith('/boom exists: it is left alone, name another'), 'twice')
    need('control characters' in c.ask('snapshot a\x1b[31m') and 'no - at its beginning' in c.ask('snapshot -rf'), 'names')
    need(c.ask('snapshot a/b') == 'error: snapshot: a/b: expected the name of a file, without a folder', 'a/b')
    step(child, 'd', 'descriptor 3')
    c.close()
    t.end(child)
    need(not os.path.exists(t.out + '.parts'), 'the directory is left')


def test_many_filters(t):
    """Filters that are replaced again and again need no more memory; those that no call has met are gone at once."""
    child = t.start()
    c = Client(t, child)
    sizes = []
    for i in range(10000):
        c.must(f"filter -F work{'|x' * (i % 50)} -N 'nothing{i}' --task '*' -T never@depth=2,count=3")
        if i % 5 == 0:
            step(child, 'w')
        if i in (2000, 9999):
            sizes.append(memory(child))
    need(all(b < a + 1024 for a, b in zip(*sizes)), 'KiB, mappings:', *sizes)
    c.must('filter -F leaf')
    c.must('flush')
    before = t.calls()
    step(child, 'w')
    c.must('flush')
    need(t.calls() == (before[0], before[1] + 300) and before == (200000, 600000), before, t.calls())
    c.close()
    t.end(child)


def memory(child):
    """KiB that are a process's own, and the number of its mappings."""
    with open(f'/proc/{child.pid}/status') as status:
        own = next(int(line.split()[1]) for line in status if line.startswith('RssAnon'))
    with open(f'/proc/{child.pid}/maps') as maps:
        return own, len(maps.readlines())


def test_ctl(t):
    """`guesttrace ctl`: a command, lines, errors."""
    child = t.start()
    sockets.connected(f'{t.folder}/control', child).close()
    done = ctl(t, 'off')
    need(done.status == 0 and done.out == b'ok\n' and not done.errors, done)
    done = ctl(t, 'filter', '-F', 'work', '-D', '1')  # these are not options of ctl's
    need(done.status == 0 and done.out == b'ok\n', done)
    with subprocess.Popen(['printf', "on\n# two\nfilter -F 'wo.k'\nstatus\n"], stdout=subprocess.PIPE) as lines:
        done = ctl(t, stdin=lines.stdout)
    need(done.status == 0 and done.out.startswith(b'ok\nok\nok recording=on '), done)
    done = ctl(t, 'stop')
    need(done.status == 1 and done.errors == f'guesttrace ctl: unknown command stop: {LIST}\n', done)
    done = ctl(t, 'filter', '--nothing')
    need(done.status == 1 and done.errors == 'guesttrace ctl: filter: --nothing: not an option of filters and triggers\n', done)
    with subprocess.Popen([GUESTTRACE, 'ctl', f'{t.folder}/control'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as late:
        late.stdin.write(b'status\n')
        late.stdin.flush()
        need(late.stdout.readline().startswith(b'ok recording='), 'status')
        t.end(child)
        _, errors = late.communicate(b'status\nstatus\n', timeout=SECONDS)
        need(late.returncode == 1 and errors.count(b'guesttrace ctl') == 1, 'the guest is gone:', errors)
    done = ctl(t, 'status')
    need(done.status == 1 and 'cannot be connected to: No such file' in done.errors, done)


def test_prompt(t):
    """Tab completes the commands of the socket."""
    child = t.start()
    sockets.connected(f'{t.folder}/control', child).close()
    parent, terminal = pty.openpty()
    with subprocess.Popen([GUESTTRACE, 'ctl', f'{t.folder}/control'], stdin=terminal, stdout=terminal, stderr=terminal,
                          env={**os.environ, 'TERM': 'dumb'}) as prompt:
        os.close(terminal)
        seen = b''

        def until(text):
            nonlocal seen
            while text not in seen:
                need(select.select([parent], [], [], SECONDS)[0], seen)
                seen += os.read(parent, 4096)
            seen = seen.split(text, 1)[1]

        until(b'(guesttrace) ')
        os.write(parent, b'of\t\r' if os.environ.get('EDITED') == '1' else b'off\r')
        until(b'ok')
        os.write(parent, b'stat\t\r' if os.environ.get('EDITED') == '1' else b'status\r')
        until(b'recording=off')
        until(b'(guesttrace) ')
        os.write(parent, b'quit\r')
        need(prompt.wait(SECONDS) == 0, 'quit')
    os.close(parent)
    t.end(child)


# ---- processes ---------------------------------------------------------------------------------------

def test_fork(t):
    """A forked child does not serve the socket, and leaves it where it is; the switch is for it, too."""
    child = t.start()
    c = Client(t, child)
    c.must('off')
    fork(child)
    step(child, 'w')
    c.must('on')
    need(c.status()['tasks'] == 1, 'the status is the first process\'s', c.status())
    step(child, 'e', 'status 5')
    need(stat.S_ISSOCK(os.stat(f'{t.folder}/control').st_mode), 'the socket is gone')
    another = Client(t, child)
    another.must('flush')
    step(child, 'w')
    for one in c, another:
        one.must('status')
        one.close()
    t.end(child)
    need(t.calls() == (200, 600), t.calls())
    check_directory(t.out)


def test_fork_outlives(t):
    """When the first process has ended there is no socket any more; the child is recorded all the same."""
    child = t.start()
    c = Client(t, child)
    fork(child)
    child.stdin.close()
    child.stdin = None
    done = t.finish(child)  # its child has noticed: the pipe is closed
    need(done.status == 42, done)
    need(c.lines.read() == b'', 'the child serves the socket')
    c.close()
    need(not os.path.exists(f'{t.folder}/control'), 'the socket is left')
    need(t.calls() == (200, 600), t.calls())


def test_exec(t):
    """A process that executes QEMU again has the socket again."""
    t.build('steps.c', 'x86_64', '-O1')
    child = t.start(command=t.again())
    c = Client(t, child)
    step(child, 'w')
    step(child, 'x', 'ready')
    need(c.lines.read() == b'', 'the former program serves the socket')
    c.close()
    c = Client(t, child)
    step(child, 'w')
    need(400 < c.status()['calls_tracked'] < 5000, c.status())
    c.close()
    t.end(child)
    need(t.calls() == (200, 600), t.calls())
    check_directory(t.out)


def test_exec_child(t):
    """A child that does has none: it is its parent's."""
    t.build('steps.c', 'x86_64', '-O1')
    child = t.start(command=t.again())
    c = Client(t, child)
    child.stdin.write(b's')
    child.stdin.flush()
    read_line(child, 'ready')
    step(child, 'w')
    before = c.status()
    child.stdin.write(b'q')
    child.stdin.flush()
    read_line(child, 'status 42')
    read_line(child, 's')
    need(before['tasks'] == 1 and c.status()['tasks'] == 1, before)
    step(child, 'w')
    c.close()
    t.end(child)
    need(t.calls() == (200, 600), t.calls())
    check_directory(t.out)


def test_signal(t):
    """A signal that kills QEMU removes the socket; one that is left by SIGKILL is replaced."""
    for number in signal.SIGTERM, signal.SIGKILL, signal.SIGTERM:
        child = t.start()
        Client(t, child).close()
        need(stat.S_IMODE(os.stat(f'{t.folder}/control').st_mode) == 0o600, 'it is open to others')
        child.send_signal(number)
        need(t.finish(child).status == -number, number, child.returncode)
        need(os.path.exists(f'{t.folder}/control') == (number == signal.SIGKILL), number)


def test_refused(t):
    """A socket that cannot be made is an error, before there is any output."""
    guest = t.build('steps.c', 'x86_64', '-O1')
    busy = sockets.listen(f'{t.folder}/busy')
    write(f'{t.folder}/file', 'mine')
    for path, words in [(f'{t.folder}/file', 'exists and is not a socket'),
                        (f'{t.folder}/busy', 'another process is listening there'),
                        ('x' * 200, 'at most 107 bytes'), (f'{t.folder}/no/file', 'No such file')]:
        for form in 'uftrace', 'compact':
            done = t.finish(t.user('x86_64', guest, f',format={form},control={path}'))
            need(done.status == 1 and len(done.said) == 1 and words in done.said[0], path, done)
            need(not os.path.exists(t.out), 'there is output')
    busy.close()


if __name__ == '__main__':
    sys.exit(functions.main(globals(), RecordingTest))
