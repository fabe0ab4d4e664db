#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings in several files: the same calls as in one, also after a kill; limits."""
import os
import random
import re
import signal
import subprocess
import sys
import time

from gttest import paths, qemus
from gttest.commands import SECONDS, must, run
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE, LONG
from gttest.recordings import record
from gttest.results import in_folder, need, read_bytes, write
from gttest.splits import build, parts, size

def flat(path, *options):
    done = run([GUESTTRACE, 'replay', '--flat', *options, path])
    need(done.returncode == 0, done.stderr)
    return done.stdout, done.stderr


def test_same(folder):
    program = build(folder)
    options = ['--clock', 'insn', '--format', 'compact']
    record(f'{folder}/one', options, [program, '500'])
    record(f'{folder}/set', [*options, '--split', '64K'], [program, '500'])
    need(len(parts(f'{folder}/set')) >= 2, parts(f'{folder}/set'))
    one, said = flat(f'{folder}/set')
    need(not said, said)
    need(calls(one) == calls(flat(f'{folder}/one')[0]), 'the split recording has other calls')
    need(not os.path.exists(f'{folder}/set.parts'), 'the working directory is left')
    a, b = (must([GUESTTRACE, 'report', f'{folder}/{n}']).stdout for n in ('one', 'set'))
    need(a == b, 'report')


def test_gap(folder):
    """A part that is missing is reported, one of another recording is refused."""
    program = build(folder)
    record(f'{folder}/set', ['--split', '64K', '--clock', 'insn'], [program, '500'])
    os.rename(f'{folder}/set.2', f'{folder}/aside')
    said = run([GUESTTRACE, 'info', f'{folder}/set'])
    need(said.returncode == 0 and b'part 2 is missing' in said.stderr, said.stderr)
    alone = run([GUESTTRACE, 'info', f'{folder}/aside'])
    need(alone.returncode == 0, alone.stderr)
    os.rename(f'{folder}/set.1', f'{folder}/set.2')
    said = run([GUESTTRACE, 'info', f'{folder}/set'])
    need(said.returncode == 1 and b'set.2: not part 2' in said.stderr, said.stderr)


def test_limit(folder):
    program = build(folder)
    done = record(f'{folder}/one', ['--size-limit', '400K', '--clock', 'insn'], [program, '3000'])
    need(b'size limit of 400K was reached' in done.stderr, done.stderr)
    need(100 << 10 < size(f'{folder}/one') <= 400 << 10, size(f'{folder}/one'))
    record(f'{folder}/set', ['--split', '256K', '--size-limit', '1M', '--clock', 'insn'], [program, '3000'])
    need(300 << 10 < size(f'{folder}/set') <= 1 << 20, size(f'{folder}/set'))
    need(not os.path.exists(f'{folder}/set.1'), 'the oldest part is there')
    said = run([GUESTTRACE, 'info', f'{folder}/set'])
    need(said.returncode == 0 and b'kept to its size limit' in said.stderr, said.stderr)


def test_limit_with_names(folder):
    """The names of many functions are in the limit, and what fits is kept."""
    names = ''.join(f'__attribute__((noinline)) void a_function_with_a_long_name_of_its_own_{i:05}(void) {{ sum += {i}; }}\n'
                    for i in range(6000))
    calls_all = ''.join(f'a_function_with_a_long_name_of_its_own_{i:05}();\n' for i in range(0, 6000, 2))
    write(f'{folder}/names.c', f'#include <stdlib.h>\nstatic volatile unsigned sum;\n{names}'
          f'int main(int argc, char **argv) {{ for (long i = argc > 1 ? atol(argv[1]) : 1; i; i--) {{ {calls_all} }} return 0; }}\n')
    program = compile_to(f'{folder}/names', 'x86_64', f'{folder}/names.c', '-O1', '-g0')
    whole = f'{folder}/whole'
    record(whole, ['--format', 'compact', '--clock', 'host'], [program, '400'])
    need(size(whole) > 700 << 10, size(whole))
    out = f'{folder}/set'
    record(out, ['--split', '128K', '--size-limit', '512K', '--clock', 'host'], [program, '400'])
    need(parts(out) and size(out) <= 512 << 10, parts(out), size(out))
    named = must([GUESTTRACE, 'report', out]).stdout
    need(b'a_function_with_a_long_name_of_its_own_00002' in named and not re.search(rb'<[0-9a-f]+>', named), named[:300])
    done = record(f'{folder}/small', ['--size-limit', '64K', '--clock', 'insn'], [build(folder), '1'])
    need(size(f'{folder}/small') <= 64 << 10 and b'left out' not in done.stderr, size(f'{folder}/small'), done.stderr)
    # What all names would need is beyond the limit; records, the names of what ran and an index are within it.
    for clock in 'insn', 'host':
        once = ['--clock', clock]
        record(f'{folder}/free', ['--format', 'compact', *once], [program, '1'])
        need(size(f'{folder}/free') < 56 << 10, clock, size(f'{folder}/free'))
        done = record(f'{folder}/once', ['--size-limit', '64K', *once], [program, '1'])
        need(size(f'{folder}/once') <= 64 << 10 and b'left out' not in done.stderr, clock, size(f'{folder}/once'), done.stderr)
        calls_named = re.findall(rb'a_function_with_a_long_name_of_its_own_(\d+)', must([GUESTTRACE, 'report', f'{folder}/once']).stdout)
        need(len(set(calls_named)) == 3000, clock, len(set(calls_named)))
    done = record(f'{folder}/full', ['--size-limit', '64K', '--clock', 'host'], [program, '400'])
    need(48 << 10 < size(f'{folder}/full') <= 64 << 10 and b'left out' in done.stderr, size(f'{folder}/full'), done.stderr)
    need(not re.search(rb'<[0-9a-f]+>', must([GUESTTRACE, 'report', f'{folder}/full']).stdout), 'names are missing')


def test_options(folder):
    for words, text in ((['--split', '1K'], b'--split 1K: expected'), (['--size-limit', '9s'], b'--size-limit 9s'),
                        (['--split', '1M', '--size-limit', '2M'], b'at least 4 times'),
                        (['--split', '1M', '--format', 'uftrace'], b'only compact recordings'),
                        (['--split', '1M', '--last', '1M'], b'flight recorder')):
        done = run([GUESTTRACE, 'record', '-o', f'{folder}/x', *words, '--', '/bin/true'])
        need(done.returncode == 2 and text in done.stderr, words, done.returncode, done.stderr)
    write(f'{folder}/y.3', b'mine')
    done = run([GUESTTRACE, 'record', '-o', f'{folder}/y', '--split', '1M', '--', '/bin/true'])
    need(done.returncode != 0 and b'y.3' in done.stderr, done.returncode, done.stderr)
    need(read_bytes(f'{folder}/y.3') == b'mine', 'another file was changed')


def test_kill(folder):
    """SIGKILL of guesttrace and QEMU at random moments, then repair: the beginning of the whole."""
    program = build(folder)
    record(f'{folder}/one', ['--clock', 'insn', '--format', 'compact'], [program, '500'])
    whole = calls(flat(f'{folder}/one')[0])
    for i in range(20 if LONG else 2):
        out = f'{folder}/set{i}'
        p = subprocess.Popen([GUESTTRACE, 'record', '-q', '-o', out, '--clock', 'insn', '--split', '64K', '--',
                              program, '500'], start_new_session=True, stdin=subprocess.DEVNULL,
                             env=dict(os.environ, GUESTTRACE_PLUGIN_DIR=paths.PLUGINS))
        least, end = random.randint(1, 2), time.monotonic() + SECONDS
        while len(parts(out)) < least and p.poll() is None:
            need(time.monotonic() < end, 'no parts')
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        must([GUESTTRACE, 'repair', out])
        got = calls(flat(out)[0])
        need(len(got) > 1000, len(got))
        same = next((k for k, (a, b) in enumerate(zip(got, whole)) if a != b), min(len(got), len(whole)))
        # The functions that were open end at the last record.
        need(len(got) - same <= 600, i, len(got), same)
        need(not os.path.exists(f'{out}.parts'), 'the working directory is left')


def calls(text):
    """Lines without task ids, which differ from run to run, in their width too."""
    return [re.sub(rb' *\b\d{3,7}\b(?=\W)', b' T', line, count=1) for line in text.splitlines()]


def test_forks(folder):
    """Two processes record into the same parts: each one's calls are all there."""
    program = build(folder)
    done = record(f'{folder}/set', ['--split', '64K'], [program, '500', 'fork'])
    need(len(parts(f'{folder}/set')) >= 3, done.stderr)
    stats = must([GUESTTRACE, 'info', f'{folder}/set']).stdout
    record(f'{folder}/one', ['--format', 'compact'], [program, '500', 'fork'])
    one = must([GUESTTRACE, 'info', f'{folder}/one']).stdout
    count = re.compile(rb'calls +: ([\d,]+)')
    a, b = (int(count.search(s).group(1).replace(b',', b'')) for s in (stats, one))
    need(abs(a - b) < 200, a, b)


def everything(folder, chosen):
    tests = {name: test for name, test in globals().items() if name.startswith('test_')}
    qemus.user('x86_64')
    for name in chosen or tests:
        print(name, flush=True)
        inside = f'{folder}/{name}'
        os.mkdir(inside)
        tests[name](inside)
    return 0


if __name__ == '__main__':
    sys.exit(in_folder('split', lambda folder: everything(folder, sys.argv[1:])))
