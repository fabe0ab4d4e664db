#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters by source file and line: a program recorded with them is recorded whole and filtered by the reader, byte for
byte. A program of C and C++, with functions of a header, inlined ones, and a library that it loads with dlopen.

usage: lines_test.py
"""
import os
import re
import shutil
import subprocess
import sys

from gttest import paths, qemus, recordings
from gttest.recordings import record
from gttest.results import Tally, in_folder, need, same

SOURCES = {
    'head.h': '''static inline int in_header(int x)
{
    return x * 3;
}
''',
    'main.c': '''#include <dlfcn.h>
#include "head.h"
int cxx_work(int x);
int library_work(int x);

static int local(int x)
{
    int y = in_header(x);

    return y + 1;
}

int main(int argc, char **argv)
{
    int y = local(argc) + cxx_work(argc);
#ifndef STATIC
    void *l = dlopen(argv[1], RTLD_NOW);
    int (*library_work)(int) = l ? (int (*)(int))dlsym(l, "library_work") : 0;
    if (!library_work)
        return 1;
#endif
    return library_work(y) == 0 || !argv[0];
}
''',
    'more.cc': '''namespace ns {
struct A {
    int n;
    A(int x) : n(x) { more(); }
    void more() { n += 2; }
};
}
template <class T> static T twice(T x)
{
    auto add = [x](T y) {
        return x + y;
    };
    T result = add(x);
    return result;
}
extern "C" __attribute__((noinline)) int cxx_work(int x)
{
    ns::A a(x);
    return twice(a.n);
}
''',
    'lib.c': '''static int leaf(int x)
{
    return x + 1;
}

int library_work(int x)
{
    return leaf(leaf(x));
}
''',
}
# Options, and functions that are recorded with them: all of them, where they are not inlined.
SETS = [
    (['-L', r'/main\.c$'], {'main', 'local'}),
    (['-L', r'/head\.h$'], {'in_header'}),
    (['-L', r'/lib\.c$'], {'library_work', 'leaf'}),
    (['-L', 'main.c@hide', '-F', 'main'], None),
    (['-L', '!more.cc', '-F', 'main'], None),
    (['-L', r'/main\.c$;/head\.h$', '-N', 'in_header'], {'main', 'local'}),
    (['-F', 'main.c:10', '-D', '1'], {'local'}),          # the last line
    (['-F', 'main.c:9', '-D', '1'], {'local'}),           # an empty one
    (['-F', 'more.cc:11', '-D', '1'], {'lambda', 'twice'}),  # a function inside another
    (['-F', 'more.cc:14', '-D', '1'], {'twice'}),         # after that
    (['-F', 'lib.c:8'], {'library_work', 'leaf'}),
    (['-N', 'main.c:14', '-L', 'main.c'], set()),
    (['-T', 'lib.c:3@trace-off'], None),
    (['-C', 'lib.c:3'], None),
]


def build(folder, name, *flags, compiler='gcc', static=False):
    """The command."""
    out = os.path.join(folder, name)
    os.makedirs(out)
    for source, text in SOURCES.items():
        with open(os.path.join(out, source), 'w', encoding='ascii') as f:
            f.write(text)
    def run(*words):
        subprocess.run(words, cwd=out, check=True)
    cxx = {'gcc': 'g++', 'clang': 'clang++'}[compiler]
    more = ['-DSTATIC', '-static', 'lib.c'] if static else []
    run(compiler, *flags, '-c', 'main.c', *more[:1])
    if static:
        run(compiler, *flags, '-c', 'lib.c')
        run(cxx, *flags, '-static', '-o', 'program', 'main.o', 'more.cc', 'lib.o')
        return [f'{out}/program']
    run(compiler, *flags, '-shared', '-fPIC', '-o', 'lib.so', 'lib.c')
    run(cxx, *flags, '-o', 'program', 'main.o', 'more.cc', '-ldl')
    return [f'{out}/program', f'{out}/lib.so']


def flat(out, *options):
    return re.sub(r'(?m)^( *\d+\.\d{9}) +\d+', r'\1', recordings.flat(out, *options))


def long_form(words):
    return ['--loc-filter' if word == '-L' else word for word in words]


def shown(text):
    """Names of functions, without templates' and parameters' texts."""
    found = {name.strip() for name in re.findall(r' enter +- (.*)', text)}
    return {'lambda' if 'lambda' in n else re.sub(r'[<(].*', '', n).removeprefix('int ').split('::')[-1] for n in found}


def one_set(folder, label, command, form, options, functions):
    whole, out = f'{folder}/whole-{label}', f'{folder}/filtered-{label}'
    if os.path.isdir(out):
        shutil.rmtree(out)
    elif os.path.exists(out):
        os.unlink(out)
    done = record(out, ['-q', '--format', form, *long_form(options)], command, may_be_empty=True)
    text = flat(whole, *options)
    if functions is not None:
        same('\n'.join(sorted(shown(text))), '\n'.join(sorted(functions)), 'functions')
    if functions == set():
        return
    need('enter' in text and b'no lines' not in done.stderr, text, done.stderr)
    same(flat(out), text, 'calls')


def compare(tally, folder, label, command, form='uftrace', turn=None):
    """With a turn a third of the sets, others with each; with GUESTTRACE_LONG all."""
    record(f'{folder}/whole-{label}', ['-q', '--srcline', '--format', form], command)
    for options, functions in SETS if paths.LONG or turn is None else SETS[turn::3]:
        tally.run(f"{label} {' '.join(options)}", one_set, folder, label, command, form, options, functions)


def strip(program, by_link):
    """Moves what is for debuggers to a file of its own."""
    for path in program:
        debug = f'{os.path.dirname(path)}/.debug/{os.path.basename(path)}.debug'
        os.makedirs(os.path.dirname(debug), exist_ok=True)
        for words in (['objcopy', '--only-keep-debug', path, debug],
                      ['strip', path], ['objcopy', '--add-gnu-debuglink=' + debug, path] if by_link else ['true']):
            subprocess.run(words, check=True)
    return program


def check_without(folder):
    """What has no lines is reported."""
    command = strip(build(folder, 'without', '-O0', '-g'), False)
    done = record(f'{folder}/without.data', ['-q', '-F', 'main.c:9', '-L', 'nowhere.c@hide'], command, status=125)
    for text in b'main.c:9 matches no function that ran', b'no lines known for', b'/without/program', b'/without/lib.so':
        need(text in done.stderr, text, 'is missing:', done.stderr)


def check(folder):
    qemus.user('x86_64')
    tally = Tally()
    compare(tally, folder, 'dwarf5', build(folder, 'dwarf5', '-O0', '-g'))
    compare(tally, folder, 'dwarf4', build(folder, 'dwarf4', '-O0', '-gdwarf-4', '-no-pie'), 'compact', turn=0)
    compare(tally, folder, 'static', build(folder, 'static', '-O0', '-g', static=True), turn=1)
    compare(tally, folder, 'stripped', strip(build(folder, 'stripped', '-O0', '-g', '-Wl,--build-id=none'), True), turn=2)
    if shutil.which('clang++'):
        compare(tally, folder, 'clang', build(folder, 'clang', '-O0', '-g', compiler='clang', static=True), turn=0)
    tally.run('without lines', check_without, folder)
    print(f'{tally.good} sets record what they show')
    return tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('filter-lines', check))
