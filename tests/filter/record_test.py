#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded with filters and triggers is recorded whole and filtered by the reader: the same calls, byte for byte.

usage: record_test.py

A guest that runs the same each time is recorded whole once, and then with random sets of options; `guesttrace replay
--flat` of that must print what it prints of the whole recording with the same options. SETS in the environment is how
many, SEED the first.
"""
import os
import random
import re
import sys

from gttest import paths, qemus, recordings
from gttest.compilers import compile_to
from gttest.recordings import record
from gttest.results import Tally, in_folder, need, same

SETS = 60 if paths.LONG else 24
FUNCTIONS = ['spin', 'tiny', 'fib', 'jump_out', 'jump_back', 'tail_one', 'tail_two', 'on_signal', 'in_handler',
             'send_signal', 'yield_to_main', 'context_main', 'run_context', 'do_all', 'main', 'swapcontext', '_start']
LIBRARY = ['library_work', 'library_leaf', 'load_and_call', 'dlopen', 'libways:library_leaf', 'libways:.*']
DURATION = re.compile(r' leave +0\.(\d{9}) ')
FIRST_COROUTINE, COROUTINES_EACH = 5000000, 10000


def flat(out, *options):
    """Lines of replay --flat, with numbers of tasks that are the same in every run."""
    def number(match):
        tid = int(match[2])
        name = f'C{tid % COROUTINES_EACH}' if tid >= FIRST_COROUTINE else 'P'
        return f'{match[1]}{name:>9}'
    return re.sub(r'(?m)^( *\d+\.\d{9})( +\d+)', number, recordings.flat(out, *options))


class Options:
    """Random options."""

    def __init__(self, functions, times, seed):
        self.random, self.functions, self.times = random.Random(seed), functions, times
        self.glob = self.random.random() < 0.2
        self.words = ['--match=glob'] if self.glob else []
        self.starts_off = False
        self.make()

    def pattern(self):
        name = self.random.choice(self.functions)
        if ':' in name:
            return name.replace('.*', '*') if self.glob else name
        if self.glob:
            forms = [name, name[:2] + '*', '?' + name[1:], '[a-f]*', '*' + name[-2:]]
        else:
            forms = [name, name, '^' + name[:3], name[-2:] + '$', f'{name}|tiny', '^[a-f]', 'tail_.*', '.' + name[1:]]
        return self.random.choice(forms)

    def time(self):
        return f'{self.random.choice(self.times) + self.random.choice([0, 0, 1])}ns'

    def often(self, condition=True):
        r = self.random
        return ''.join(word for word, chance in (
            (f',count={r.randrange(1, 4)}', 0.25), (f',after={r.randrange(4)}', 0.2), (f',every={r.randrange(1, 4)}', 0.2),
            (f',if:depth<{r.randrange(9)}', 0.2 * condition)) if r.random() < chance)

    def trigger(self):
        r = self.random
        at_entry = ['trace-on', 'trace-off', f'depth={r.randrange(1, 5)}', f'time={self.time()}', 'trace', 'filter',
                    'notrace', 'hide', 'caller', f'size={r.randrange(60)}', f'depth={r.randrange(1, 5)},filter']
        at_return = ['return:trace-on', 'return:trace-off', f'trace-off,if:took>{self.time()}',
                     f'trace-on,if:took<{self.time()}', 'trace-on,return:trace-off']
        if r.random() < 0.06:
            at_entry = at_return = ['finish', 'return:finish', f'finish,if:took>{self.time()}']
        action = r.choice(at_entry if r.random() < 0.7 else at_return)
        return f"{self.pattern()}@{action}{self.often('if:' not in action)}"

    def make(self):
        r = self.random
        for option, chance in ('-F', 0.4), ('-N', 0.4), ('-F', 0.2), ('-H', 0.3), ('-C', 0.15):
            if r.random() < chance:
                self.words += [option, self.pattern()]
        for _ in range(r.choice([0, 0, 1, 1, 2, 3])):
            self.words += ['-T', self.trigger()]
        if r.random() < 0.1:
            self.words += ['--trace', 'off', '-T', self.pattern() + '@trace-on' + self.often()]
        for option, chance, value in (('-D', 0.3, str(r.randrange(1, 7))), ('-Z', 0.1, str(r.randrange(1, 200))),
                                      ('-t', 0.3, self.time())):
            if r.random() < chance or not self.words:
                self.words += [option, value]
        if len(self.words) == 2 and self.words[0] == '-D':  # alone it is no filter
            self.words += ['-H', self.pattern()]


def compare(folder, whole, command, options, more=(), suffix='.data'):
    """`more`: options of both recordings."""
    out = f'{folder}/filtered{suffix}'
    done = record(out, ['-q', *more, *options.words], command, may_be_empty=True)
    need(b'anomaly' not in done.stderr, done.stderr)
    same(flat(out), flat(whole, *options.words), f"record {' '.join(options.words)}:")


def calls(out, *options):
    """Entries without times: how long a dynamic linker takes depends on where files are."""
    return '\n'.join(re.findall(r'(?m) (\d+ enter .*)$', flat(out, *options)))


def check_sizes(folder):
    """Code without symbols, as of Debian's libgcc, has no size when it is recorded and when it is read."""
    program = compile_to(f'{folder}/exceptions', 'x86_64', paths.source('guest', 'cases', 'exceptions.cc'), '-O1',
                         f'-I{paths.source("guest")}', f'-I{paths.source("guest", "cases")}')
    whole = f'{folder}/sizes.data'
    record(whole, ['-q', '--depth', '100000'], [program])
    need('+0x' in calls(whole), 'all code has symbols')
    for words in ('-Z', '1'), ('-Z', '100'), ('-T', '^[a-m]@size=60'):
        record(f'{folder}/sized.data', ['-q', *words], [program])
        same(calls(f'{folder}/sized.data'), calls(whole, *words), f'record {words}:')


def build(folder):
    source = paths.source('filter', 'ways.c')
    library = f'{folder}/libways.so'
    compile_to(library, 'x86_64', paths.source('filter', 'ways_library.c'), '-O1', '-shared', '-fPIC')
    small = compile_to(f'{folder}/ways-static', 'x86_64', source, '-O1', '-static', '-DSTATIC')
    large = compile_to(f'{folder}/ways', 'x86_64', source, '-O1', '-ldl')
    return [([small], FUNCTIONS), ([large, library], FUNCTIONS + LIBRARY)]


def check(folder):
    qemus.user('x86_64')
    tally, first, sets = Tally(), int(os.environ.get('SEED', '1')), int(os.environ.get('SETS', SETS))
    for number, (command, functions) in enumerate(build(folder)):
        whole = f'{folder}/whole{number}.data'
        record(whole, ['-q', '--depth', '100000'], command)
        times = sorted({int(t) for t in DURATION.findall(flat(whole))})
        for i in range(sets if number == 0 else sets // 4):
            options = Options(functions, times, first + 2 * i + number)
            tally.run(f'set {first + 2 * i + number}', compare, folder, whole, command, options)
    tally.run('sizes', check_sizes, folder)
    print(f'{tally.good} sets record what they show')
    return tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('filter-record', check))
