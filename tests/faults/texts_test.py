#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Text files of a recording that are empty, cut anywhere, full of something else, or gone: a repair
says so, mends them, and readers show what they showed before as far as anything can be known."""
import os
import random
import re
import shutil

from gttest.commands import run, tool
from gttest.compilers import compile_to
from gttest.paths import LONG, source
from gttest.results import need, read_bytes, write
from runs import GUESTS, main

# Cut behind a line these say nothing of it: what follows is not missed, or is found elsewhere.
LINES = {'task.txt', 'guesttrace.stats'}


def recorded(t):
    """A recording of a program of its own, without what differs from run to run."""
    whole = f'{t.folder}/whole'
    traced = t.traced(t.guest('deep'), ['3'], out=whole)
    need(os.path.exists(whole + '/info'), traced.all_errors)
    return whole


def shown(out):
    """Functions with their calls, as uftrace and no code of ours reads them."""
    done = run([tool('uftrace'), 'report', '-d', out])
    need(done.returncode == 0 and not done.stderr, done.stderr)
    rows = [line.split() for line in done.stdout.decode().splitlines()[2:]]
    return {(row[-1], row[-2]) for row in rows if row}


def damaged(t, whole, name, data):
    out = f'{t.folder}/damaged'
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(whole, out)
    os.unlink(f'{out}/{name}')
    if data is not None:
        write(f'{out}/{name}', data)
    return out


def names(whole):
    module = [n for n in os.listdir(whole) if n.startswith('deep') and n.endswith('.sym')]
    maps = [n for n in os.listdir(whole) if n.endswith('.map')]
    need(len(module) == len(maps) == 1, os.listdir(whole))
    return ['info', 'task.txt', 'guesttrace.stats', module[0], maps[0]]


def test_each(t):
    whole = recorded(t)
    before, rng = shown(whole), random.Random(5)
    for name in names(whole):
        data = read_bytes(f'{whole}/{name}')
        half = data[:len(data) // 2].rstrip(b'\n')  # cut at a line's end, a list of lines is whole
        for how, bad in (('empty', b''), ('half', half), ('gone', None),
                         ('random', bytes(rng.randrange(256) for _ in data))):
            if bad is None and name.endswith(('.sym', '.stats')):
                continue  # a recording may be without
            out = damaged(t, whole, name, bad)
            said = t.repair(out)
            need('1 text file repaired' in said and re.search(f'{out}/{name}: [a-z ]+:', said), name, how,
                 said)
            need('nothing to repair' in t.repair(out), name, how, 'the second repair repairs')
            t.check(out, readers=LONG or how == 'half')
            after = shown(out)
            if name.endswith('.map'):  # addresses in place of names, and nothing else
                known = {function for function, _ in before}
                need(after and all(f[0] == '<' or f in known for f, _ in after), after)
                need("'guesttrace symbols'" in said, said)
            else:
                need(after == before, name, how, before ^ after)


def test_cut_at_every_byte(t):
    whole = recorded(t)
    before = shown(whole)
    for name in names(whole):
        data = read_bytes(f'{whole}/{name}')
        step = max(1, len(data) // (len(data) if LONG else 16))
        for n in range(0, len(data), step):
            out = damaged(t, whole, name, data[:n])
            said = t.repair(out)
            at_line = name in LINES and n and data[n - 1:n] == b'\n'
            need('repaired' in said or at_line, name, n, said)
            need('nothing to repair' in t.repair(out), name, n, 'the second repair repairs')
            if not name.endswith('.map') and n % 7 == 0:
                need(shown(out) == before, name, n)


def test_symbols_of_another_program(t):
    """Of a program that is gone, or is another one now, what is left of the symbols is kept."""
    whole = recorded(t)
    name = names(whole)[3]
    lines = read_bytes(f'{whole}/{name}').splitlines(keepends=True)
    program = re.search(rb'path name: (.*)', b''.join(lines))[1].decode()
    os.unlink(program)
    out = damaged(t, whole, name, b''.join(lines[:len(lines) // 2]) + b'00000')
    said = t.repair(out)
    need(re.search(r'it was cut off or damaged: \d+ symbols kept', said), said)
    need('nothing to repair' in t.repair(out), 'the second repair repairs')
    kept = read_bytes(f'{out}/{name}').splitlines()
    need(all(line.rstrip(b'\n') in kept for line in lines[3:len(lines) // 2]), kept)
    t.check(out)
    shutil.copy('/bin/true', program)
    out = damaged(t, whole, name, b'')
    need('it was empty: 0 symbols kept' in t.repair(out), 'another program')


def test_whole(t):
    """What uftrace itself records is not touched."""
    program = f'{t.folder}/own'
    compile_to(program, 'x86_64', f'{GUESTS}/deep.c', '-pg', '-O1', '-fno-inline', '-pthread', f'-I{source("guest")}',
               '-D_GNU_SOURCE')
    for options in [], ['--srcline']:
        out = f'{t.folder}/uftraces{len(options)}'
        run([tool('uftrace'), 'record', *options, '-d', out, program, '3'])
        before = {n: read_bytes(f'{out}/{n}') for n in os.listdir(out)}
        need('nothing to repair' in t.repair(out), t.repair(out))
        need({n: read_bytes(f'{out}/{n}') for n in os.listdir(out)} == before, 'files changed')


if __name__ == '__main__':
    main(globals())
