#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot recorded in both formats at once: `guesttrace record --format compact`, with all its steps after the
run, and a second plugin that writes a directory. The file has the directory's records, byte for byte, and
its names, in a hundredth of the space; `guesttrace symbols` names it again, and changes nothing. Several vCPUs run side
by side, and the threads go from one to the other.

usage: formats_test.py ARCH SERIES [VCPUS]
"""
import os
import shutil
import sys

from gttest import boots, qemus
from gttest.paths import GUESTTRACE
from gttest.recordings import BothFormats, converse, symbols
from gttest.results import in_folder, need, read_bytes


def size_of(out):
    return sum(os.path.getsize(f'{out}/{name}') for name in os.listdir(out))


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


if __name__ == '__main__':
    sys.exit(in_folder('boot-formats', lambda folder: main(folder, *sys.argv[1:4])))
