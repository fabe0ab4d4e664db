#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every reader says of a recording in several files what it says of the same run in one file."""
import json
import os
import resource
import signal
import sys

from gttest import boards, commands, functions, paths, qemus, recordings, sockets, splits
from gttest.commands import must, run
from gttest.paths import GUESTTRACE, LONG
from gttest.results import Skip, need

FEW = 256  # descriptors
PARTS = 1000 if LONG else FEW + 50
ROUNDS = 2000 if LONG else 700  # of a machine: a part of 64K and another one


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, FEW))


def test_threads(t):
    """The clock of a new thread begins where that of all others is: two plugins may read it at two moments. Where they
    did, the run says nothing."""
    program = splits.build(t.folder, 63)
    for n in range(5):
        both = splits.Both(f'{t.folder}/{n}', '64K')
        both.record(qemus.user('x86_64'), program, '24', 'threads', '100')
        starts = [json.loads(both.read(which, 'info', '--json')[0])['tasks'] for which in ('one', 'set')]
        if starts[0] == starts[1]:
            both.check(2, 0)
            return
    raise Skip('the plugins have read five clocks at different moments')


def test_fork(t):
    both = splits.Both(t.folder, '64K')
    both.record(qemus.user('x86_64'), splits.build(t.folder, 63), '1600', 'fork')
    both.check(2, 1)


def check_machine(folder, qemu, guest, vcpus, turn):
    both = splits.Both(folder, '64K')
    both.record(*guest.command(qemu), '-smp', str(vcpus))
    for name in both.one, both.set:
        recordings.symbols(name, guest.elf)
    both.check(1, turn)


def test_machines(t):
    """Two and four vCPUs on each QEMU; without GUESTTRACE_LONG two on the oldest and four on the newest."""
    for turn, vcpus in enumerate((2, 4)):
        os.mkdir(f'{t.folder}/{vcpus}')
        guest = boards.build_kernel('aarch64', f'{t.folder}/{vcpus}', paths.source('faults', 'guests', 'vcpus.c'),
                                    [f'VCPUS={vcpus}', f'ROUNDS={ROUNDS}'])
        found = qemus.find('aarch64')
        for version, qemu in found if LONG else found[-turn:][:1]:
            check_machine(f'{t.folder}/{vcpus}/{version}', qemu, guest, vcpus, turn + 2)


def test_alone(t):
    """Parts that are given one by one have, together, all calls; each has names."""
    both = splits.Both(t.folder, '64K')
    both.record(qemus.user('x86_64'), splits.build(t.folder), '250')
    whole, alone = both.read('one', 'replay', '--flat')[0].splitlines(), []
    for path in [*splits.parts(both.set), both.set + '.last']:
        if path.endswith('.last'):  # the newest one has all as one under its own name
            path = f'{both.set}.{len(splits.parts(both.set)) + 1}'
            os.rename(both.set, path)
        done = must([GUESTTRACE, 'replay', '--flat', path])
        need(not done.stderr, path, done.stderr)
        lines = done.stdout.splitlines()
        need(b'<' not in done.stdout, 'a function of', path, 'has no name')
        alone += lines
    need(len(alone) >= len(whole), len(alone), len(whole))


def test_many(t):
    """Hundreds of parts as small as can be, by a flush each; readers have 256 descriptors, and so has repair."""
    qemus.user('x86_64')  # or it is skipped
    out, control = f'{t.folder}/run', f'{t.folder}/control'
    child = commands.start([GUESTTRACE, 'record', '-q', '--split', '1ms', '--control', control, '-N', '^a$', '-o', out, '--',
                            splits.build(t.folder), '100000000'], preexec_fn=few_files)
    with sockets.connected(control, child) as s, s.makefile('r') as answers:
        need('guesttrace' in answers.readline(), 'no greeting')
        while len(splits.parts(out)) < PARTS:
            s.sendall(b'flush\n')
            said = answers.readline()
            need(said.startswith('ok '), said)
    os.killpg(child.pid, signal.SIGKILL)
    commands.finish(child)
    done = must([GUESTTRACE, 'repair', out], preexec_fn=few_files)
    need(len(splits.parts(out)) >= PARTS, len(splits.parts(out)), done.stdout)
    need(not os.path.exists(out + '.parts'), 'the working directory is left')
    for words in ['info'], ['report'], ['replay', '--flat', '-F', '^main$', '-D', '1']:
        done = must([GUESTTRACE, *words, out], preexec_fn=few_files)
        need(not done.stderr, words, done.stderr)


def test_missing(t):
    """A part in the middle, the oldest, the newest: said once by each reader; all others are read."""
    both = splits.Both(t.folder, '64K')
    both.record(qemus.user('x86_64'), splits.build(t.folder, 63), '2800')
    n = len(splits.parts(both.set))
    for number, path in (1, both.set + '.1'), (n, splits.parts(both.set)[-1]):
        os.rename(path, both.set + '-aside')
        for words in splits.READINGS:
            out, said = both.read('set', *words)
            need(out and said.count(b'\n') == 1 and f'part {number} is missing'.encode() in said, words, said)
        os.rename(both.set + '-aside', path)
    os.remove(both.set)
    for words in ['info'], ['report']:
        out, said = both.read('set', *words)
        need(out and said.count(b'\n') == 1 and b'the newest part is missing' in said, words, said)
    said = recordings.repair(both.set)
    need('the newest part was missing' in said, said)
    out, said = both.read('set', 'report')
    need(f'part {n + 1} is missing'.encode() in said and b'<' not in out, said, out)
    need('nothing to repair' in recordings.repair(both.set), 'a second repair')


def test_names(t):
    """`symbols` names the calls of a set, also with --sysroot, as it names those of one file."""
    guest = boards.build_kernel('aarch64', t.folder, paths.source('faults', 'guests', 'vcpus.c'), ['VCPUS=2', f'ROUNDS={ROUNDS}'])
    both = splits.Both(t.folder, '64K')
    both.record(*guest.command(qemus.find('aarch64')[0][1]), '-smp', '2')
    os.mkdir(f'{t.folder}/root')
    os.rename(guest.elf, f'{t.folder}/root/guest')
    said = []
    for name in both.one, both.set:
        named = recordings.symbols(name, f'{t.folder}/root/guest').stdout
        done = run([GUESTTRACE, 'symbols', '--dir', name, '--sysroot', f'{t.folder}/root'])
        need(done.returncode == 1 and b'none of its 1 programs' in done.stderr, done)  # it has no processes
        said.append((named, done.stdout, done.stderr.replace(name.encode(), b'')))
    need(said[0] == said[1] and said[0][0], said)
    both.check(1, 0)
    need(b'run_other' in both.read('set', 'report')[0], 'no names')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
