#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records programs with symbols and again without any, and compares the calls address by address.

    stripped_test.py CASE... (of cases/)

Both times the C library, the dynamic linker and the program are copies at the same paths below -L:
as they are installed (for x86_64 with their separate debug files, where those are), and stripped,
without the build-id by which a debug file would be found. For each function address the number of
calls must be the same, except for what only a symbol can tell: see TOLD_BY_SYMBOLS. Then programs
that are installed without symbols: no anomaly that matters may rise.
"""
import collections
import ctypes
import os
import re
import shutil
import sys

import run_case
from gttest import compilers, paths, qemus, recordings, uftrace
from gttest.commands import must, printed
from gttest.results import Skip, Tally, folder, need

LIBRARIES = {
    'x86_64': ('/lib/x86_64-linux-gnu', '/lib64/ld-linux-x86-64.so.2'),
    'aarch64': ('/lib', '/lib/ld-linux-aarch64.so.1'),
    'riscv64': ('/lib', '/lib/ld-linux-riscv64-lp64d.so.1'),
}
NO_RANDOM_PLACES = 0x0040000  # ADDR_NO_RANDOMIZE
NAMES = ['libc.so.6', 'libm.so.6', 'libgcc_s.so.1', 'libstdc++.so.6']
# Not gcc's default for riscv64, and so not in its libraries.
run_case.DEFAULT_FLAGS.append('-fasynchronous-unwind-tables')
# Written by hand or without unwind tables, and come to by a jump only.
TOLD_BY_SYMBOLS = {'_start', '_fini', '_init', 'register_tm_clones', 'deregister_tm_clones'}
# Names that a program's dynamic symbol table has, too.
DYNAMIC = {'_init', '_fini', '_start', 'main', '__libc_csu_init'}
PROGRAMS = [
    ('/usr/bin/lua5.4', '-e', 'local t = {} for i = 1, 99 do t[i] = i * 7919 % 101 end table.sort(t) '
     'print(table.concat(t, ","):gsub("1", "one"), pcall(error, "x"))'),
    ('/bin/busybox', 'awk', 'BEGIN { for (i = 0; i < 9; i++) s = s i; print toupper(s "x") }'),
    ('/bin/busybox', 'sh', '-c', 'for i in 1 2; do echo $i | sed s/1/2/; done'),
]


def copy_stripped(tool, source, to):
    must([tool + 'strip', '--strip-all', '--remove-section', '.gnu_debuglink', '-o', to, source])
    notes = printed(['readelf', '-nW', to])
    for build_id in re.findall('Build ID: ([0-9a-f]+)', notes):
        old = bytes.fromhex(build_id)
        with open(to, 'r+b') as f:
            data = f.read()
            f.seek(data.index(old))
            f.write(bytes(len(old)))


def make_root(arch, root, stripped, program):
    tool, installed = compilers.prefix(arch), compilers.sysroot(arch)
    libraries, linker = LIBRARIES[arch]
    for path in [linker, *(f'{libraries}/{n}' for n in NAMES)]:
        source, to = installed.rstrip('/') + path, root + path
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if stripped:
            copy_stripped(tool, source, to)
        else:
            shutil.copy(source, to)
    if stripped:
        copy_stripped(tool, program, f'{root}/{os.path.basename(program)}')
    else:
        shutil.copy(program, root)


def record(arch, folder, root, command):
    out = f'{folder}/data'
    shutil.rmtree(out, ignore_errors=True)
    plugin = paths.plugin('uftrace') + ',output=' + out
    must([qemus.user(arch), '-L', root, '-plugin', plugin, *command], cwd=root)
    return uftrace.Trace(out)


def counts(trace):
    """{(file, relative address): calls}, and the names."""
    found, names = collections.Counter(), {}
    for tid in trace.tids():
        for call in trace.records(tid):
            if call.kind != 'enter':
                continue
            path, name = trace.name(tid, call.time, call.addr)
            base = next((lo for maps in trace.maps.values() for lo, _, p in maps if p == path), 0)
            key = os.path.basename(path or ''), call.addr - base
            found[key] += 1
            names[key] = name
    return found, names


def check_arch(case, arch, folder):
    run_case.build(case, arch, folder)
    full, full_names, _ = recorded(arch, folder, f'{folder}/prog', False)
    bare, bare_names, stats = recorded(arch, folder, f'{folder}/prog', True)
    recordings.check_severe(stats)
    need('main' in full_names.values(), 'main has no name with symbols')
    wrong = [f'{path}+{rel:#x} {full_names.get((path, rel))}: {full[path, rel]} calls with symbols, '
             f'{bare[path, rel]} without' for path, rel in sorted(full.keys() | bare.keys())
             if full[path, rel] != bare[path, rel]
             and not (full_names.get((path, rel)) in TOLD_BY_SYMBOLS and not bare[path, rel])]
    wrong += [f'{path}+{rel:#x} is called {name}' for (path, rel), name in bare_names.items()
              if path == 'prog' and name != f'prog+{rel:#x}' and name not in DYNAMIC]
    need(not wrong, '\n  '.join(['', *wrong]))


def check_program(name, args, folder):
    """One that is installed stripped, with a stripped C library: no anomaly."""
    if not os.path.exists(name):
        raise Skip(f'no {name}')
    _, _, stats = recorded('x86_64', folder, name, True, args)
    recordings.check_severe(stats)


def recorded(arch, folder, program, stripped, args=()):
    root = f'{folder}/root'
    shutil.rmtree(root, ignore_errors=True)
    make_root(arch, root, stripped, program)
    trace = record(arch, folder, root, ['./' + os.path.basename(program), *args])
    return (*counts(trace), trace.stats)


def jobs(cases):
    """(what, architecture, function of a folder)."""
    for path in cases:
        case = run_case.Case(os.path.abspath(path))
        for arch in LIBRARIES:
            yield f'{case.name}, {arch}', arch, lambda scratch, c=case, a=arch: check_arch(c, a, scratch)
    for name, *args in PROGRAMS:
        yield name, 'x86_64', lambda scratch, n=name, a=args: check_program(n, a, scratch)


def run_job(arch, job):
    qemus.user(arch)
    compilers.compiler(arch, '.cc')
    with folder('stripped') as scratch:
        job(scratch)


def main():
    tally = Tally()
    # The dynamic linker calls a function of its own once more or less by where things lie.
    ctypes.CDLL(None).personality(NO_RANDOM_PLACES)
    for what, arch, job in jobs(sys.argv[1:]):
        tally.run(what, run_job, arch, job)
    return tally.status()


if __name__ == '__main__':
    sys.exit(main())
