#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that never returned: of a program that exits inside calls, with a thread that waits, and one that is killed. Replay
and the exports of each call say of them, and of no others, that they are open. The last calls alone: `replay --last`.
"""
import json
import sys

from gttest import functions, qemus
from gttest.commands import must, printed
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.replay import read
from gttest.results import equal, need, write

PROGRAM = r'''
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
static volatile int waits, n;
NOINLINE void step(void) { n++; }
NOINLINE void thread_waits(void) { step(); waits = 1; for (;;) pause(); }
NOINLINE void *thread(void *arg) { step(); thread_waits(); return arg; }
NOINLINE void work(void) { step(); step(); }
NOINLINE void ends(int killed) { step(); if (killed) raise(SIGKILL); exit(3); }
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    while (!waits)
        ;
    work();
    ends(argc > 1);
}
'''
OWN = {'main', 'ends', 'thread', 'thread_waits', 'work', 'step'}
OPEN = {'main', 'ends', 'thread', 'thread_waits'}


def recorded(t, form, *arguments):
    qemus.user('x86_64')
    program, out = f'{t.folder}/program', f'{t.folder}/{form}'
    write(f'{program}.c', PROGRAM)
    compile_to(program, 'x86_64', f'{program}.c', '-O1', '-pthread')
    status = -9 if arguments else 3
    must([GUESTTRACE, 'record', '-q', '--format', form, '-T', 'work@mark=here', '-o', out, program, *arguments], status)
    return out


def events(lines):
    """{event: names of own functions}"""
    found = {}
    for line in lines:
        found.setdefault(line.event, set()).update({line.name.removesuffix('()')} & OWN)
    return found


def check(out):
    flat = read(printed([GUESTTRACE, 'replay', '--flat', out]))
    found = events(flat)
    equal((found['open'], found['leave']), (OPEN, OWN - OPEN), 'open, and left')
    equal([line.name for line in flat if line.event in ('mark', 'console')], ['here'], 'marks')
    text = printed([GUESTTRACE, 'replay', out])
    need('/* mark: here */' in text and '} /* work */' in text and '} /* main */' not in text, text)
    calls = [json.loads(line) for line in printed([GUESTTRACE, 'replay', '--json', out]).splitlines()]
    need({'mark': 'here'}.items() <= next(line for line in calls if 'mark' in line).items(), 'the mark')
    returned = {(line['function'], line['returned']) for line in calls if line.get('function') in OWN}
    equal(returned, {(name, name not in OPEN) for name in OWN}, 'calls that returned, as JSON')
    entered = sum(line.event == 'enter' for line in flat)
    equal(sum('function' in line for line in calls), entered, 'a line for each call')
    must([GUESTTRACE, 'export', '--format', 'chrome', '-o', f'{out}.json', out])
    check_chrome(f'{out}.json')
    check_sums(out)


def check_sums(out):
    """How many did not return, in all that sums up."""
    rows = json.loads(printed([GUESTTRACE, 'report', '--json', out]))['rows']
    equal({row['function']: row['open'] for row in rows if row['function'] in OWN}, {name: int(name in OPEN) for name in OWN}, 'report')
    nodes = [node for root in json.loads(printed([GUESTTRACE, 'graph', '--json', out]))['roots'] for node in root['nodes']]
    graph = {name: sum(node['open'] for node in nodes if node.get('function') == name) for name in OWN}
    equal(graph, {name: int(name in OPEN) for name in OWN}, 'graph')
    for by in 'task', 'module':
        groups = json.loads(printed([GUESTTRACE, 'report', '--json', '--by', by, out]))['rows']
        equal(sum(row['open'] for row in groups), sum(row['open'] for row in rows), f'report by {by}')
    text = printed([GUESTTRACE, 'graph', '--function', 'main', out])
    need('(1, 1 open) main\n' in text and '(1) work\n' in text, text)
    table = printed([GUESTTRACE, 'report', out]).splitlines()
    column = table[0].index('Open')
    equal({line.split()[-1] for line in table[2:] if line.split()[-1] in OWN and line[column:column + 4].strip() == '1'}, OPEN, table)


def check_chrome(path):
    with open(path, encoding='utf-8') as f:
        trace = json.load(f)['traceEvents']
    stacks, opened = {}, set()
    for e in trace:
        if e['ph'] == 'B':
            stacks.setdefault(e['tid'], []).append(e['name'])
        elif e['ph'] == 'E':
            name = stacks[e['tid']].pop()
            if e.get('args', {}).get('open'):
                opened.add(name)
    equal(opened & OWN, OPEN, 'open in the export')


def test_exit(t):
    for form in 'compact', 'uftrace':
        check(recorded(t, form))


def test_converted(t):
    out = recorded(t, 'uftrace')
    must([GUESTTRACE, 'export', '--format', 'compact', '-o', f'{out}.gtrace', out])
    check(f'{out}.gtrace')


def test_killed(t):
    """What repair ends was open."""
    for form in 'compact', 'uftrace':
        out = recorded(t, form, 'killed')
        found = events(read(printed([GUESTTRACE, 'replay', '--flat', out])))
        equal(found['open'], OPEN, form)


def test_executed(t):
    """A program that another one replaces has not returned; the new one has its own calls."""
    write(f'{t.folder}/first.c', '''#include <unistd.h>
__attribute__((noinline)) int step(void) { return 1; }
__attribute__((noinline)) int first(char **argv) { step(); return execv(argv[1], argv + 1); }
int main(int argc, char **argv) { return first(argv); }
''')
    write(f'{t.folder}/second.c', '''#include <unistd.h>
__attribute__((noinline)) int second(void) { return 3; }
int main(void) { _exit(second()); }
''')
    for name in 'first', 'second':
        compile_to(f'{t.folder}/{name}', 'x86_64', f'{t.folder}/{name}.c', '-O0')
    for form in 'compact', 'uftrace':
        out = f'{t.folder}/exec-{form}'
        must([GUESTTRACE, 'record', '-q', '--format', form, '-o', out, f'{t.folder}/first', f'{t.folder}/second'], 3)
        lines = read(printed([GUESTTRACE, 'replay', '--flat', out]))
        own = [(line.event, line.name) for line in lines if line.event != 'name' and line.name in ('first', 'second', 'step', 'main')]
        equal(sorted(own), sorted([('enter', 'main'), ('enter', 'first'), ('enter', 'step'), ('leave', 'step'), ('open', 'first'),
                                   ('open', 'main'), ('enter', 'main'), ('enter', 'second'), ('leave', 'second'), ('open', 'main')]), form)


def test_switched_off(t):
    """What a trigger, or another task's, switches off has not returned there."""
    write(f'{t.folder}/off.c', '''__attribute__((noinline)) int stop(void) { return 1; }
__attribute__((noinline)) int inner(void) { return stop() + 1; }
__attribute__((noinline)) int outer(void) { return inner() + 1; }
__attribute__((noinline)) int before(void) { return 0; }
int main(void) { return before() + outer() - 3; }
''')
    compile_to(f'{t.folder}/off', 'x86_64', f'{t.folder}/off.c', '-O0')
    for form in 'compact', 'uftrace':
        out = f'{t.folder}/off-{form}'
        must([GUESTTRACE, 'record', '-q', '--format', form, '-T', 'stop@trace-off', '-o', out, f'{t.folder}/off'])
        lines = read(printed([GUESTTRACE, 'replay', '--flat', out]))
        own = [(line.event, line.name) for line in lines if line.name in ('before', 'outer', 'inner', 'main', 'stop')]
        equal(own[:5], [('enter', 'main'), ('enter', 'before'), ('leave', 'before'), ('enter', 'outer'), ('enter', 'inner')], form)
        equal(sorted(own[5:]), [('open', 'inner'), ('open', 'main'), ('open', 'outer')], form)


def test_last(t):
    out = recorded(t, 'compact')
    flat = read(printed([GUESTTRACE, 'replay', '--flat', out]))
    main = next(line.tid for line in flat if line.name == 'main')
    for tid in None, main:
        entered = [line for line in flat if line.event == 'enter' and tid in (None, line.tid)]
        options = ['--task', str(tid)] if tid else []
        for n in 1, 5, 40:
            part = read(printed([GUESTTRACE, 'replay', '--flat', '--last', str(n), *options, out]))
            got = [line for line in part if line.event == 'enter']
            equal(got[-n:], entered[-n:], 'the last calls')
            need(got[0].time == entered[-n].time, 'no calls before them')
    few = read(printed([GUESTTRACE, 'replay', '--flat', '--last', '1', '--function', 'step', out]))
    equal([line.name for line in few if line.event == 'enter'][:1], ['step'], 'of the chosen ones')
    done = must([GUESTTRACE, 'replay', '--flat', '--json', out], 2)
    need(b'takes one of --flat and --json' in done.stderr, done.stderr)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
