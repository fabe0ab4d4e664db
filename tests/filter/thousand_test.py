#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A thousand filters and triggers at once: recorded with them is recorded whole and filtered by the reader. Where they are
too many for the command line it is an error, and nothing is cut.

usage: thousand_test.py
"""
import random
import re
import sys

from gttest import functions, paths, qemus
from gttest.commands import run
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.recordings import record
from gttest.results import need, same

# Those that make nothing of what is recorded are many; a few of the others stand among them.
MANY = 1000
WORD_MOST = 131071   # bytes of a word of a command line, without its end
REAL = ['-F', 'do_all', '-N', 'in_handler', '-H', '^tail_', '-T', 'fib@depth=3,after=2', '-T', 'spin@trace-off,after=5',
        '-T', 'tiny@trace-on,every=3', '-C', 'tiny|leaf|fib|swapcontext']


def options(functions_of, seed):
    """Names and expressions, most of which match nothing, or functions that are called seldom."""
    r, words = random.Random(seed), []
    for i in range(MANY):
        name = r.choice(functions_of)
        option = r.choice(['-F', '-N', '-H', '-C', '-T'])
        pattern = r.choice([f'{name}_{i}', f'^{name[:2]}.*_{i}$', f'no[a-c]{i}|{name}_x', f'[k-q]+{i}'])
        words.append([option, pattern + ('@depth=2,every=3' if option == '-T' else '')])
    for i in range(0, len(REAL), 2):
        words.insert(r.randrange(len(words)), REAL[i:i + 2])
    return [word for pair in words for word in pair]


def program(t):
    qemus.user('x86_64')  # or it is skipped
    return compile_to(f'{t.folder}/ways', 'x86_64', paths.source('filter', 'ways.c'), '-O1', '-static', '-DSTATIC')


def flat(out, *words):
    """What matched nothing makes the exit status 1."""
    done = run([GUESTTRACE, 'replay', '--no-pager', '--flat', *words, out])
    need(done.returncode == (1 if words else 0), done.returncode, done.stderr[-500:])
    text = done.stdout.decode()
    tids = {}
    return re.sub(r'(?m)^( *[\d.]+) +(\d+)', lambda m: f'{m[1]} {tids.setdefault(m[2], len(tids))}', text)


def test_thousand(t):
    """Each is matched, and those that match nothing are reported, all of them."""
    guest = [program(t)]
    record(f'{t.folder}/whole', ['-q', '--depth', '100000'], guest)
    whole = flat(f'{t.folder}/whole')
    names = sorted(set(re.findall(r'(?m) enter +- (\w+)$', whole)))
    for seed in range(3):
        words = options(names, seed)
        done = record(f'{t.folder}/some', ['-q', *words], guest)
        need(done.stderr.count(b'matches no function that ran') == MANY, done.stderr.count(b'matches no'))
        text = flat(f'{t.folder}/some')
        need('enter' in text and text.count('enter') < whole.count('enter'), seed, text[:500])
        same(text, flat(f'{t.folder}/whole', *words), f'seed {seed}:')


def test_plugin(t):
    """All in one word of QEMU's command line, up to the most bytes that Linux takes."""
    guest = program(t)
    begin = f'{paths.plugin("uftrace")},output={t.folder}/data,filter=spin'
    count = (WORD_MOST - len(begin)) // 100
    word = begin + ''.join(f',notrace={"y" * 84}{i:07}' for i in range(count))
    done = run([qemus.user('x86_64'), '-plugin', word + 'z' * (WORD_MOST - len(word)), guest])
    need(done.returncode == 0 and done.stderr.count(b'matches no function') == count, done.returncode, done.stderr[-500:])
    need('spin' in flat(f'{t.folder}/data'), 'spin')


def test_too_many(t):
    """One byte more is refused before QEMU starts."""
    guest = program(t)
    for each, status in (99, 0), (200, 2):
        words = [word for i in range(MANY) for word in ('-N', f'{"y" * (each - 13)}{i:04}')]
        done = run([GUESTTRACE, 'record', '-q', '--format', 'uftrace', '-o', f'{t.folder}/data', *words, '--', guest])
        need(done.returncode == status, each, done.returncode, done.stderr[-500:])
    need(re.search(rb'have \d+ bytes, and the plugin takes at most %d; ' % WORD_MOST, done.stderr), done.stderr)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
