#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ten thousand random sets of filters and triggers: recorded with them is recorded whole and filtered by the reader, byte
for byte.

usage: sets_test.py [SEED [SETS]]

Without SEED it takes one that no run had; each set has a seed of its own, which is printed where it fails: with that one
and SETS 1 it runs again. A run of QEMU has many plugins, each a copy: the first records the whole, the others a set
each. So guests need not run the same twice. The seed chooses the program: record_test.py's two, programs of tests/guest,
and a kernel.
"""
import os
import random
import re
import shutil
import sys

from gttest import boards, compilers, paths, qemus, recordings
from gttest.commands import run
from gttest.compilers import compile_to
from gttest.filters import arguments
from gttest.recordings import converse, record, symbols
from gttest.results import FAILED, Tally, in_folder, need, same
from machine_record_test import about_first
from record_test import DURATION, FUNCTIONS, LIBRARY, Options

SETS, AT_ONCE = 10000, 24
# Of tests/guest; those of several tasks have no order among events of one time, and a forked child has its own switches
# and counts: what is one for all tasks is compared with programs of one.
CASES = ['longjmp.c', 'coroutines.c', 'exceptions.cc', 'tail_calls.c', 'signals.c', 'dlopen.c']
MANY_TASKS = ['fork.c', 'signals_mixed.cc']
SHARED = re.compile(r'trace-o|finish|count=|after=|every=|--trace')
# Where the recorder falls asleep the calls of all stacks end. A reader does not see when that is.
STACKS, SLEEP = ['coroutines.c', 'ways', 'ways, static'], re.compile('trace-o|finish|--trace')
TIMES = re.compile('-t |time=')


def flat(out, *options):
    """What replay prints; that a pattern matched nothing is no fault here."""
    return recordings.flat(out, *options, may_say=[b' matches no function that was called'])


class Program:
    """What is recorded: a command, and names and times for random options."""
    several = is_machine = False

    def __init__(self, name, folder, command):
        self.name, self.folder, self.command = name, folder, command
        self.functions, self.times = [], []
        self.status = None

    def learn(self, copies):
        whole = flat(self.record(copies, [[]])[0])
        self.functions = sorted(set(re.findall(r'(?m) enter +- ([A-Za-z_]\w*)$', whole)))
        self.times = sorted({int(t) for t in DURATION.findall(whole)})
        need(len(self.functions) > 3, self.name, 'has', self.functions)

    def suits(self, options):
        if self.name in STACKS and SLEEP.search(' '.join(options.words)) and TIMES.search(' '.join(options.words)):
            return False
        # -D alone is no filter of a reader; -t alone shows switches of tasks that a filter leaves out
        limits = ['-D', '--match=glob'] + ['-t'] * self.is_machine
        return any(word.startswith('-') and word not in limits for word in options.words) and not (
            self.several and SHARED.search(' '.join(options.words)))

    def options(self, seed):
        """Random ones; the next seeds of its own, until some suit."""
        own = random.Random(seed)
        while True:
            options = Options(self.functions, self.times, own.randrange(1 << 40))
            if self.suits(options):
                return options

    def record(self, copies, sets):
        """Where the recordings are, one for each list of the plugin's arguments."""
        outs = [f'{self.folder}/{i}' for i in range(len(sets))]
        words = []
        for out, copy, more in zip(outs, copies, sets):
            shutil.rmtree(out, ignore_errors=True)
            if os.path.isfile(out):
                os.unlink(out)
            words += ['-plugin', ','.join([copy, 'clock=insn', 'summary=off', f'output={out}', *more])]
        self.run(words)
        return outs

    def run(self, words):
        done = run([self.command[0], *words, *self.command[1:]], cwd=self.folder)
        wrong = re.sub(rb'(?m)^guesttrace-uftrace: .* matches no function that ran.*\n', b'', done.stderr)
        need(b'guesttrace-uftrace' not in wrong, self.name, wrong)
        need(self.status in (None, done.returncode), self.name, 'exit status', done.returncode, wrong)
        self.status = done.returncode


class Kernel(Program):
    several = is_machine = True

    def __init__(self, folder, qemu):
        case = paths.source('machine', 'cases', 'preemption.c')
        self.built = boards.build_kernel('aarch64', folder, case)
        super().__init__(f'kernel under {qemu}', folder, self.built.command(qemu))
        self.map = None

    def learn(self, copies):
        told = f'{self.folder}/told'
        record(told, ['-q'], self.command)
        self.map = shutil.copy(f'{told}/code.map', f'{self.folder}/code.map')
        super().learn(copies)

    def suits(self, options):
        return super().suits(options) and not about_first(options.words, options.glob)

    def record(self, copies, sets):
        known = [f'code={self.map}'] if self.map else []
        outs = super().record(copies, [known + words for words in sets])
        for out in outs:
            symbols(out, self.built.elf)
        return outs

    def run(self, words):
        converse([self.command[0], *words, *self.command[1:]])


def case_program(name, folder):
    sys.path.insert(0, paths.source('guest'))
    import run_case  # pylint: disable=import-outside-toplevel
    case = run_case.Case(paths.source('guest', 'cases', name))
    run_case.build(case, 'x86_64', folder)
    program = Program(name, folder, run_case.command_of(case, 'x86_64', folder, []))
    program.several = name in MANY_TASKS
    return program


def ways(folder, with_library):
    source = paths.source('filter', 'ways.c')
    if not with_library:
        small = compile_to(f'{folder}/ways', 'x86_64', source, '-O1', '-static', '-DSTATIC')
        return Program('ways, static', folder, [qemus.user('x86_64'), small])
    library = compile_to(f'{folder}/libways.so', 'x86_64', paths.source('filter', 'ways_library.c'), '-O1', '-shared', '-fPIC')
    large = compile_to(f'{folder}/ways', 'x86_64', source, '-O1', '-ldl')
    return Program('ways', folder, [qemus.user('x86_64'), '-L', compilers.sysroot('x86_64'), large, library])


def turns(folder):
    program = compile_to(f'{folder}/turns', 'x86_64', paths.source('filter', 'turns.c'), '-O1', '-g0', '-static', '-pthread',
                         *compilers.AS_WRITTEN[1:])
    found = Program('turns', folder, [qemus.user('x86_64'), program])
    found.several = True
    return found


def programs(folder, first):
    def own(name):
        os.mkdir(f'{folder}/{name}')
        return f'{folder}/{name}'
    found = [ways(own('static'), False), ways(own('library'), True), turns(own('turns'))]
    found += [case_program(name, own(name)) for name in CASES + MANY_TASKS]
    machines = qemus.machines('aarch64')
    return found + [Kernel(own('kernel'), machines[first // 100 % len(machines)][1])]


def by_task(text):
    """Each task's lines in their order: those of several tasks have none where their times are the same."""
    return '\n'.join(sorted(text.splitlines(), key=lambda line: line.split()[1:2]))


def compare(program, whole, filtered, options):
    words = options.words
    got, want = flat(filtered), flat(whole, *words)
    if program.name in STACKS and SLEEP.search(' '.join(words)):
        got, want = ('\n'.join(re.findall('(?m)^.* enter .*$', text)) for text in (got, want))
    if program.several and not program.is_machine:
        got, want = by_task(got), by_task(want)
    same(got, want, f"{program.name}, {' '.join(words)}:")


def run_some(program, copies, seeds, tally):
    """A run of the program with a set for each seed."""
    sets = [(seed, program.options(seed)) for seed in seeds]
    formats = [['format=compact'] if random.Random(seed).random() < 0.25 and not program.is_machine else [] for seed in seeds]
    outs = program.record(copies, [['depth=1048576']] + [
        arguments(options.words) + form for (_, options), form in zip(sets, formats)])
    for (seed, options), out in zip(sets, outs[1:]):
        tally.run(f'{sys.argv[0]} {seed} 1', compare, program, outs[0], out, options)


def check(folder):
    first = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(1 << 40)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else SETS
    print(f'seeds from {first}', flush=True)
    copies = [shutil.copy(paths.plugin('uftrace'), f'{folder}/{i}.so') for i in range(AT_ONCE + 1)]
    all_programs, tally = programs(folder, first), Tally()
    for number, program in enumerate(all_programs):
        seeds = [seed for seed in range(first, first + count) if seed % len(all_programs) == number]
        if seeds:
            program.learn(copies)
        for at in range(0, len(seeds), AT_ONCE):
            tally.run(program.name, run_some, program, copies, seeds[at:at + AT_ONCE], tally)
    print(f'{tally.good} sets and runs record what they show')
    return FAILED if tally.failed else tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('filter-sets', check))
