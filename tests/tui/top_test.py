#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace top, in a terminal of tmux and with --json, of a made-up recording that grows when its socket is asked to flush.
tests/control/top_test.py has recordings of QEMU."""
import collections
import json
import os
import re
import subprocess
import sys
import threading

from gttest import call_sums, commands, functions, made, sockets, uftrace
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, write
from gttest.terminal import Terminal

GREETING = {'QMP': {'version': {}, 'capabilities': []}}


class Recording(made.Made):
    """Its records come in `steps` parts, one at each flush, which end in the midst of a record."""

    def __init__(self, path, steps, *names, **how):
        super().__init__(path, *names, **how)
        self.steps, self.step = steps, 0
        self.grow()

    def part(self, step, more=0):
        """The task files' bytes then."""
        return {tid: data if step >= self.steps else data[:len(data) * step // self.steps // 16 * 16 + more]
                for tid, data in self.data.items()}

    def grow(self):
        for tid, data in self.part(self.step, 8).items():
            with open(f'{self.path}/{tid}.dat', 'wb') as f:
                f.write(data)
        self.step += 1

    def sums(self, step):
        """{function: [self, total, calls]} of what is there then."""
        sums = collections.defaultdict(call_sums.Sum)
        for data in self.part(step).values():
            for path, s in call_sums.paths_of(uftrace.read_records(data), self.name).items():
                sums[path].add(*s)
        return {name: [s.self, s.total, s.calls] for name, s in call_sums.functions_of(sums).items()}

    def is_whole(self):
        return self.step > self.steps


class Server(threading.Thread):
    """A control socket at t.folder/socket: answers of one client. `ends`: after that many steps it closes."""

    def __init__(self, t, recording=None, greeting=GREETING, **answers):
        super().__init__(daemon=True)
        self.path, self.recording, self.greeting = f'{t.folder}/socket', recording, greeting
        self.answers = {'status': 'ok recording=on', 'path': f'ok {recording.path}' if recording else None, **answers}
        self.server = sockets.listen(self.path)
        self.stays = threading.Event()
        self.start()

    def answer(self, line):
        if line in self.answers:
            return {'return': f'{self.answers[line]}\n'}
        if line == 'flush' and self.recording:
            self.recording.grow()
            return {'return': 'ok\n'}
        return {'error': {'class': 'GenericError', 'desc': f'unknown command: {line}'}}

    def run(self):
        with self.server, self.server.accept()[0] as client:
            os.unlink(self.path)
            try:
                self.serve(client)
            except OSError:
                pass  # top has ended

    def serve(self, client):
        """One line is answered by one, until the recording has ended."""
        self.say(client, self.greeting)
        with client.makefile('rb') as lines:
            for line in lines:
                words = json.loads(line).get('arguments', {}).get('command-line')
                if self.recording and self.recording.is_whole() and not self.stays.is_set() and words == 'flush':
                    break
                self.say(client, self.answer(words) if words else {'return': {}})

    @staticmethod
    def say(client, what):
        client.sendall((what if isinstance(what, bytes) else json.dumps(what).encode()) + b'\n')


def top(t, *options):
    return commands.run([GUESTTRACE, 'top', *options, f'{t.folder}/socket'], cwd=t.folder)


def sums_of(recording):
    return recording.sums(recording.steps)


def rows_of(table, prefix=''):
    return {row['function']: [row[f'{prefix}{name}'] for name in ('self_ns', 'total_ns', 'calls')] for row in table['rows']}


# ---- tables ------------------------------------------------------------------------------------------

def test_parts(t):
    """However many tables there are, they have all records, once."""
    for steps in 1, 4, 50:
        recording = Recording(f'{t.folder}/data{steps}', steps)
        Server(t, recording)
        done = top(t, '--json', '-d', '0.01', '-s', 'all-self')
        equal(done.returncode, 0, 'exit status', done.stderr)
        tables = [json.loads(line) for line in done.stdout.splitlines()]
        need(len(tables) >= steps, len(tables), 'tables')
        equal(tables[-1]['state'], 'ended', 'state')
        for i, table in enumerate(tables):
            equal(rows_of(table, 'all_'), recording.sums(i + 1), f'all sums of table {i} of {steps}')
        added = collections.defaultdict(lambda: [0, 0, 0])
        for table in tables:
            for name, sums in rows_of(table).items():
                added[name] = [a + b for a, b in zip(added[name], sums)]
        equal(added, sums_of(recording), 'sums of tables')
        equal(tables[-1]['all_self_ns'], sum(s[0] for s in sums_of(recording).values()), 'self time of tasks')


def test_one_task(t):
    recording = Recording(f'{t.folder}/data', 5)
    Server(t, recording)
    done = top(t, '--json', '-d', '0.01', '-s', 'all-self', '--task', '8', '--match', 'f*')
    sums = call_sums.functions_of(recording.paths(8))
    equal(rows_of(json.loads(done.stdout.splitlines()[-1]), 'all_'),
          {name: [s.self, s.total, s.calls] for name, s in sums.items() if name.startswith('f')}, 'sums of the task')


def test_batch(t):
    """As text: the columns of the last table, sorted."""
    recording = Recording(f'{t.folder}/data', 2)
    Server(t, recording)
    done = top(t, '-b', '-d', '0.01', '-s', 'all-calls', '-l', '3')
    tables = done.stdout.decode().split('\n\n')
    title, heading, *rows = tables[-1].splitlines()
    need(title.startswith('ended: ') and '3 tasks' in title and heading.split()[-1] == 'FUNCTION', title, heading)
    want = sorted(sums_of(recording).items(), key=lambda row: (-row[1][2], row[0]))[:3]
    equal([(row.split()[-2], int(row.split()[-3].replace(',', ''))) for row in rows], [(name, s[2]) for name, s in want], 'rows')


def test_since_now(t):
    """What was recorded before is left out; calls that were open then go on."""
    recording = Recording(f'{t.folder}/data', 3)
    Server(t, recording)
    done = top(t, '--json', '--since', 'now', '-d', '0.01', '-s', 'all-self')
    first, *_, last = (json.loads(line) for line in done.stdout.splitlines())
    equal((first['since'], first['rows']), ('top', []), 'the first table')
    whole = sums_of(recording)
    calls = sum(sums[2] for sums in rows_of(last, 'all_').values())
    need(0 < calls < sum(s[2] for s in whole.values()), calls, whole)


# ---- the screen --------------------------------------------------------------------------------------

def start(t, columns, lines, recording, *options, stays=True):
    server = Server(t, recording)
    if stays:
        server.stays.set()
    return Terminal(t, columns, lines, GUESTTRACE, 'top', '-d', '0.05', '-s', 'all-calls', *options, f'{t.folder}/socket')


def names(lines):
    return [line.split('  [')[0].split()[-1] for line in lines[2:] if line.strip()]


def headed(text):
    return lambda lines: text in lines[1]


def test_keys(t):
    recording = Recording(f'{t.folder}/data', 3)
    sums = sums_of(recording)
    by_calls = sorted(sums, key=lambda name: (-sums[name][2], name))
    with start(t, 120, 30, recording) as s:
        title = f'on: {sum(x[2] for x in sums.values()):,} calls in 3 tasks'
        s.until(lambda lines: names(lines) == by_calls and lines[0].startswith(title), 'functions by calls')
        s.press('<')
        s.until(headed('by all-total'), 'the column before')
        s.until(lambda lines: names(lines) == sorted(sums, key=lambda name: (-sums[name][1], name)), 'functions by total')
        s.press('>', 's')
        s.until(headed('by name'), 'the next columns')
        s.press('>', '<', '<')
        s.until(headed('by all-calls'), 'calls again')
        s.press('t')
        s.until(lambda lines: 'TASK' in lines[1] and sum('5000000' in line for line in lines) == 1, 'tasks')
        s.press('t', '/')
        s.type('w*x')
        s.press('BSpace')
        s.until(lambda lines: lines[0] == '/w*_', 'what is typed')
        s.press('Enter')
        s.until(lambda lines: names(lines) == [name for name in by_calls if name.startswith('w')], 'a glob')
        s.press('/', 'Enter', 'Down', 'j')
        s.until(lambda lines: names(lines) == by_calls[2:], 'moved')
        s.press('End', 'Up')
        s.until(lambda lines: names(lines) == by_calls[-2:], 'the end')
        s.press('Home', 'Space')
        s.until(headed('paused'), 'paused')
        s.press('Space', 'd')
        s.type('soon')
        s.press('Enter')
        s.until(lambda lines: lines[0].startswith('seconds are'), 'no number')
        s.press('d', 'Escape', 'h')
        s.until(lambda lines: any(line.startswith('Space ') for line in lines), 'keys')
        s.press('h', 'T')
        s.type('8')
        s.press('Enter')
        s.until(lambda lines: ', only 8' in lines[0] and '0 calls since ' in lines[0], 'one task, anew')
        s.press('q')
        equal(s.status(), 0, 'exit status')


def test_sizes(t):
    with start(t, 20, 6, Recording(f'{t.folder}/data', 1)) as s:
        s.until(lambda lines: lines[0].startswith('on: ') and lines[1].startswith('SELF%') and len(names(lines)) == 4, 'twenty columns')
        need(all(len(line) <= 20 for line in s.lines()), s.lines())
        for columns, height in (8, 3), (45, 10), (60, 2), (3, 1), (3, 8), (200, 30):
            s.resize(columns, height)
            s.press('h', 'h', 'Down', 'Up')
            s.until(lambda lines, height=height: len(lines) == height and any(line.strip() for line in lines), f'{columns} columns, {height} lines')
        s.until(lambda lines: 'CALLS/S' in lines[1], 'large again')
        need(not s.has_ended(), 'it has ended')


def test_hostile_names(t):
    recording = Recording(f'{t.folder}/data', 2, [*made.HOSTILE, b'\xe2\x80\xaeturned', b'\x1b[2J\x1b]0;title\x07'], n=400, deep=6)
    with start(t, 100, 40, recording) as s:
        lines = s.until(lambda lines: all(any(name in line for line in lines) for name in ('turned', 'xxxxxxxx', '[2J')), 'functions')
        text = '\n'.join(lines)
        need('\u202e' not in text and '\x1b' not in text, 'what turns the direction of text', text)
        need(s.run('display-message', '-p', '#{pane_title}') != ['title'], 'a name has set the title')


def dead_process():
    child = subprocess.Popen(['true'])
    child.wait()
    return child.pid


def test_ends(t):
    """The table stays, and says what has become of the recording."""
    for state, pid in ('ended', None), ('interrupted', dead_process()), ('disconnected', os.getpid()):
        recording = Recording(f'{t.folder}/{state}', 2)
        if pid:
            write(f'{recording.path}/.guesttrace-{pid}.ring', b'')
            write(f'{recording.path}/.guesttrace.lock', b'')
        sums = sums_of(recording)
        with start(t, 120, 30, recording, stays=False) as s:
            by_calls = sorted(sums, key=lambda name: (-sums[name][2], name))
            s.until(lambda lines: lines[0].startswith(state) and names(lines) == by_calls, state)
            if state == 'disconnected':
                os.unlink(f'{recording.path}/.guesttrace-{pid}.ring')
                os.unlink(f'{recording.path}/.guesttrace.lock')
                s.until(lambda lines: lines[0].startswith('ended'), 'its end')
            s.press('q')
            equal(s.status(), 0, 'exit status')


# ---- what is refused ---------------------------------------------------------------------------------

def refused(t, *words, options=('-b',), status=1):
    done = top(t, *options)
    said = done.stderr.decode(errors='replace')
    need(done.returncode == status and not done.stdout and all(word in said for word in words) and said.count('\n') == 1 and '\x1b' not in said,
         words, done)


def test_refusals(t):
    refused(t, 'socket', 'No such file')
    recording = Recording(f'{t.folder}/data', 1)
    os.mkfifo(f'{t.folder}/fifo')
    for words, how in [
            (['not a monitor'], {'greeting': b'\xff\x00hello'}),
            (['not a monitor'], {'greeting': b'[1, 2]'}),
            (['no greeting'], {'greeting': {'QMQ': 1}}),
            (['not the socket of a recording of calls', 'unknown command'], {'greeting': GREETING}),
            (['not a monitor', '\\x1b[2J'], {'greeting': b'\x1b[2J'}),
            (['answer to path', 'nonsense\\x1b[2J'], {'path': 'nonsense\x1b[2J'}),
            (['answer to path', '\\x1b[2J'], {'path': f'ok {recording.path}\x1b[2J'}),
            (['answer to path'], {'path': 'ok relative'}),
            (['fifo', 'no such file'], {'path': f'ok {t.folder}/fifo'}),
            (['expected a recording of calls'], {'path': f'ok {GUESTTRACE}'}),
            (['/nothing', 'no such file'], {'path': f'ok {t.folder}/nothing'})]:
        answers = {key: value for key, value in how.items() if key != 'greeting'}
        server = Server(t, None, how.get('greeting', GREETING), **{'flush': 'ok', **answers})
        if 'path' not in how:
            del server.answers['path']
        try:
            refused(t, *words)
        finally:
            server.join(commands.SECONDS)
    Server(t, recording)
    refused(t, 'terminal', options=())


def test_usage(t):
    for options in ['-d', '0'], ['-d', 'x'], ['-d', '4000'], ['-d', 'nan'], ['-s', 'colour'], ['-n', '0']:
        done = top(t, '-b', *options)
        need(done.returncode == 2 and not done.stdout, options, done)
    equal(commands.run([GUESTTRACE, 'top', '-b']).returncode, 2, 'exit status without a socket')


def test_broken_recording(t):
    """A file that has become shorter, a damaged text: an error, no crash."""
    recording = Recording(f'{t.folder}/data', 1)
    with open(f'{recording.path}/task.txt', 'a', encoding='ascii') as f:
        f.write('TASK nonsense\n')
    Server(t, recording)
    refused(t, 'task.txt')


def test_unknown_terminal(t):
    Server(t, Recording(f'{t.folder}/data', 1)).stays.set()
    with Terminal(t, 100, 10, 'env', 'TERM=unknown-terminal', GUESTTRACE, 'top', f'{t.folder}/socket') as s:
        equal(s.status(), 1, 'exit status')
        s.until(lambda lines: 'unknown-terminal' in lines[0], 'an unknown terminal')


def test_closed_output(t):
    Server(t, Recording(f'{t.folder}/data', 1))
    done = commands.run(['sh', '-c', '"$@" >/dev/full', 'sh', GUESTTRACE, 'top', '-b', f'{t.folder}/socket'])
    need(done.returncode == 1 and re.search(rb'standard output.*No space', done.stderr), done)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
