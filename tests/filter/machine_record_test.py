#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine recorded with filters is recorded whole and filtered by the reader, byte for byte: one run, recorded by two
plugins at once.

usage: machine_record_test.py CASE.c ARCH

SETS in the environment is how many sets of options on each QEMU, SEED the first. Beside random ones there are those that
readers do not have: --no-handlers, levels.
"""
import fnmatch
import json
import os
import re
import shutil
import sys

from gttest import boards, paths, qemus, recordings
from gttest.commands import run
from gttest.filters import arguments
from gttest.recordings import converse, record, symbols
from gttest.results import Tally, in_folder, need, read_text, same
from record_test import DURATION, Options

SETS = 4 if paths.LONG else 2
EVERY = 1 if paths.LONG else 4  # of the functions whose callees' time is compared
OLDEST_TOO = 'aarch64'
TAILS = ',tail-calls=off'  # a vector jumps to its handler


def flat(out, *options):
    """A pattern whose function was not called, as the machine ran this time, is no error."""
    return recordings.flat(out, *options, may_say=[b' matches no function that was called'])


class Machine:
    def __init__(self, folder, case, arch, qemu, defines=(), *options):  # pylint: disable=keyword-arg-before-vararg
        self.folder, self.built = folder, boards.build_kernel(arch, folder, case, defines, ['-g'])
        self.command = self.built.command(qemu, *options)
        told = f'{folder}/told'
        record(told, ['-q', '--srcline', '--symbols', self.built.elf], self.command)
        self.map = shutil.copy(f'{told}/code.map', f'{folder}/code.map')
        self.second = shutil.copy(paths.plugin('uftrace'), f'{folder}/second.so')

    def run(self, *more, common=''):
        """The whole recording and the one with these arguments of the plugin."""
        outs = f'{self.folder}/whole', f'{self.folder}/filtered'
        common += f',clock=insn,summary=off,code={self.map},output='
        converse([self.command[0], '-plugin', paths.plugin('uftrace') + common + outs[0] + ',depth=1048576', '-plugin',
                  ','.join([self.second + common + outs[1], *more]), *self.command[1:]])
        for out in outs:
            symbols(out, self.built.elf)
        return outs


def about_first(words, glob):
    """Options about k_main, or a function that is not there: the code map's module is not recognised yet when that is called, so it has no name."""
    patterns = [word.split('@')[0] for word in words if not word.startswith('-')]
    match = fnmatch.fnmatchcase if glob else lambda name, pattern: re.search(pattern, name)
    return '-Z' in words or any('size=' in word or 'tail_' in word for word in words) or any(match('k_main', p) for p in patterns)


def sets(names, times):
    """Random ones."""
    seed, found = int(os.environ.get('SEED', '1')), 0
    while found < int(os.environ.get('SETS', SETS)):
        options = Options(names, times, seed)
        seed += 1
        filters = [word for word in options.words if word not in ('-D', '--match=glob')]
        # Where tasks switch, several have events at one time, whose order a reader does not know: what switches the
        # recording of all is compared in user mode.
        switches = any('trace-o' in word for word in options.words)
        if switches or about_first(options.words, options.glob) or not any(word.startswith('-') for word in filters):
            continue
        found += 1
        yield seed - 1, options


def awake(text):
    """Without the lines of suspended tasks: a recording has those in calls that it does not have, as children of the innermost
    one that it has; readers show none that is too deep."""
    return re.sub(r'.*linux:schedule\n', '', text)


def compare(machine, options):
    whole, filtered = machine.run(*arguments(options.words))
    of = awake if '-D' in options.words else str
    same(of(flat(filtered)), of(flat(whole, *options.words)), f"record {' '.join(options.words)}:")


def sums(out, *options):
    """{function: (calls, total, slept)}: of the time that it ran."""
    report = json.loads(run([paths.GUESTTRACE, 'report', '--json', *options, out]).stdout)
    return {f['function']: (f['calls'], f['total_ns'], f['slept_ns']) for f in report['rows']}


def check_sleeps(machine, names):
    """What a function took while its task ran does not depend on which of the calls in it are recorded, or shown."""
    compared = 0
    for words in (['-D', '2'], ['-t', '2us'], ['-D', '3', '-t', '1us'], *(['-N', f'^{name}$'] for name in names[::EVERY])):
        whole, filtered = machine.run(*arguments(words))
        wanted = sums(whole)
        for got in sums(filtered), sums(whole, *words), sums(whole, '-F', '.', *words):
            for name, of in got.items():
                if of[0] == wanted[name][0]:
                    need(of == wanted[name], f'{words}: {name} (calls, total, slept):', of, 'not', wanted[name])
                    compared += of[2] > 0
    need(compared > 20, 'functions that sleep:', compared)


def without_handlers(text):
    """Lines of --flat without handlers (vector_...) and what is below them."""
    kept, below, depth = [], {}, {}
    for line in text.splitlines():
        match = re.match(r' *[\d.]+ +(\d+) +(\d+) (enter|leave) .* (\S+)$', line)
        if not match:
            kept.append(line)
            continue
        tid, at, kind, name = match[1], int(match[2]), match[3], match[4]
        outer = below.get(tid)
        if outer is None and kind == 'enter' and name.startswith('vector_'):
            below[tid] = outer = at
        if outer is None:
            kept.append(line)
        elif kind == 'leave' and at == outer:
            del below[tid]
    return '\n'.join(kept) + '\n'


def check_handlers(machine):
    whole, filtered = machine.run('no-handlers=on', common=TAILS)
    same(awake(flat(filtered)), awake(without_handlers(flat(whole))), 'no-handlers=on:')


def check_triggers(machine):
    """Of handlers and of what they call: marks at entries and returns, by count, and by how long it took."""
    whole = flat(machine.run(common=TAILS)[0])
    inside = re.findall(r' enter +- (vector_\w+)\n(?=.* enter +- (\w+)$)', whole, re.M)
    need(len(inside) > 20, 'handlers that call something', len(inside))
    vector, callee = max(set(inside), key=inside.count)
    all_took = sorted(int(t.replace('.', '')) for t in re.findall(rf' leave +([\d.]+) {callee}$', whole, re.M))
    took = all_took[len(all_took) // 10]
    outs = machine.run(*arguments(['-T', f'{vector}@mark=in,after=2,every=3', '-T', f'{callee}@mark=out,at=return,count=9', '-T',
                                   f'{vector}@mark=end,at=return', '-T', f'{callee}@mark=long,if:took>{took}ns']), common=TAILS)
    whole = flat(outs[0])

    def times(kind, name, least=-1):
        found = re.findall(rf'^ *([\d.]+) .* {kind} +(\S+) {name}$', whole, re.M)
        return [time for time, took in found if least < 0 or int(took.replace('.', '')) > least]
    wanted = {'in': times('enter', vector)[2::3], 'out': times('leave', callee)[:9], 'end': times('leave', vector),
              'long': times('leave', callee, took)}
    marks = [line.split(' ', 1) for line in read_text(f'{outs[1]}/extern.dat').splitlines()]
    for text, expected in wanted.items():
        got = [time for time, said in marks if said == text]
        need(got == expected and (expected or text == 'long'), text, 'of', vector, callee, took, 'is at', got[:9], len(got), 'not', expected[:9], len(expected))


def check_tasks(machine):
    """By number; the machine has one vCPU."""
    whole = flat(machine.run()[0])
    tids = sorted(set(re.findall(r'^ *[\d.]+ +(\d+) +\d+ enter', whole, re.M)), key=int)
    need(len(tids) > 1, 'tasks', tids)
    whole, filtered = machine.run(f'task={tids[1]}', 'vcpu=0')
    same(flat(filtered), flat(whole, '--task', tids[1]), f'task={tids[1]}:')
    need('enter' in flat(filtered), 'nothing of task', tids[1])
    _, filtered = machine.run('vcpu=1')
    need('enter' not in flat(filtered), 'vcpu=1:', flat(filtered)[:500])


def check_levels(machine):
    """All of this kernel runs at its own level."""
    whole, kernel = machine.run('kernel-only=on')
    same(flat(kernel), flat(whole), 'kernel-only=on:')
    _, user = machine.run('user-only=on')
    calls = re.findall(r'enter .*', re.sub(r'.*linux:schedule\n', '', flat(user)))
    need(not calls, 'user-only=on:', calls[:5])


def check_lines(machine, case):
    """Source lines are in the code map, and in what readers have."""
    path = re.escape(case.rsplit('/', 1)[1])
    for words in (['-L', f'/{path}$'], ['-L', f'!/{path}$']):
        whole, filtered = machine.run(*arguments(words))
        text = flat(whole, *words)
        need('enter' in text and text.count('enter') < flat(whole).count('enter'), 'shows nothing', words)
        same(flat(filtered), text, f'record {words}:')


def check_suspended(machine):
    """Of tasks without a call that is recorded, what suspends them at the end has not returned either."""
    words = ['-H', '.']
    whole, filtered = machine.run(*arguments(words))
    need(' open ' in flat(filtered), 'no task is suspended at the end')
    same(flat(filtered), flat(whole, *words), f'record {words}:')


def check_qemu(folder, case, arch, version, qemu):
    machine, tally = Machine(folder, case, arch, qemu), Tally()
    whole = flat(machine.run()[0])
    names = sorted(set(re.findall(r'enter +- ([a-z]\w+)$', whole, re.M)))
    times = sorted({int(t) for t in DURATION.findall(whole)})
    need(len(names) > 3, 'names', names)
    for seed, options in sets(names, times):
        tally.run(f'QEMU {version}, set {seed}', compare, machine, options)
    tally.run(f'QEMU {version}, lines', check_lines, machine, case)
    tally.run(f'QEMU {version}, tasks', check_tasks, machine)
    tally.run(f'QEMU {version}, suspended', check_suspended, machine)
    tally.run(f'QEMU {version}, sleeps', check_sleeps, machine, names)
    if 'vector_' in whole:
        tally.run(f'QEMU {version}, triggers', check_triggers, machine)
        tally.run(f'QEMU {version}, handlers', check_handlers, machine)
    if qemus.number_of(qemu) >= qemus.TELLS_REGISTERS :
        tally.run(f'QEMU {version}, levels', check_levels, machine)
    print(f'QEMU {version}: {tally.good} good')
    return tally.status()


def check(folder):
    case, arch, status = sys.argv[1], sys.argv[2], 0
    for version, qemu in qemus.find_newest(arch, arch == OLDEST_TOO):
        os.mkdir(f'{folder}/{version}')
        status = check_qemu(f'{folder}/{version}', case, arch, version, qemu) or status
    return status


if __name__ == '__main__':
    sys.exit(in_folder('filter-machine', check))
