#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot recorded in both formats at once: `guesttrace record --format compact`, with all its steps after the
run, and a second plugin that writes a directory. The file has the directory's records, byte for byte, and
its names, in a hundredth of the space; `guesttrace symbols` names it again, and changes nothing. Several vCPUs run side
by side, and the threads go from one to the other.

Exports of sums are small, and their sums are report's.

usage: formats_test.py ARCH SERIES [VCPUS]
"""
import json
import os
import shutil
import sys

from gttest import boots, qemus
from gttest.commands import must, printed
from gttest.paths import GUESTTRACE
from gttest.recordings import BothFormats, converse, symbols
from gttest.results import in_folder, need, read_bytes


def size_of(out):
    return sum(os.path.getsize(f'{out}/{name}') for name in os.listdir(out))


EXPORT = 5 << 20  # bytes of a boot's


def check_exports(folder, path):
    """Without paths that are small, sums stay those of report."""
    rows = json.loads(printed([GUESTTRACE, 'report', '--json', path]))['rows']
    want = sum(row['self_ns'] for row in rows)
    for form, options in ('folded', []), ('folded', ['--all']), ('speedscope', []):
        out = f'{folder}/{form}'
        said = must([GUESTTRACE, 'export', '-f', form, *options, '-o', out, path]).stderr
        need((b'less than 0.01% of all time' in said) == (not options), form, options, said)
        need(options or os.path.getsize(out) < EXPORT, form, 'has', os.path.getsize(out), 'bytes')
        with open(out, encoding='utf-8') as f:
            got = sum(int(line.rpartition(' ')[2]) for line in f) if form == 'folded' else \
                sum(p['endValue'] for p in json.load(f)['profiles'])
        need(got == want, form, options, 'has a sum of', got, 'and report', want)
        os.remove(out)


def main(folder, arch, series, vcpus='1'):
    both = BothFormats(folder)
    line = boots.command(arch, qemus.of_series(arch, series), folder, options=['-smp', vcpus])
    kernel = line[line.index('-kernel') + 1]
    directory = ['-plugin', f'{both.second},output={both.directory},clock=insn,summary=off,'
                            f'code={both.file}.code.map']
    done = converse([GUESTTRACE, 'record', '--format', 'compact', '--clock', 'insn', '-o', both.file, '--', line[0],
                     *directory, *line[1:]])
    need(done.returncode == 0 and b'GUEST ENDS' in done.stdout, done.returncode, done.stdout[-2000:], done.stderr)
    need(b'view it with: guesttrace view' in done.stderr, done.stderr)
    both.check_records()
    for name in 'code.map', 'code.found':  # what the command has added to its own
        shutil.copy(f'{both.back}/{name}', both.directory)
    places = symbols(both.directory, kernel).stdout
    both.check_names()
    if vcpus == '1':  # several have each a clock of its own: nobody knows when a line came
        need(b'GUEST ENDS' in read_bytes(f'{both.back}/extern.dat'), 'no console lines')
    sizes = os.path.getsize(both.file), size_of(both.directory)
    print(f'{arch} {series}: {sizes[0]} bytes, as a directory {sizes[1]}')
    need(sizes[0] * 100 < sizes[1], 'the file is too large')
    before = read_bytes(both.file)
    need(symbols(both.file, kernel).stdout == places, 'other places the second time')
    need(read_bytes(both.file) == before, 'the file has changed')
    check_exports(folder, both.file)


if __name__ == '__main__':
    sys.exit(in_folder('boot-formats', lambda folder: main(folder, *sys.argv[1:4])))
