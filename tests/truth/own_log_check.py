#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a recording with what the program said of its own calls (programs/call_log.h).

    own_log_check.py ARCH

programs/thrown.cc is built with -finstrument-functions and with -pg, with -O0 and -O2, static and
dynamic. Its functions must be entered in the order of the log, each below the function that holds
its call site, and no return may have been missed.

Exit status: 0 equal, 1 not, 77 cannot run here.
"""
import bisect
import struct
import sys

import recording
from gttest import commands, compilers, paths, qemus, uftrace
from gttest.commands import tools
from gttest.results import Failure, Tally, folder, need, read_bytes, status

PROGRAMS = paths.source('truth', 'programs')
# Functions of headers are inlined or not as the compiler likes, and are in the log either way.
INSTRUMENT = ['-finstrument-functions', '-finstrument-functions-exclude-file-list=/include/',
              '-fno-inline']
NO_HOOK = '_ZT', '_GLOBAL_', '_Z41__static_initialization'  # thunks, what the compiler made
HEADERS = '_ZSt', '_ZNSt', '_ZNKSt', '_ZN9__gnu_cxx'  # nm does not always know where they are from
MANY = 500  # entries, at least


def run(command, folder, status=0):
    """Its output, as text."""
    return commands.must(command, status, cwd=folder).stdout.decode()


def build(arch, folder, mcount, optimize, static):
    cc, cxx = compilers.prefix(arch) + 'gcc', compilers.prefix(arch) + 'g++'
    hooks = ['-DWITH_MCOUNT'] if mcount else []
    flags = ['-pg'] + ['-mfentry'] * (arch == 'x86_64') if mcount else INSTRUMENT
    run([cc, '-O2', '-c', *hooks, f'{PROGRAMS}/call_log.c', '-o', 'call_log.o'], folder)
    run([cxx, '-std=c++17', '-g', optimize, *flags, '-c', f'{PROGRAMS}/thrown.cc', '-o',
         'thrown.o'], folder)
    run([cxx, *(['-static'] if static else ['-no-pie']), 'thrown.o', 'call_log.o', '-o', 'program'],
        folder)


def symbols(nm, path, source=''):
    """[(address, of its function, name)], sorted: a part that was moved away is its function's."""
    found = {}
    for line in run([nm, '-n', *(['-l'] if source else []), path], '.').splitlines():
        words = line.split()
        if len(words) > 2 and words[1] in 'tTwWiu' and source in line and words[2][0] not in '$.':
            found.setdefault(int(words[0], 16), []).append(words[2])
    place = {name: address for address, names in found.items() for name in names}
    return sorted((address, place.get(name.partition('.cold')[0], address), name)
                  for address, names in found.items() for name in names)


class Program:
    def __init__(self, arch, folder, mcount):
        nm = compilers.prefix(arch) + 'nm'
        self.symbols = symbols(nm, f'{folder}/program')
        self.starts = [s[0] for s in self.symbols]
        none = NO_HOOK if mcount else NO_HOOK + HEADERS
        own = {name for _, _, name in symbols(nm, f'{folder}/thrown.o', '' if mcount else 'thrown.cc:')
               if not name.startswith(none)}
        self.names = {start: name for start, whole, name in self.symbols if whole == start}
        self.own = {start for start, whole, name in self.symbols if whole == start and name in own}

    def function(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return self.symbols[i][1] if i >= 0 else 0

    def name(self, function):
        return self.names.get(function, hex(function) if function else 'nobody')


def read_log(path, program):
    """[(function, caller)]: the caller is one of the program's that is open, or None."""
    data = read_bytes(path)
    n, = struct.unpack_from('<Q', data)
    out = []
    for i in range(n):
        function, site, _ = struct.unpack_from('<QQQ', data, 32 + 24 * i)
        out.append((program.function(function), program.function(site - 1)))
    return out


def read_trace(folder, program, wanted):
    """[(function, caller)] of the wanted functions: the innermost wanted one that is open."""
    out = []
    streams = recording.Recording(folder).streams()
    need(len(streams) == 1, len(streams), 'tasks, expected one')
    for name, data in streams.items():
        stack = []
        recording.pairs_of(f'{name}.dat', data)  # the records are as they should be
        for _, kind, _, address, _ in uftrace.read_records(data):
            if kind == uftrace.EXIT:
                stack.pop()
                continue
            if address in wanted:
                out.append((address, next((a for a in reversed(stack) if a in wanted), 0)))
            stack.append(address)
    return out


def compare(log, trace, program, wanted):
    for i, (said, seen) in enumerate(zip(log, trace)):
        if said[0] != seen[0]:
            raise Failure(f'call {i} is {program.name(said[0])} in the log, {program.name(seen[0])}'
                          ' in the recording')
        if said[1] in wanted and said[1] != seen[1]:
            raise Failure(f'call {i}, {program.name(said[0])}: the caller is'
                          f' {program.name(said[1])} in the log, {program.name(seen[1])} in the'
                          ' recording')
    if len(log) != len(trace):
        raise Failure(f'{len(log)} calls in the log, {len(trace)} in the recording')


def check(arch, mcount, optimize, static, what):
    with folder('log') as scratch:
        build(arch, scratch, mcount, optimize, static)
        program = Program(arch, scratch, mcount)
        qemu = [qemus.user(arch), '-L', compilers.sysroot(arch)]
        plain = run([*qemu, './program'], scratch, 3)
        traced = run([*qemu, '-plugin', f'{paths.plugin("uftrace")},output=data', './program'], scratch, 3)
        need(plain == traced, f'the program printed {traced!r}, without the plugin {plain!r}')
        log = read_log(f'{scratch}/log', program)
        wanted = program.own | {function for function, _ in log}
        trace = read_trace(f'{scratch}/data', program, wanted)
        compare(log, trace, program, wanted)
        missed = recording.Recording(f'{scratch}/data').stats['anomaly.missed-return']
        need(not missed and len(log) >= MANY, f'{missed} missed returns, {len(log)} calls')
        print(f'{what}: {len(log)} calls')


def main(arch):
    qemus.user(arch)
    tools(compilers.prefix(arch) + 'g++')
    tally = Tally()
    for mcount in False, True:
        for optimize in '-O0', '-O2':
            for static in True, False:
                what = f'{"-pg" if mcount else "-finstrument-functions"} {optimize} ' \
                       f'{"static" if static else "dynamic"}'
                tally.run(what, check, arch, mcount, optimize, static, what)
    return tally.status()


if __name__ == '__main__':
    sys.exit(status(main, sys.argv[1]))
