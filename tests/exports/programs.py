# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that are recorded for exports: with threads, with children, with recursion."""
from gttest import call_sums, paths, qemus, uftrace
from gttest.compilers import compile_to
from gttest.recordings import record

SOURCES = {'threads': ('guest', 'cases', 'threads.c'), 'fork': ('guest', 'cases', 'fork.c'),
           'recursion': ('truth', 'programs', 'recursion.c')}


def recorded(folder, name, *options):
    """The directory of a recording of the program."""
    qemus.user('x86_64')
    program, out = f'{folder}/{name}', f'{folder}/{name}.data'
    compile_to(program, 'x86_64', paths.source(*SOURCES[name]), '-O1', '-g', '-pthread', '-D_GNU_SOURCE',
               f'-I{paths.source("guest")}')
    record(out, list(options), [program])
    return out


def paths_of(directory, name_of=lambda module, name: name):
    """{tid: {path: Sum}} of its records."""
    trace = uftrace.Trace(directory)
    found = {}
    for tid in trace.tids():
        def name(addr, tid=tid):
            return name_of(*trace.name(tid, uftrace.LAST, addr))
        found[tid] = call_sums.paths_of(uftrace.read_records(trace.data(tid)), name)
    return found
