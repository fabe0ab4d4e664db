#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`replay` prints what `uftrace replay` prints of the same recording: of programs with threads, children, recursion,
longjmp, exceptions and coroutines, of machines, and of programs that uftrace itself recorded; of the directory and of
the compact file.

Equal are the lines, blanks included. What the comparison changes, because the commands differ on purpose:
lines of the console are of no task here; the time that a task is suspended is in no module; and the list of what is
open at the end has another heading.
"""
import os
import re
import sys

from gttest import boards, functions, paths, qemus, uftrace
from gttest.commands import must, printed, tool
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.recordings import record, symbols
from gttest.results import Failure, Skip, need, write

NAMED = r'''
#include <sys/prctl.h>
int main(void) { return prctl(PR_SET_NAME, "another"); }
'''
PROGRAMS = ['threads.c', 'fork.c', 'coroutines.c', 'longjmp.c', 'tail_calls.c', 'signals.c', 'spawn.c', 'dlopen.c',
            'exceptions.cc']
NAMES = 'perf-cpu0.dat'  # of tasks, with their times
OPEN_CALLS = 'open-calls.txt'  # uftrace takes their exits for returns
FIELDS = 'duration,tid,time,delta,elapsed,module'
OPEN = '\nCalls that did not return:\n'

# Recorded by uftrace itself.
OWN = r'''
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int total;
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) void *work(void *arg) { total += fib(*(int *)arg); return NULL; }
__attribute__((noinline)) void in_child(void) { total += fib(5); }
int main(void)
{
    pthread_t threads[4];
    int n[4] = {3, 4, 5, 6};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, &n[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
#ifdef CHILD
    if (fork() == 0) {
        in_child();
        _exit(0);
    }
    wait(NULL);
#endif
    printf("%d\n", fib(7));
    return 0;
}
'''


def theirs(directory, *options):
    """Lines, and {task: lines} of what is open at the end."""
    text = uftrace.narrow(printed([tool('uftrace'), 'replay', '--no-pager', '--demangle=no', *options, '-d', directory]))
    text, _, rest = text.partition('\nuftrace stopped tracing with remaining functions\n')
    text = re.sub(r'(?m)^(.*)\[ *\d+\](.*\| )/\* external-data: (.*) \*/$',
                  lambda m: f'{m[1]}{" " * 8}{m[2]}/* console: {m[3]} */', text)
    text = re.sub(r'(?m)^(.*).{16}( \| +/\* linux:sched)', lambda m: f'{m[1]}{" " * 16}{m[2]}', text) \
        if any('module' in option for option in options) else text
    opened = dict(re.findall(r'task: (\d+)\n((?:\[\d+\] .*\n)+)', rest))
    return without_parentheses(text), {t: without_parentheses(names) for t, names in opened.items()}


def ours(recording, *options):
    text = printed([GUESTTRACE, 'replay', '--no-demangle', *options, recording])
    text, _, rest = text.partition(OPEN)
    opened = dict(re.findall(r'task (\d+):\n((?:\[\d+\] .*\n)+)', rest))
    return without_parentheses(text), {t: without_parentheses(names) for t, names in opened.items()}


def without_parentheses(text):
    """Those that a name has in a symbol file because uftrace would change its stacks at it."""
    return re.sub(r'\(\)( \*/)?$', r'\1', text, flags=re.M)


def compare(recording, directory, *options, other_options=None):
    (mine, mine_open), (other, other_open) = ours(recording, *options), theirs(directory, *(other_options or options))
    if 'linux:task-name' not in other:  # it shows no name that comes with a program that a process executes
        mine = re.sub(r'(?m)^.*linux:task-name.*\n', '', mine)
    if mine != other:
        for number, (a, b) in enumerate(zip(mine.splitlines(), other.splitlines()), 1):
            need(a == b, f'{recording} {options} line {number}:\n{a}\nuftrace has:\n{b}')
        raise Failure(f'{recording}: {mine.count(chr(10))} lines, uftrace has {other.count(chr(10))}')
    need(mine.count('\n') > 1, f'{recording}: nothing is shown')
    need(mine_open == other_open, f'{recording}: open at the end:', mine_open, other_open)
    return mine.count('\n')


def check(directory, *more):
    """Of the directory, with these options, too; and of the compact file made from it."""
    for options in [[], ['-f', FIELDS], *more]:
        lines = compare(directory, directory, *options)
        print(f'{directory}: {lines} lines {options}')
    must([GUESTTRACE, 'export', '-f', 'compact', '-o', f'{directory}.gtrace', directory])
    compare(f'{directory}.gtrace', directory, '-f', FIELDS)


def forget(directory, *names):
    for name in names:
        if os.path.exists(f'{directory}/{name}'):
            os.unlink(f'{directory}/{name}')


def programs(t, names):
    """Without new names of tasks: uftrace shows some of them, not those deeper than --depth, and not if another
    task's, in the file before it, is later."""
    qemus.user('x86_64')
    for name in names:
        out = f'{t.folder}/{name}.data'
        compile_to(f'{t.folder}/{name}.exe', 'x86_64', paths.source('guest', 'cases', name), '-O1', '-g', '-pthread',
                   '-D_GNU_SOURCE', f'-I{paths.source("guest")}')
        record(out, [], [f'{t.folder}/{name}.exe'])
        forget(out, NAMES, OPEN_CALLS)
        yield out


def test_programs(t):
    for out in programs(t, PROGRAMS):
        check(out, ['-D', '3'], ['-D', '8'], ['-t', '1us'], ['-t', '50us'])


def test_names(t):
    """A task that names itself: the name is shown where it is set."""
    source, program, out = f'{t.folder}/named.c', f'{t.folder}/named', f'{t.folder}/named.data'
    write(source, NAMED)
    compile_to(program, 'x86_64', source, '-O1', '-g', '-D_GNU_SOURCE')
    qemus.user('x86_64')
    record(out, [], [program])
    forget(out, OPEN_CALLS)
    check(out)
    need('linux:task-name (comm="another")' in ours(out)[0], 'no new name')


def test_tasks_and_functions(t):
    """What is chosen: tasks, functions."""
    (out,) = programs(t, ['threads.c'])
    tids = sorted(int(name[:-4]) for name in os.listdir(out) if re.fullmatch(r'\d+\.dat', name))
    for tid in tids:
        compare(out, out, '--task', str(tid), other_options=['--tid', str(tid)])
    for name in ['main', 'pthread_create', '_dl_start', 'malloc']:
        compare(out, out, '-F', name)


def test_machines(t):
    machine = boards.build_kernel('aarch64', t.folder, paths.source('machine', 'cases', 'threads.c'))
    made = 0
    for version, qemu in qemus.find('aarch64'):
        for options in [[], ['--privilege-levels']]:
            if options and qemus.number(version) < qemus.TELLS_REGISTERS:
                continue
            out = f'{t.folder}/machine-{version}{len(options)}'
            record(out, options, machine.command(qemu))
            symbols(out, machine.elf)
            forget(out, OPEN_CALLS)
            check(out)
            made += 1
    if not made:
        raise Skip('no machine can be recorded')


def recorded_by_uftrace(t, *options):
    source, program, out = f'{t.folder}/own.c', f'{t.folder}/own', f'{t.folder}/own.data'
    write(source, OWN)
    must([tool('gcc'), '-O1', '-pg', '-pthread', '-fno-inline', *options, '-o', program, source])
    must([tool('uftrace'), 'record', '--no-pager', '--no-event', '-d', out, program])
    return out


def test_recorded_by_uftrace(t):
    check(recorded_by_uftrace(t))


def test_child_recorded_by_uftrace(t):
    """A child begins in the middle of fork: uftrace shows its end alone and deeper, here it is a call in main."""
    out = recorded_by_uftrace(t, '-DCHILD')
    mine, other = ours(out)[0], theirs(out)[0]
    lines = [[re.sub(r' +', ' ', line) for line in text.splitlines()] for text in (mine, other)]
    lines[1] = re.sub(r'^( \[ \d+\] \| )\} /\* fork \*/$', r'\1main() {\n\1fork();', '\n'.join(lines[1]),
                      flags=re.MULTILINE).split('\n')
    need(lines[0] == lines[1], 'of a child', lines)


def test_cut(t):
    """Of recordings that end in the middle: what is open there."""
    for out in programs(t, ['fork.c', 'coroutines.c']):
        for name in os.listdir(out):
            if re.fullmatch(r'\d+\.dat', name):
                os.truncate(f'{out}/{name}', os.path.getsize(f'{out}/{name}') // 2 & ~15)
        check(out)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
