#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of calls with control=: its commands while the guest runs, in lines, by QMP and by `guesttrace ctl`;
what is recorded then; and processes that fork and execute others."""
import json
import os
import pty
import re
import select
import signal
import stat
import subprocess
import sys

from gttest import commands, compilers, functions, paths, qemus, sockets, uftrace, uftrace_check
from gttest.commands import SECONDS
from gttest.paths import GUESTTRACE
from gttest.plugin_runs import PluginTest
from gttest.recordings import check_directory
from gttest.results import Failure, need, same, write

LIST = 'expected status, flush, on, off, filter, trigger or snapshot'
HELP = 'ok status | flush | on | off | filter [OPTION...] | trigger FUNC@ACTION... | snapshot [FILE]'
START = 10  # more calls than that come before main()


class RecordingTest(PluginTest):
    plugin, output, guests = 'uftrace', 'output', paths.source('control', 'guests')

    def start(self, arguments='', control='/control', command=()):
        """The program; it is ready. Without `control` it has no socket."""
        guest = f'{self.folder}/steps.c-x86_64'
        if not os.path.exists(guest):
            self.build('steps.c', 'x86_64', '-O1')
        if control:
            arguments += f',control={self.folder}{control}'
        child = self.user('x86_64', guest, arguments, command=command, stdin=subprocess.PIPE)
        read_line(child, 'ready')
        return child

    def again(self):
        """QEMU with the same plugin and program, for execve()."""
        return [qemus.user('x86_64'), '-plugin', self.word(f'output={self.out}', f'control={self.folder}/control'),
                f'{self.folder}/steps.c-x86_64']

    def calls(self):
        """How often work() and leaf() are in the recording."""
        trace = uftrace.Trace(self.out)
        return trace.calls_of('work'), trace.calls_of('leaf')

    def end(self, child, status=42):
        done = self.finish(child)
        need(done.status == status, f'status {done.status}:', done)
        need(not os.path.exists(f'{self.folder}/control'), 'the socket is left')
        return done


def read_line(child, *want):
    line = child.stdout.readline().decode().rstrip('\n')
    need(line in want or not want, 'the guest said', line, 'not', want)
    return line


def step(child, letter, *said):
    """The guest does a step."""
    child.stdin.write(letter.encode())
    child.stdin.flush()
    for line in said:
        read_line(child, line)
    if letter not in 'x':
        read_line(child, letter)


def fork(child):
    """Both have said that they are there."""
    child.stdin.write(b'f')
    child.stdin.flush()
    said = sorted(read_line(child) for _ in range(2))
    need(said == ['child', 'f'], said)


class Client:
    def __init__(self, t, child, name='control'):
        self.socket = sockets.connected(f'{t.folder}/{name}', child)
        self.lines = self.socket.makefile('rwb')
        greeting = json.loads(self.lines.readline())
        need(greeting['QMP']['version']['package'] == 'guesttrace', greeting)

    def ask(self, line):
        self.lines.write(line.encode() + b'\n')
        self.lines.flush()
        return self.lines.readline().decode().rstrip('\n')

    def must(self, line):
        answer = self.ask(line)
        need(answer == 'ok' or answer.startswith('ok '), line, 'gave', answer)
        return answer

    def qmp(self, command, **arguments):
        return json.loads(self.ask(json.dumps({'execute': command, 'arguments': arguments, 'id': 7})))

    def status(self):
        words = self.must('status').split()[1:]
        return {key: value if key in ('recording', 'clock') else int(value)
                for key, value in (word.split('=') for word in words)}

    def close(self):
        self.lines.close()
        self.socket.close()


def ctl(t, *words, **more):
    return t.run([GUESTTRACE, 'ctl', f'{t.folder}/control', *words], **more)


# ---- commands ----------------------------------------------------------------------------------------

def test_commands(t):
    child = t.start()
    c = Client(t, child)
    first = c.status()
    need(list(first) == ['recording', 'records', 'lost', 'calls_tracked', 'tasks', 'vcpus', 'clock', 'elapsed_ns'], first)
    need((first['recording'], first['lost'], first['tasks'], first['vcpus'], first['clock']) == ('on', 0, 1, 1, 'insn'), first)
    need(first['calls_tracked'] > START and first['records'] > first['calls_tracked'] and first['elapsed_ns'] > 1000, first)
    need(c.status() == first, 'the guest waits')
    step(child, 'w')
    second = c.status()
    need(400 <= second['calls_tracked'] - first['calls_tracked'] < 450, first, second)
    need(800 <= second['records'] - first['records'] < 900, first, second)
    need(second['elapsed_ns'] > first['elapsed_ns'] + 1000, first, second)
    need(c.ask('help') == HELP, c.ask('help'))
    for line, answer in (('stop', f'unknown command stop: {LIST}'), ('', f'unknown command : {LIST}'),
                         ('on now', 'on: takes no arguments'), ('trigger', 'trigger: expected FUNC@ACTION...'),
                         ('snapshot x', 'snapshot: not in this recording'),
                         ('x' * 5000, 'too many bytes in a command: at most 4095')):
        need(c.ask(line) == f'error: {answer}', line, c.ask(line))
    c.close()
    t.end(child)


def test_qmp(t):
    child = t.start()
    c = Client(t, child)
    need(c.qmp('qmp_capabilities') == {'return': {}, 'id': 7}, 'qmp_capabilities')
    names = [command['name'] for command in c.qmp('query-commands')['return']]
    for name in 'status', 'flush', 'on', 'off', 'filter', 'trigger', 'snapshot':
        need(f'guesttrace-{name}' in names, names)
    need(c.qmp('guesttrace-off') == {'return': {'answer': ''}, 'id': 7}, 'off')
    need(c.qmp('guesttrace-status')['return']['answer'].startswith('recording=off '), 'status')
    need(c.qmp('guesttrace-filter', options="-F 'work' -D 1") == {'return': {'answer': ''}, 'id': 7}, 'filter')
    need('return' in c.qmp('guesttrace-trigger', triggers='leaf@trace-on'), 'trigger')
    need(c.qmp('guesttrace-snapshot', file='a')['error']['desc'] == 'snapshot: not in this recording', 'snapshot')
    need(c.qmp('guesttrace-filter', options='-F (')['error']['class'] == 'GenericError', 'a wrong filter')
    need(c.qmp('guesttrace-nothing')['error']['class'] == 'CommandNotFound', 'unknown')
    c.close()
    t.end(child)


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
    need(done.status == 1 and done.errors == 'guesttrace ctl: filter: --nothing: is no option of filters and triggers\n', done)
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


# ---- what is recorded --------------------------------------------------------------------------------

def check_recording(t):
    check_directory(t.out)


def test_flush(t):
    """What is recorded until now is there: whole records, which uftrace and guesttrace show."""
    child = t.start()
    c = Client(t, child)
    for n in 1, 2, 3:
        step(child, 'w')
        c.must('flush')
        need(t.calls() == (100 * n, 300 * n), n, t.calls())
        uftrace_check.check_files(t.out, open_ok=True)
        tid, = uftrace.tids_of(t.out)
        need(os.path.getsize(f'{t.out}/{tid}.dat') == 16 * c.status()['records'], 'records are missing')
        shown = commands.printed([GUESTTRACE, 'replay', '--no-pager', t.out])
        need(shown.count(' work() {') == 100 * n, n, shown[-500:])
    if uftrace_check.reader():
        uftrace_check.check_readers(t.out, open_ok=True)
    c.close()
    t.end(child)
    check_recording(t)


def test_flush_compact(t):
    """The same of one file."""
    child = t.start(',format=compact')
    c = Client(t, child)
    for n in 1, 2, 3:
        step(child, 'w')
        c.must('flush')
        done = t.run([GUESTTRACE, 'replay', '--no-pager', t.out])
        need(done.status == 0 and done.out.count(b' work() {') == 100 * n, n, done.out[-500:], done.errors)
        need('it is being recorded, or was interrupted' in done.errors, done.errors)
    c.close()
    t.end(child)
    done = t.run([GUESTTRACE, 'replay', '--no-pager', t.out])
    need(done.out.count(b' work() {') == 300 and not done.errors, done.errors)


def test_no_output(t):
    """Where the output cannot be made no socket is left."""
    t.out = '/dev/full'
    child = t.user('x86_64', t.build('steps.c', 'x86_64', '-O1'), f',control={t.folder}/control', stdin=subprocess.PIPE)
    done = t.finish(child)
    need(done.status == 1 and not os.path.exists(f'{t.folder}/control'), done)


def test_off_on(t):
    child = t.start()
    c = Client(t, child)
    step(child, 'w')
    c.must('off')
    step(child, 'w')
    off = c.status()
    need(off['recording'] == 'off', off)
    step(child, 'w')
    again = c.status()
    need(again['records'] == off['records'] and again['calls_tracked'] >= off['calls_tracked'] + 400, off, again)
    c.must('off')
    c.must('on')
    step(child, 'w')
    need(c.status()['recording'] == 'on', c.status())
    c.close()
    t.end(child)
    need(t.calls() == (200, 600), t.calls())
    check_recording(t)


def test_filters(t):
    """Filters are replaced, triggers added; what was wrong changes nothing."""
    child = t.start(',notrace=leaf')
    c = Client(t, child)
    total = [0, 0]

    def expect(works, leaves):
        step(child, 'w')
        c.must('flush')
        total[0] += works
        total[1] += leaves
        need(t.calls() == tuple(total), t.calls(), total)

    expect(100, 0)
    for line in ('filter -F (', 'filter -F', 'filter --depth=x', 'filter -F a -X', "filter -F 'a", 'filter --kernel-only',
                 'filter work', 'trigger work@nonsense', 'trigger work', 'filter --no-handlers=on', 'filter -L ',
                 'filter -T a@trace-on,b\\'):
        answer = c.ask(line)
        need(answer.startswith('error: ' + line.split(' ', maxsplit=1)[0] + ': '), line, answer)
    expect(100, 0)
    c.must('filter -F leaf')
    expect(0, 300)
    c.must('filter -Fwork --depth 1')
    expect(100, 0)
    c.must("filter --filter=work '--depth=2' -N 'le.f'")
    expect(100, 0)
    c.must('filter')
    expect(100, 300)
    c.must('trigger leaf@trace-off,after=10 work@trace-on,after=1000')
    expect(4, 10)
    need(c.status()['recording'] == 'off', 'the trigger')
    c.must('filter -T work@trace-on,after=50')  # it stays off; the other triggers are gone
    expect(50, 150)
    c.must('trigger work@finish')
    expect(1, 0)  # the call that ends it; work@trace-on does nothing any more
    expect(0, 0)
    need(c.ask('on') == 'error: on: a trigger has ended the recording', c.ask('on'))
    need(c.ask('filter') == 'error: filter: a trigger has ended the recording', c.ask('filter'))
    c.close()
    t.end(child)
    check_recording(t)


def flat(out):
    """Lines of replay --flat without the numbers of tasks."""
    text = commands.printed([GUESTTRACE, 'replay', '--no-pager', '--flat', out])
    return re.sub(r'(?m)^( *\d+\.\d{9}) +\d+', r'\1', text)


def test_same(t):
    """A socket alone changes nothing of the recording, nor what the guest sees."""
    whole = {}
    for control in '', '/control':
        t.out = f'{t.folder}/out{bool(control)}'
        child = t.start(',depth=5', control)
        read = child.stdout.readline
        if control:
            c = Client(t, child)
            c.must('status')
        child.stdin.write(b'wdw')
        child.stdin.flush()
        said = [read() for _ in range(4)]
        if control:
            c.must('flush')
            c.close()
        t.end(child)
        whole[control] = said, flat(t.out)
    need(whole[''][0] == whole['/control'][0] and b'descriptor 3\n' in whole[''][0], whole[''][0], whole['/control'][0])
    same(whole['/control'][1], whole[''][1], 'with a socket:')


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
    need(t.calls() == (100, 300), t.calls())
    check_recording(t)


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
    need(t.calls() == (100, 300), t.calls())


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
    check_recording(t)


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
    check_recording(t)


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


def check_machine(t, qemu):
    guest = f'{t.folder}/harts'
    compilers.compile_to(guest, 'riscv64', f'{t.guests}/harts_riscv64.S', '-nostdlib', '-march=rv64g', '-mabi=lp64d',
                         '-Wl,-Ttext=0x80000000', '-static')
    child = commands.start([qemu, '-M', 'virt', '-bios', 'none', '-smp', '4', '-m', '64', *qemus.QUIET, '-kernel', guest,
                            '-plugin', t.word(f'output={t.out}', f'control={t.folder}/control')])
    c = Client(t, child)
    while c.status()['vcpus'] < 4:
        need(child.poll() is None, 'QEMU has ended')
    for _ in range(3):
        c.must('off')
        before = c.status()
        while c.status()['elapsed_ns'] == before['elapsed_ns'] or c.status()['calls_tracked'] < before['calls_tracked'] + 1000:
            need(child.poll() is None, 'QEMU has ended')
        off = c.status()['records']
        while c.status()['calls_tracked'] < before['calls_tracked'] + 10000:
            pass
        need(c.status()['records'] - off <= 8, 'calls are recorded while it is off')  # a hart may be late by one
        c.must('on')
        while c.status()['records'] < off + 1000:
            pass
        c.must('filter -N nothing')
        c.must('flush')
    c.close()
    child.send_signal(signal.SIGTERM)
    done = t.finish(child)
    need(done.status == 0 and not os.path.exists(f'{t.folder}/control'), done)
    check_directory(t.out)


def test_machine(t):
    """Four vCPUs of a machine, switched off and on while they run."""
    for version, qemu in qemus.machines('riscv64'):
        t.out = f'{t.folder}/out-{version[0]}.{version[1]}'
        try:
            check_machine(t, qemu)
        except Failure as bad:
            raise Failure(f'QEMU {version}: {bad}') from bad


def test_record(t):
    """`guesttrace record --control`, with a path relative to where it runs."""
    guest = t.build('steps.c', 'x86_64', '-O1')
    env = dict(os.environ, GUESTTRACE_PLUGIN_DIR=paths.PLUGINS, XDG_CACHE_HOME=t.folder)
    child = commands.start([GUESTTRACE, 'record', '-q', '-o', 'out', '--control', 'control', '--trace=off', '--', guest],
                           env=env, cwd=t.folder, stdin=subprocess.PIPE)
    read_line(child, 'ready')
    step(child, 'w')
    c = Client(t, child)
    need(c.status()['recording'] == 'off', c.status())
    c.must('on')
    step(child, 'w')
    c.close()
    t.end(child)
    need(t.calls() == (100, 300), t.calls())


if __name__ == '__main__':
    sys.exit(functions.main(globals(), RecordingTest))
