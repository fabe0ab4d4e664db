#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of lines and functions, and where functions end, equal gcov's of the same source, built with --coverage -O0;
of optimised code, the functions do, and which lines ran.

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
# Of optimised code; the debug information has no copy of them that has code:
GONE = re.compile(r'sq|raise|twice|int each<.*>\(.*\)')  # not listed
UNUSED = {'Derived::f': 8}  # what is called does not run, and on riscv64 nothing says where it ran instead
LEVELS = '-O1', '-O2'  # by turns, both with GUESTTRACE_LONG
SAME_COUNTS = 0.75  # code that GCC has merged, or moved out of a loop, ran less often than its statements
IDLE = {32}  # of shapes.cc: in what is called, which does not run, as above
OPTIMISED = 'sort.c', 'words.c', 'lists.c', 'matrix.c', 'loops.c', 'bits.c', 'shapes.cc', 'inlined.cc', 'lambdas.cc'


def short(function):
    """Without parameters: the debug information does not have them of a static function of C++ without a copy of its own."""
    return function if '{lambda(' in function else function.partition('(')[0]


class Gcov(CoverageTest):
    def gcov(self, source, options, level='-O0'):
        """As lcov with ends, from the build with --coverage."""
        options = [o for o in options if o != '-gsplit-dwarf']
        cross = compilers.prefix(ARCH)
        compiler = cross + ('g++' if source.endswith('.cc') else 'gcc')
        if os.path.exists(self.path('c.gcda')):
            os.unlink(self.path('c.gcda'))  # a program adds its counts to those of the one before
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

    def described(self, file):
        """Lines of a source that the program's debug information has."""
        rows = self.must(compilers.prefix(ARCH) + 'readelf', '-W', '--debug-dump=decodedline', self.path('program')).stdout
        found = {int(at) for at in re.findall(rf'^{re.escape(file)}[\[ ].*?(\d+) +0x', rows, re.M)}
        self.assertGreater(len(found), 2, file)
        return found

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
                got = ours[path][1].get(function)
                if function in ENDLESS:
                    where, got = where[::2], got[::2]
                if name == 'dispatch.c':  # gcov takes jumps by labels for calls
                    where, got = where[:2], got[:2]
                self.assertEqual(got, where, function)
        self.assertGreater(checked, 20)

    def check_ends(self, path, lines, functions):
        """What genhtml 2 refuses: a function that ran without a line that did, or the other way round."""
        begins = {}  # several in one line are one, in lcov
        for function, (line, end, calls) in functions.items():
            self.assertIsNotNone(end, f'{path}: {function}')
            self.assertEqual(begins.setdefault(line, (function, end, 0))[1], end, f'{path}: {function}')
            begins[line] = function, end, begins[line][2] + calls
        for line, (function, end, calls) in begins.items():
            first = line + ('{lambda(' in function)
            ran = [at for at, count in lines.items() if first <= at <= end and count]
            self.assertTrue(ran or not calls or lines[line], f'{path}:{line}: {function}')
            self.assertTrue(calls or not ran, f'{path}:{line}: {function}: {ran}')

    def test_optimised(self):
        """Functions have their calls where the source declares them, those that are inlined everywhere as well, and
        nothing is where it has no source: start-up code. gcov has no functions that GCC has inlined early: those are in
        its list of code without optimisation. Lines that both list have run in both or in none, and most as often; those
        that gcov alone lists are nowhere in the debug information."""
        listed = all_of = same = 0
        for turn, name in enumerate(OPTIMISED):
            source = os.path.join(PROGRAMS, name)
            plain = self.gcov(source, [])
            for level in LEVELS if paths.LONG else LEVELS[turn % 2::2]:
                gcov, ours = self.gcov(source, [], level), self.ours(source, [], level)
                for path, (lines, functions) in ours.items():
                    self.assertFalse({'_start', 'frame_dummy', 'register_tm_clones'} & set(functions), path)
                    if path.startswith(PROGRAMS):
                        self.check_ends(f'{level} {path}', lines, functions)
                for path, (lines, functions) in gcov.items():
                    if not path.startswith(PROGRAMS):
                        continue
                    what = f'{level} {os.path.basename(path)}'
                    got = {short(f): (at[0], bool(at[2])) for f, at in ours[path][1].items()}
                    want = {short(f): (at[0], bool(at[2])) for f, at in functions.items()}
                    early = {short(f): (at[0], bool(at[2])) for f, at in plain[path][1].items()}
                    for function in sorted(set(got) | set(want)):
                        expected = want.get(function) or early.get(function)
                        if function in UNUSED and ARCH == 'riscv64':
                            self.assertEqual(got[function][0], expected[0])
                        elif function in got or not GONE.fullmatch(function):
                            self.assertEqual(got.get(function), expected, f'{what}: {function}')
                    both = set(lines) & set(ours[path][0]) - set(UNUSED.values() if ARCH == 'riscv64' else ())
                    self.assertEqual([at for at in both if bool(lines[at]) != bool(ours[path][0][at])], [], what)
                    missing = set(lines) - set(ours[path][0])
                    unlisted = missing & self.described(os.path.basename(path))
                    self.assertEqual(unlisted - (IDLE if ARCH == 'riscv64' else set()), set(), what)
                    listed, all_of = listed + len(both), all_of + len(lines)
                    same += sum(lines[at] == ours[path][0][at] for at in both)
        print(f'{listed} of {all_of} lines of gcov, {same} with its count')
        self.assertGreater(listed, all_of * 0.93)
        self.assertGreater(same, listed * SAME_COUNTS)

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
