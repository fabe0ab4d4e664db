#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is being recorded is left alone: by repair, symbols, export and another recording of the same name. Each
recording then has what its guest did."""
import contextlib
import glob
import os
import signal
import subprocess

from gttest import paths, qemus
from gttest.commands import must, run
from gttest.paths import GUESTTRACE
from gttest.results import Skip, need, write
from runs import calls_of, main, needs_exit

FORMS = {'directory': ['--format', 'uftrace'], 'file': ['--format', 'compact'], 'parts': ['--split', '64K'],
         'flight': ['--last', '1M']}
BUSY = b'wait until that has ended'
ENV = dict(os.environ, GUESTTRACE_PLUGIN_DIR=paths.PLUGINS)


def begin(program, *options, words=()):
    """A recording whose guest waits in the middle."""
    p = subprocess.Popen([GUESTTRACE, 'record', *options, '--', program, *words], env=ENV, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    if not words:
        need(p.stdout.readline() == b'half\n', 'the guest does not begin', p.poll())
    return p


def end(p):
    out, said = p.communicate(b'x', timeout=100)
    need(p.returncode == 3 and out == b'', p.returncode, out, said)
    return said


def refused(*command, text=BUSY):
    done = run(command, env=ENV)
    need(done.returncode not in (0, 3) and text in done.stderr, command, done.returncode, done.stderr)


def check_refused(t, out, form):
    """The folder has a directory `other`."""
    program = t.guest('pause')
    refused(GUESTTRACE, 'repair', out)
    if form != 'flight':
        refused(GUESTTRACE, 'symbols', '--dir', out, program)
    refused(GUESTTRACE, 'record', '-o', out, *FORMS[form], '--', program)
    kind = 'uftrace' if form == 'directory' else 'compact'
    if form != 'directory':
        refused(GUESTTRACE, 'export', '--format', kind, '-o', out, f'{t.folder}/other', text=b'is being recorded')
    words = f'output={out},format={kind}'
    refused(*t.command(program, (), [words], None))


def left(out):
    return [n for n in glob.glob(glob.escape(out) + '*') + glob.glob(glob.escape(out) + '/.*') if n != out]


def test_paused(t):
    needs_exit()
    program = t.guest('pause')
    end(begin(program, '-q', '--format', 'uftrace', '-o', f'{t.folder}/other'))
    for form, options in FORMS.items():
        out = f'{t.folder}/{form}'
        p = begin(program, '-o', out, *options)
        check_refused(t, out, form)
        said = end(p)
        need(b'matched' in said and b'anomal' not in said, said)
        need(calls_of(out, 'work') == 2000, form, calls_of(out, 'work'))
        need(not left(out), left(out))
        done = must([GUESTTRACE, 'repair', out])
        need(b'nothing to repair' in done.stdout, done.stdout)


def test_killed(t):
    """After a kill of both, nobody records any more; a new recording moves the other aside, as it is."""
    program = t.guest('pause')
    for form in ('directory', 'file', 'parts'):
        out = f'{t.folder}/{form}'
        p = begin(program, '-o', out, *FORMS[form])
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        end(begin(program, '-o', out, *FORMS[form]))
        need(calls_of(out, 'work') == 2000, form)
        must([GUESTTRACE, 'repair', f'{out}.old'])
        need(calls_of(f'{out}.old', 'work') == 1000, form, calls_of(f'{out}.old', 'work'))
        need(left(out) == [f'{out}.old'], left(out))


def test_outlived(t):
    """A child that goes on when `record` has ended."""
    needs_exit()
    program = t.guest('pause')
    end(begin(program, '-q', '--format', 'uftrace', '-o', f'{t.folder}/other'))
    for form in ('directory', 'file'):
        out, fifo = f'{t.folder}/{form}', f'{t.folder}/{form}.fifo'
        os.mkfifo(fifo)
        p = begin(program, '-o', out, *FORMS[form], words=['child', fifo])
        said = end(p)
        need(b'repair' not in said and b'another process' not in said, said)
        check_refused(t, out, form)
        write(fifo, b'x')
        wait_until_free(out)
        need(calls_of(out, 'work') == 2000, form, calls_of(out, 'work'))


def wait_until_free(out):
    """Until the last process of the recording has ended: the lock goes with it, or is free."""
    path = f'{out}/.guesttrace.lock' if os.path.isdir(out) else f'{out}.parts/.guesttrace.lock'
    run(['flock', path, 'true']) if os.path.exists(path) else None
    while run([GUESTTRACE, 'repair', out]).returncode != 0:
        pass


def test_streams(t):
    """Of other tools: an output that is written is not opened again."""
    program = t.guest('pause')
    events = f'{t.folder}/trace-events'
    write(events, 'work(unsigned int i) "%u"\n')
    tools = [('etrace', [], 'dump'), ('execlog', ['--format', 'binary'], 'dump')]
    with contextlib.suppress(Skip):
        qemus.user_with_registers('x86_64')
        tools.append(('events', ['--guest-events', events], 'simpletrace'))
    for tool, more, reader in tools:
        out = f'{t.folder}/{tool}'
        options = ['--tool', tool, *more, '-o', out]
        p = begin(program, *options)
        refused(GUESTTRACE, 'record', *options, '--', program)
        end(p)
        whole = must([GUESTTRACE, reader, out]).stdout
        end(begin(program, *options))
        need(len(must([GUESTTRACE, reader, out]).stdout) > len(whole) / 2, tool, 'the first one was damaged')


if __name__ == '__main__':
    main(globals())
