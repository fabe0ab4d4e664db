#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of calls under filters: recorded with random sets of options is recorded whole and filtered by the reader, byte
for byte, arguments and return values included.

usage: values_test.py

Needs a user-mode QEMU 9.0 or later that loads plugins (scripts/qemus user). SETS in the environment is how many, SEED the
first.
"""
import os
import random
import re
import sys

from gttest import paths, qemus
from gttest.commands import printed, run
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.recordings import record
from gttest.results import Tally, in_folder, need, write
from record_test import DURATION, FUNCTIONS, Options, compare, flat

SETS, WHERES = (60, 4) if paths.LONG else (20, 2)
VALUES = ['-A', 'fib@arg1/d32;spin@arg1/d32;tail_.*@arg1/d32;in_handler@arg1/d32;do_all@arg1/d32,arg2/s',
          '-A', 'jump_out@arg1/u32;raise@arg1/d32;main@arg1/d32', '-R', 'fib@retval/d32;raise@retval/d32',
          '-R', 'main@retval/d32;jump_out@retval;tail_two@retval/x32']


class Conditions(Options):
    """Random options, many with conditions on values: of functions that have these, so that no other is recorded."""

    # What each has at its entry, and at its return.
    VALUED = {'fib': (['arg1'], ['retval']), 'do_all': (['arg1', 'arg2'], []), 'spin|fib': (['arg1'], []),
              'tail_one': (['arg1'], []), 'in_handler': (['arg1'], []), 'jump_out|do_all': (['arg1'], []),
              'tail_two': (['arg1'], []), 'main': (['arg1'], ['retval']), 'raise': (['arg1'], ['retval'])}

    def comparison(self, name, at_entry):
        r = self.random
        number = r.choice(['-1', '0', '1', '2', '3', '5', '0x10', r.choice(at_entry)])
        if name == 'arg2':
            return r.choice(['arg2=="."', 'arg2!="."', 'arg2==0', 'arg2'])
        return r.choice([f'{name}{r.choice(["==", "!=", "<", "<=", ">", ">="])}{number}', f'{name}&{r.randrange(1, 8)}',
                         name, f'{name}&3!={number}'])

    def condition(self, at_entry, at_return):
        r = self.random
        text = self.comparison(r.choice(at_return or at_entry), at_entry)
        for _ in range(r.choice([0, 0, 1, 2])):
            text += f"{r.choice(['&&', '||'])}{r.choice(['', '!'])}({self.comparison(r.choice(at_entry + at_return), at_entry)})"
        return text

    def trigger(self):
        r = self.random
        if r.random() < 0.3:
            return super().trigger()
        name = r.choice([n for n in self.VALUED if not self.glob or '|' not in n])
        at_entry, at_return = self.VALUED[name]
        if r.random() < 0.5:
            at_return = []
        action = r.choice(['trace-on', 'trace-off'] if at_return else
                          ['trace-on', 'trace-off', 'filter', 'notrace', 'hide', 'caller', 'trace', f'time={self.time()}',
                           f'depth={r.randrange(1, 5)}', 'filter', 'trace-off,return:trace-on'])
        often = r.choice(['', '', '', ',count=2', ',after=1', ',every=2'])
        pattern = name if self.glob else f'^({name})$'
        return f'{pattern}@{action},if:{self.condition(at_entry, at_return)}{often}'

    def make(self):
        self.words += ['-T', self.trigger()]
        super().make()


def named(folder, program):
    """A values file of fib: n, an int, and what it returns."""
    at = next(line.split()[0] for line in printed(['nm', program]).splitlines() if line.endswith(' t fib'))
    return write(f'{folder}/values', 'guesttrace values 1\nmodule - ' + program +
                 f'\nfunction {int(at, 16) - 0x400000:x} fib\narg 1 d 4 n - %rdi\nret - d 4 - - %rax\n')


def lines(out, *options):
    return [line.split(None, 5)[-1] for line in flat(out, *options).splitlines() if ' enter ' in line or ' leave ' in line]


def check_triggers(folder, qemu, program):
    """What triggers record, and what conditions compare; by the names of a values file, too."""
    out = f'{folder}/triggers'
    record(out, ['-q', '-F', 'do_all', '-D', '1', '-T', 'do_all@arg1/d32,arg2/s,trace'], [qemu, program])
    need(lines(out)[::2] == [f'do_all({i}, NULL)' for i in range(7)], lines(out))
    record(out, ['-q', '-T', 'fib@retval/d32;fib@arg1/d32'], [qemu, program])  # filters nothing
    need('spin' in lines(out) and 'fib(3)' in lines(out) and 'fib = 2' in lines(out), 'no values')
    record(out, ['-q', '-F', 'fib@if:arg1==4', '-D', '1'], [qemu, program])
    need(lines(out) == ['fib(4)', 'fib'], 'what a condition compares:', lines(out))
    plugin = ','.join([paths.plugin('uftrace'), f'output={out}', 'values=' + named(folder, program)])
    printed([qemu, '-plugin', f'{plugin},filter=fib@if:n&1==1&&n>2', program])
    need(lines(out)[:2] == ['fib(n=3)', 'tiny'], lines(out)[:3])
    need(lines(out, '-F', 'fib@if:n==2', '-D', '1') == ['fib(n=2)', 'fib = 1'] * 2, lines(out))
    done = run([qemu, '-plugin', f'{plugin},trigger=fib@trace-off,,if:m==1', program])
    need(b"-T (trigger=): fib@trace-off,if:m==1: no call had a value 'm'" in done.stderr, done.stderr)
    done = run([qemu, '-plugin', f'{paths.plugin("uftrace")},output={out}2,trigger=fib@trace-off,,if:m==1', program])
    need(b"no value 'm'; known here" in done.stderr + done.stdout, done)
    done = run([GUESTTRACE, 'replay', '-F', 'fib@if:m==1', out])
    need(done.returncode == 1 and b"no call had a value 'm'" in done.stderr, done)


COMPARE = {'==': lambda a, b: a == b, '!=': lambda a, b: a != b, '<': lambda a, b: a < b, '>=': lambda a, b: a >= b}


def calls_of(whole):
    """(function, values by name, ns, line of its entry) of each call of a whole recording, from its lines."""
    opened, calls = {}, []
    for line in flat(whole).splitlines():
        m = re.match(r' *[\d.]+ +(\w+) +\d+ (enter|leave) +(\S+) (\w+)(?:\((.*)\))?(?: = (.*))?$', line)
        if m and m[2] == 'enter':
            values = {f'arg{i}': v for i, v in enumerate((m[5] or '').split(', '), 1) if v}
            opened.setdefault(m[1], []).append((m[4], values, line))
        elif m:
            name, values, entry = opened[m[1]].pop()
            calls.append((name, dict(values, **({'retval': m[6]} if m[6] else {})), int(float(m[3]) * 1e9 + 0.5), entry))
    return calls


def holds(terms, values, took):
    """Terms, the first of which is joined by nothing: (joined by && or ||, name, comparison, number)."""
    groups = []  # && binds tighter
    for join, name, sign, number in terms:
        have = took if name == 'took' else values.get(name)
        good = have is not None and COMPARE[sign](int(str(have), 0), number)
        if join == '||' or not groups:
            groups.append(good)
        else:
            groups[-1] = groups[-1] and good
    return any(groups)


def check_where(whole, seed):
    """--where finds the calls that a plain reading of the whole finds."""
    r = random.Random(seed)
    calls, found = calls_of(whole), 0
    for _ in range(12):
        function = r.choice(['fib', 'spin', 'jump_out', 'main', 'raise', 'tail_one'])
        terms = [(r.choice(['&&', '||']) if i else '', r.choice(['arg1', 'retval', 'took']), r.choice(list(COMPARE)),
                  r.choice([0, 1, 2, 3, 5, 100])) for i in range(r.choice([1, 2, 2, 3]))]
        condition = ' '.join(f'{join} {name} {sign} {number}' for join, name, sign, number in terms)
        want = {entry.split()[0] for name, values, took, entry in calls if name == function and holds(terms, values, took)}
        got = flat_of_any(whole, '--where', f'{function}:{condition}', '-D', '1')
        need(got == want, f'--where {function}:{condition} finds', sorted(got), 'not', sorted(want))
        found += len(want)
    need(found > 20, 'few calls are found:', found)


def flat_of_any(whole, *options):
    """Times of entries; that no call had a value is no fault."""
    text = run([GUESTTRACE, 'replay', '--no-pager', '--flat', *options, whole]).stdout.decode()
    return {line.split()[0] for line in text.splitlines() if ' enter ' in line}


def check_without(folder, program):
    """A QEMU that lets no plugin read registers, and a recording without values: both are refused."""
    out = f'{folder}/without'
    record(out, ['-q'], [qemus.user('x86_64'), program])
    done = run([GUESTTRACE, 'replay', '-T', 'fib@trace-off,if:arg1==1', out])
    need(done.returncode == 2 and b'character 18: values of calls are not known here' in done.stderr, done)
    old = qemus.user_before('x86_64', qemus.TELLS_REGISTERS)
    for trigger in 'fib@arg1', 'fib@trace-off,,if:arg1==1':
        done = run([old, '-plugin', f'{paths.plugin("uftrace")},output={out}2,trigger={trigger}', program])
        need(b'QEMU 9.0 and later' in done.stderr + done.stdout and not os.path.exists(f'{out}2'), done)


def check(folder):
    qemu = qemus.user_with_registers('x86_64')
    tally, first, sets = Tally(), int(os.environ.get('SEED', '1')), int(os.environ.get('SETS', SETS))
    program = compile_to(f'{folder}/ways', 'x86_64', paths.source('filter', 'ways.c'), '-O1', '-static', '-DSTATIC')
    for number, suffix in enumerate(('.data', '.gtrace')):
        whole, values = f'{folder}/whole{suffix}', [*VALUES, *(['--format', 'compact'] if number else [])]
        record(whole, ['-q', '--depth', '100000', *values], [qemu, program])
        shown = flat(whole)
        times = sorted({int(t) for t in DURATION.findall(shown)})
        need(re.search(r'fib\(4\)', shown) and re.search(r'jump_out\(2\)', shown), 'the recording has no values')
        for i in range(sets // 2):
            options = (Conditions if i % 3 else Options)(FUNCTIONS, times, first + 2 * i + number)
            tally.run(f'set {first + 2 * i + number}', compare, folder, whole, [qemu, program], options, values, suffix)
    print(f'{tally.good} sets record what they show')
    tally.run('triggers', check_triggers, folder, qemu, program)
    for seed in range(first, first + WHERES):
        tally.run(f'--where, seed {seed}', check_where, whole, seed)
    tally.run('without values', check_without, folder, program)
    return tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('filter-values', check))
