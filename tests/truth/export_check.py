#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one program under valgrind's callgrind and, recorded, under QEMU, and compares callgrind's profile with the one
that guesttrace exports: how often each function called each other one, and the instructions of these calls with all
that they called.

    export_check.py CASE

The cases are those of callgrind_check.py, which see for what is made equal. What is not compared:

- Functions that jump to another one at their end, or that are jumped to. There callgrind takes the jump for a call, and
  the first function lasts as long as the second; to us the second one is a call of the first one's caller.
- Instructions of calls through a stub of the PLT: to us the stub belongs to the caller.
- Instructions of calls of a function that is open already: callgrind counts each such call, under another name, f'2.
  In the export they have none, so that the sum over all callers is right.
- Instructions of calls outside of main: the dynamic linker reads what the two kernels and processors tell it.
- Functions of one name in one file, and code without names.

Instructions are compared roughly where below the call a string instruction is repeated (rep) or code reaches into
another page, of which QEMU counts one more than callgrind, or a string function of the C library ran: these choose
their way by the addresses of their arguments.

Exit status: 0 equal, 1 not (what differs is on stdout), 77 cannot run here.
"""
import collections
import re
import sys

import callgrind
import callgrind_check
import functions
from gttest import callgrind_profile, commands, paths, qemus, results
from gttest.commands import tool
from gttest.results import Skip, need, status

STRINGS = re.compile(r'_*(mem|str|stp|wcs|wmem|rawmemchr)')
REPEATED = re.compile(rb'[\xf2\xf3][\x40-\x4f]?[\xa4-\xa7\xaa-\xaf]')
PAGE = 4096
ROUGH = 0.02, 8  # of all instructions; of each call
SHARE = 0.6  # of callgrind's edges that is compared, at least


def tail_calls(edges):
    """Functions that a jump leads to, or out of."""
    found = set()
    for e in edges:
        source = functions.load(e.from_object)
        if not source or not source.is_call(e.site):
            found |= {functions.caller(e.from_object, e.site), (e.object, e.target)}
    return found


def behind_stubs(path, log):
    """What stubs lead to."""
    where = callgrind.biases(log)
    placed = (callgrind.placed(e, where) for e in callgrind.edges(path))
    return {(e.object, e.target) for e in placed if callgrind.in_plt(e.from_object, e.site)}


def inexact(place):
    """A function whose instructions depend on more than its arguments, or are counted differently."""
    file = functions.load(place[0])
    if not file or place[1] is None:
        return True
    names, start = file.names.get(place[1], ()), place[1]
    end = file.ends[file.starts.index(start)]
    return any(STRINGS.match(n) for n in names) or start // PAGE != (end - 1) // PAGE or \
        REPEATED.search(file.bytes_at(start, end - start)) is not None


def is_main(place):
    return 'main' in callgrind_check.names_of(place)


def closure(graph, first):
    """What can be reached from these, and these."""
    work = list(first)
    found = set(work)
    while work:
        for other in graph.get(work.pop(), ()):
            if other not in found:
                found.add(other)
                work.append(other)
    return found


def below_main(edges):
    """(caller, callee) whose instructions have to be equal, and those where nearly."""
    down, up = collections.defaultdict(set), collections.defaultdict(set)
    for e in edges:
        caller, callee = functions.caller(e.from_object, e.site), functions.caller(e.object, e.target)
        down[caller].add(callee)
        up[callee].add(caller)
    places = set(down) | set(up)
    pairs = {(a, b) for a in closure(down, filter(is_main, places)) for b in down[a]}
    bad = closure(up, filter(inexact, places))
    return {pair for pair in pairs if pair[1] not in bad}, {pair for pair in pairs if pair[1] in bad}


def theirs_of(edges, stubs):
    """{(caller, callee): (calls, instructions or None)}"""
    left_out, found, main = tail_calls(edges), {}, set().union(*below_main(edges))
    for e in edges:
        caller, callee = functions.caller(e.from_object, e.site), (e.object, e.target)
        if callee in left_out or functions.NO_SYMBOLS in (caller, functions.caller(*callee)):
            continue
        sums = found.setdefault((caller, callee), [0, 0])
        sums[0] += e.count
        sums[1] += 0 if e.inner else e.cost
    return {pair: (calls, cost if pair in main and pair[1] not in stubs else None)
            for pair, (calls, cost) in found.items()}


class Names:
    """The function of a file that has a name."""

    def __init__(self):
        self.files = {}

    def find(self, place):
        """(object, address); None where it is not one."""
        file = functions.load(place.object)
        if not file:
            return None
        if place.object not in self.files:
            known = collections.defaultdict(set)
            for addr, names in file.names.items():
                for name in names:
                    known[name].add(file.function(addr))
            self.files[place.object] = known
        found = self.files[place.object].get(place.name.removesuffix('()'), ())
        return (place.object, next(iter(found))) if len(found) == 1 else None


def ours_of(profile):
    """{(caller, callee): (calls, instructions)}, and the functions whose names are not of one alone."""
    names, found, several = Names(), {}, set()
    by_name = collections.Counter((p.object, p.name) for p in profile.costs)
    for (caller, callee), (calls, cost, _) in profile.edges.items():
        pair = names.find(caller), names.find(callee)
        if all(pair):
            need(pair not in found, 'twice:', caller, callee)
            found[pair] = calls, cost
        several |= {p for p, place in zip(pair, (caller, callee)) if p and by_name[place.object, place.name] > 1}
    return found, several


def show(pair):
    return f'{callgrind_check.named(pair[0])} -> {callgrind_check.named(pair[1])}'


def compare(theirs, ours, several, explained, exact):
    wrong, compared, equal, near = [], 0, 0, 0
    for pair, (calls, cost) in sorted(theirs.items(), key=str):
        if pair not in ours or several & set(pair) or explained(*pair):
            continue
        compared += 1
        good = calls == ours[pair][0]
        if cost is not None and pair in exact:
            good &= cost == ours[pair][1]
            equal += 1
        elif cost is not None:
            good &= abs(cost - ours[pair][1]) <= ROUGH[0] * cost + ROUGH[1] * calls
            near += 1
        if not good:
            wrong.append(f'{calls:8} {ours[pair][0]:8} {cost!s:>10} {ours[pair][1]:10}  {show(pair)}')
    need(not wrong, 'callgrind and the export count differently (calls, calls, instructions, instructions):\n'
         + '\n'.join(wrong))
    return compared, equal, near


def check_run(case, folder):
    # Later ones answer some system calls of the C library otherwise than valgrind does, and it runs other instructions.
    qemu, valgrind = qemus.user_before('x86_64', callgrind_check.HOST_MAPS), tool('valgrind.bin', 'valgrind')
    if case.static and 'avx2' not in open('/proc/cpuinfo', encoding='utf-8').read().split():
        raise Skip('valgrind shows programs no AVX2 here, and a static one chooses functions by it')
    command = callgrind_check.build(case, folder)
    theirs_env, ours_env = callgrind_check.environment(valgrind, qemu, case, True, folder)
    _, edges = callgrind_check.profile(case, valgrind, command, theirs_env, folder)
    _, recording = callgrind_check.record(case, qemu, command, ours_env, folder, 'data')
    done = commands.must([paths.GUESTTRACE, 'export', '--format', 'callgrind', '-o', '-', recording.path])
    profile = callgrind_profile.Profile(done.stdout)
    need(profile.event == 'Ir', profile.event)
    theirs = theirs_of(edges, behind_stubs(f'{folder}/callgrind.out', f'{folder}/callgrind.log'))
    ours, several = ours_of(profile)
    compared, equal, near = compare(theirs, ours, several, callgrind_check.explain(edges, ()), below_main(edges)[0])
    need(compared >= SHARE * len(theirs), f'only {compared} of {len(theirs)} edges can be compared')
    need(equal > 10, f'the instructions of {equal} edges are exact')
    return compared, equal, near


def check(name):
    with results.folder('export') as scratch:
        compared, equal, near = check_run(callgrind_check.CASES[name], scratch)
    print(f'{name}: {compared} edges have equal calls, {equal} of them equal instructions, {near} nearly')


if __name__ == '__main__':
    sys.exit(status(check, sys.argv[1]))
