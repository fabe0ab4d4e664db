#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters of `guesttrace record` leave the calls that those of native `uftrace record` leave, of the same program, which
was compiled with -pg: a version of uftrace for each set of options, by turns, and with GUESTTRACE_LONG all of them. Which of several patterns wins is what uftrace does.

What is compared is the tree of calls of the program's own functions. docs/filters.md lists where guesttrace differs on
purpose: where recording was switched on, the calls that it enters again are left out. The outermost call is main to
uftrace, _start to guesttrace: -D stands beside an -F or -T that begins the depth.
"""
import re
import shutil
import sys

from gttest import paths, qemus, uftrace, uftraces
from gttest.commands import must
from gttest.compilers import AS_WRITTEN, compile_to
from gttest.recordings import record
from gttest.results import Skip, Tally, in_folder, need, same_lines

SETS = """
-F mid_two
-F ^mid_
-F ^step_ -F tree_walk
-F main -D 1
-F main -D 3
-F all_of_it -D 2
-F mid_two -D 1
-F tree_walk -D 2
-N mid_one
-N mid_two -N step_even
-N ^leaf_
-N ^step_odd$
-N tree_walk
-F ^mid_ -N mid_one
-F mid_one -N ^mid_
-N ^mid_ -F mid_one
-N mid_one -F mid_one
-F mid_one -N mid_one
-F !mid_two
-F mid_two -N mid_one -F nap_here
-F by_pointer -N mid_two -F leaf_low
-F by_pointer -F mid_one -D 2
-F by_pointer -F mid_one -D 2 -N nap_here
-C nap_here
-C tree_walk
-C leaf_high
-C mid_one -F by_pointer
-F step_even;tree_walk -N ^leaf_
--match=glob -F mid_*
--match=glob -N leaf_* -F step_???
-T mid_two@filter,depth=2
-T mid_one@notrace
-T step_even@filter -N mid_one
-F main -T by_pointer@depth=2
-F main -T mid_two@depth=1 -D 5
-F mid_one -T mid_one@notrace
-T mid_two@notrace -F mid_two
-T step_odd@trace_off
-T tree_walk@trace_off -N mid_two
-T mid_two@trace_off -T step_even@trace_on
-T tree_walk@traceoff -T step_odd@traceon
-t 100ms
-t 100ms -F ^mid_
-t 100ms -N nap_here
-t 100ms -T tree_walk@time=0ns
-t 100ms -T step_even@trace
-t 100ms -C leaf_low
-F by_pointer -D 2 -t 100ms
""".strip().splitlines()
SWITCH = re.compile('trace_?o')


def own_functions(program):
    """Those of the source; the rest is the compiler's and libc's."""
    with open(paths.source('filter', 'native.c'), encoding='utf-8') as file:
        names = set(re.findall(r'(?m)^(?:static )?\w+ (\w+)\(.*\)$', file.read()))
    need({'main', 'leaf_low', 'tree_walk'} <= names, program, 'has', names)
    return lambda path, name: path == program and name in names


def entered(trace, tid, own):
    """The names of own calls in order. Calls that begin again where recording is switched on have the time of the call
    that switched it; the last is that one."""
    found = {}
    for call in trace.records(tid):
        name = trace.name(tid, call.time, call.addr)
        if call.kind == 'enter' and own(*name):
            found[call.time] = name[1]
    return list(found.values())


def calls(directory, own, switched):
    trace = uftrace.Trace(directory)
    tids = trace.tids()
    need(len(tids) < 2, directory, 'has tasks', tids)
    see = entered if switched else uftrace.Trace.tree
    return [line for tid in tids for line in see(trace, tid, own)]


class Native:
    """A uftrace, and the program that it can record."""

    def __init__(self, uftrace_path, program):
        self.uftrace, self.program = uftrace_path, program
        flags, self.options = uftraces.for_native(uftrace_path)
        compiled(program, *flags)
        self.own = own_functions(program)

    def calls(self, folder, words):
        out = f'{folder}/native.data'
        shutil.rmtree(out, ignore_errors=True)
        must([self.uftrace, 'record', '--no-event', '--no-libcall', *self.options, '-d', out, *words.split(), self.program,
              *arguments(words)], cwd=folder)
        return calls(out, self.own, SWITCH.search(words))


def arguments(words):
    return ['slowly'] * ('-t' in words.split())


def compiled(program, *flags):
    return compile_to(program, 'x86_64', paths.source('filter', 'native.c'), '-O1', '-pg', *AS_WRITTEN, *flags)


def compare(folder, program, natives, number, words):
    guest = f'{folder}/guest{number}'
    record(guest, ['-q', '--clock', 'host' if '-t' in words.split() else 'insn', *words.split()],
           [program, *arguments(words)], may_be_empty=True, cwd=folder)
    got = calls(guest, own_functions(program), SWITCH.search(words))
    for native in qemus.by_turns(natives, number):
        same_lines(got, native.calls(folder, words), f'{words}, {native.uftrace}:')


def check(folder):
    qemus.user('x86_64')
    natives = [Native(path, f'{folder}/native{i}') for i, path in enumerate(uftraces.find())]
    if not natives:
        raise Skip('no uftrace')
    program, tally = compiled(f'{folder}/native'), Tally()
    for number, words in enumerate(SETS):
        tally.run(words, compare, folder, program, natives, number, words)
    print(f'{tally.good} sets of options record what native uftrace records, of {len(natives)} versions')
    return tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('filter-native', check))
