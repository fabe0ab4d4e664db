#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of lines and functions, and where functions end, equal gcov's of the same source, built with --coverage -O0;
of optimised code, where functions begin does.

usage: gcov_test.py ARCH

ARCH is what the programs are built for. What is recorded is a build without --coverage, its entries and, in another
run, the counts of its blocks. Exempt are the lines and functions that docs/etrace.md lists.
"""
import json
import os
import re
import sys

from coverage_case import PROGRAMS, CoverageTest, lcov
from gttest import cases, compilers, paths, qemus

ARCH = sys.argv[1]
PLUGIN = paths.plugin('etrace')
LABEL = re.compile(r'\s*(case .*|default|\w+):\s*$')
DIFFERENT = {('shapes.cc', 43)}  # the '}' of a function that catches
ENDLESS = {'leave'}  # they never return: nothing in the code says where they end


class Gcov(CoverageTest):
    def gcov(self, source, options, level='-O0'):
        """As lcov with ends, from the build with --coverage."""
        options = [o for o in options if o != '-gsplit-dwarf']
        cross = compilers.prefix(ARCH)
        compiler = cross + ('g++' if source.endswith('.cc') else 'gcc')
        self.must(compiler, level, *options, '--coverage', '-c', '-o', 'c.o', source)
        self.must(compiler, '--coverage', '-static', '-o', 'c', 'c.o')
        self.must(f'qemu-{ARCH}', './c')
        done = self.must(cross + 'gcov', '--json-format', '--stdout', 'c.gcda')
        files = {}
        for file in json.loads(done.stdout)['files']:
            lines = {}
            for line in file['lines']:
                at = line['line_number']
                lines[at] = lines.get(at, 0) + line['count']
            functions = {}  # a class has several destructors of one name
            for f in file['functions']:
                count = functions.get(f['demangled_name'], (0, 0, 0))[2] + f['execution_count']
                functions[f['demangled_name']] = (f['start_line'], f['end_line'], count)
            files[os.path.normpath(file['file'])] = (lines, functions)
        return files

    def ours(self, source, options, level='-O0'):
        program = self.compile(source, level, *options, '-static', arch=ARCH)
        reports = []
        for flags in 'exec', 'coverage':
            self.must(f'qemu-{ARCH}', '-plugin', f'{PLUGIN},output={self.path(flags)},flags={flags}',
                      program)
            self.coverage(flags, '-e', program, '-f', 'lcov2', '-o', 'out')
            with open(self.path('out'), encoding='utf-8') as f:
                reports.append(f.read())
        self.assertEqual(*reports)
        return lcov(reports[0], ends=True)

    def compare(self, name, *options):
        source = os.path.join(PROGRAMS, name)
        gcov, ours, checked = self.gcov(source, options), self.ours(source, options), 0
        for path, (lines, functions) in gcov.items():
            if not path.startswith(PROGRAMS):
                continue
            with open(path, encoding='utf-8') as f:
                text = f.read().split('\n')
            for at in sorted(set(lines) | set(ours[path][0])):
                want, got = lines.get(at), ours[path][0].get(at)
                if got is None and LABEL.match(text[at - 1]):
                    continue
                if want is None and text[at - 1] == '{' and options:
                    continue  # what -fstack-protector puts there
                if (os.path.basename(path), at) not in DIFFERENT:
                    self.assertEqual(got, want, f'{path}:{at}: {text[at - 1]}')
                    checked += 1
            for function, where in functions.items():
                if function in ENDLESS:
                    where = (where[0], None, where[2])
                got = ours[path][1].get(function)
                if name == 'dispatch.c':  # gcov takes jumps by labels for calls
                    where, got = where[:2], got[:2]
                self.assertEqual(got, where, function)
        self.assertGreater(checked, 20)

    def test_optimised(self):
        """A function begins where the source declares it, not in the first line of what is inlined there, and nowhere
        where it has no source: start-up code that follows it."""
        checked = 0
        for name in 'sort.c', 'words.c', 'lists.c', 'shapes.cc', 'inlined.cc':
            source = os.path.join(PROGRAMS, name)
            for level in '-O1', '-O2':
                gcov, ours = self.gcov(source, [], level), self.ours(source, [], level)
                for path, (lines, functions) in ours.items():
                    at = {function: where[0] for function, where in gcov.get(path, ({}, {}))[1].items()}
                    for function, where in functions.items():
                        self.assertNotIn(function, ('_start', 'frame_dummy', 'register_tm_clones'), path)
                        if path.startswith(PROGRAMS):
                            self.assertEqual(where[0], at.get(function.partition(' [clone')[0]), f'{level} {path}: {function}')
                            self.assertTrue(lines[where[0]] or not where[2], f'{level} {path}: {function}')
                            checked += 1
        self.assertGreater(checked, 25)

    def test_split(self):
        """Debug information beside the program, in .dwo files."""
        self.compare('sort.c', '-gsplit-dwarf', '-gdwarf-5')
        self.compare('shapes.cc', '-gsplit-dwarf', '-gdwarf-4')

    def test_sort(self):
        self.compare('sort.c')

    def test_words(self):
        self.compare('words.c')

    def test_matrix(self):
        self.compare('matrix.c')

    def test_loops(self):
        self.compare('loops.c')

    def test_lists(self):
        self.compare('lists.c')

    def test_bits(self):
        self.compare('bits.c')

    def test_shapes(self):
        self.compare('shapes.cc')

    def test_dispatch(self):
        self.compare('dispatch.c')

    def test_lambdas(self):
        self.compare('lambdas.cc')

    def test_stack_protector(self):
        self.compare('lists.c', '-fstack-protector-all')


if __name__ == '__main__':
    sys.argv[1:2] = []
    cases.main(qemus.user_of(ARCH), *[compilers.prefix(ARCH) + name for name in ('gcc', 'g++', 'gcov')])
