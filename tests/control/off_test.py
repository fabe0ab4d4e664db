#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What programs do while recording is off: they execute others, fork, create threads, end."""
import subprocess
import sys

from gttest import commands, functions, paths, qemus, uftrace
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.recordings import check_directory, record
from gttest.results import need
from recording import Client, RecordingTest, fork, read_line, step

ROUNDS = 40


def need_no_anomaly(done):
    need(not any('anomal' in line or 'lost' in line for line in done.said), done.said)


def test_exec(t):
    """Asleep by `off`, by a trigger, from the beginning: a program that is executed begins as the arguments say."""
    for name, arguments, calls in (('ctl', '', (200, 600)), ('trigger', ',trigger=leaf@trace-off,,after=30', (111, 330)),
                                   ('beginning', ',recording=off', (100, 300))):
        t.out = f'{t.folder}/{name}'
        child = t.start(arguments, command=t.again())
        c = Client(t, child)
        step(child, 'w')
        if name == 'ctl':
            c.must('off')
            step(child, 'w')
        need(c.status()['tracking'] == 'off', name, c.status())
        c.close()
        step(child, 'x', 'ready')
        need_again(t, child, name)
        done = t.end(child)
        need_no_anomaly(done)
        need(t.calls() == calls, name, t.calls())
        check_directory(t.out)


def need_again(t, child, name):
    """The new program, which has no triggers, is recorded."""
    c = Client(t, child)
    need((c.status()['recording'], c.status()['tracking']) == ('on', 'on'), name, c.status())
    step(child, 'w')
    c.close()


def test_fork_asleep(t):
    """Off from the beginning; a child is forked, and is switched on with its parent."""
    child = t.start(',recording=off')
    c = Client(t, child)
    fork(child)
    c.must('on')
    for letter, said in ('w', ()), ('e', ('status 5',)), ('w', ()):
        step(child, letter, *said)
    c.close()
    need_no_anomaly(t.end(child))
    need(t.calls() == (300, 900), t.calls())
    need(len(uftrace.Trace(t.out).tids()) == 2, 'tasks')
    check_directory(t.out)


def test_threads_asleep(t):
    """Off from the beginning; threads that began meanwhile are recorded from where it is on."""
    t.build('waits.c', 'x86_64', '-O1', '-pthread')
    child = t.user('x86_64', f'{t.folder}/waits.c-x86_64', f',recording=off,control={t.folder}/control',
                   stdin=subprocess.PIPE)
    read_line(child, 'ready')
    c = Client(t, child)
    for letter in 'wt':
        step(child, letter)
    need(c.status()['calls_tracked'] == 0, c.status())
    c.must('on')
    for letter in 'wtw':
        step(child, letter)
    c.close()
    child.stdin.close()
    child.stdin = None
    need_no_anomaly(t.end(child))
    trace = uftrace.Trace(t.out)
    need((trace.calls_of('do_work'), trace.calls_of('work')) == (3, 301), trace.calls_of('do_work'), trace.calls_of('work'))
    check_directory(t.out)


def test_end(t):
    """The program ends while it is switched, and QEMU discards its code for that: the recording has its end. Each time
    QEMU frees what plugins have subscribed to while threads may read it."""
    t.build('ends.c', 'x86_64', '-O1', '-pthread')
    for n in range(ROUNDS):
        t.out = f'{t.folder}/{n}'
        child = t.user('x86_64', f'{t.folder}/ends.c-x86_64', f',control={t.folder}/control', stdin=subprocess.PIPE)
        read_line(child, 'ready')
        c = Client(t, child)
        for _ in range(n % 8):
            c.must('off')
            c.must('on')
        c.socket.sendall(b'off\non\n' * 200)  # answers are not read: the socket may end before
        child.stdin.close()
        child.stdin = None
        done = t.finish(child)
        c.socket.close()
        need(done.status == 42, done)
        need_no_anomaly(done)
        check_directory(t.out, readers=False)


def test_loaded_once(t):
    """Without keep=events callbacks stay, since QEMU cannot discard the code of a program that may have threads."""
    t.keeps = False
    child = t.start()
    c = Client(t, child)
    for letter, command in ('w', 'off'), ('w', 'on'), ('w', 'status'):
        step(child, letter)
        c.must(command)
    c.close()
    need_no_anomaly(t.end(child))
    need(t.calls() == (200, 600), t.calls())
    check_directory(t.out)


def test_refused(t):
    """A load that is refused ends QEMU, which has no program by then, with its own status."""
    t.build('steps.c', 'x86_64', '-O1')
    word = t.word(f'output={t.out}')
    for second, why in (word, 'the plugin is loaded twice'), (f'{t.folder}/none.so', 'none.so'):
        done = t.run([qemus.user('x86_64'), *paths.keep(paths.plugin('uftrace')), '-plugin', word, '-plugin',
                      second.replace('/plugins/', '/plugins/././'), f'{t.folder}/steps.c-x86_64'])
        need(done.status == 1 and why in done.errors, done)


def test_unwinder(t):
    """An unwinder has callbacks of memory accesses, which QEMU 7.2 would call after their end: it aborts."""
    program = compile_to(f'{t.folder}/exceptions', 'x86_64', paths.source('guest', 'cases', 'exceptions.cc'), '-O1',
                         f'-I{paths.source("guest")}')
    status = commands.run([program]).returncode
    for trigger in '__cxa_begin_catch@return:trace-off', '_Unwind_RaiseException@trace-off', 'thrower@trace-off,after=1':
        record(f'{t.folder}/data', ['-q', '--qemu', qemus.user('x86_64'), '-T', trigger], [program], status)
        done = commands.run([GUESTTRACE, 'replay', '--no-pager', f'{t.folder}/data'])
        need(done.returncode == 0 and not done.stderr, trigger, done.stderr)


if __name__ == '__main__':
    sys.exit(functions.main(globals(), RecordingTest))
