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
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run_case  # noqa: E402
import trace as tracing  # noqa: E402

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


def check(command, **more):
    done = run_case.run(command, **more)
    if done.returncode:
        raise run_case.Failure(f'{command}: status {done.returncode}, {done.stderr!r}')
    return done


def copy_stripped(tool, source, to):
    check([tool + 'strip', '--strip-all', '--remove-section', '.gnu_debuglink', '-o', to, source])
    notes = check(['readelf', '-nW', to]).stdout.decode()
    for build_id in re.findall('Build ID: ([0-9a-f]+)', notes):
        old = bytes.fromhex(build_id)
        with open(to, 'r+b') as f:
            data = f.read()
            f.seek(data.index(old))
            f.write(bytes(len(old)))


def make_root(arch, root, stripped, program):
    tool, installed = run_case.ARCHES[arch]
    folder, linker = LIBRARIES[arch]
    for path in [linker, *(f'{folder}/{n}' for n in NAMES)]:
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
    plugin = os.environ['GUESTTRACE_PLUGINS'] + '/libuftrace.so,output=' + out
    check([shutil.which('qemu-' + arch), '-L', root, '-plugin', plugin, *command], cwd=root)
    return tracing.Trace(out)


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
    check_anomalies(stats)
    if 'main' not in full_names.values():
        raise run_case.Failure('main has no name with symbols')
    wrong = [f'{path}+{rel:#x} {full_names.get((path, rel))}: {full[path, rel]} calls with symbols, '
             f'{bare[path, rel]} without' for path, rel in sorted(full.keys() | bare.keys())
             if full[path, rel] != bare[path, rel]
             and not (full_names.get((path, rel)) in TOLD_BY_SYMBOLS and not bare[path, rel])]
    wrong += [f'{path}+{rel:#x} is called {name}' for (path, rel), name in bare_names.items()
              if path == 'prog' and name != f'prog+{rel:#x}' and name not in DYNAMIC]
    if wrong:
        raise run_case.Failure('\n  '.join(['', *wrong]))


def check_program(name, args, folder):
    """One that is installed stripped, with a stripped C library: no anomaly."""
    _, _, stats = recorded('x86_64', folder, name, True, args)
    check_anomalies(stats)


def check_anomalies(stats):
    anomalies = {n: stats['anomaly.' + n] for n in run_case.SEVERE if stats.get('anomaly.' + n)}
    if anomalies:
        raise run_case.Failure(f'{anomalies}')


def recorded(arch, folder, program, stripped, args=()):
    root = f'{folder}/root'
    shutil.rmtree(root, ignore_errors=True)
    make_root(arch, root, stripped, program)
    trace = record(arch, folder, root, ['./' + os.path.basename(program), *args])
    return (*counts(trace), trace.stats)


def jobs(cases):
    """(what, why not, function of a folder)."""
    for path in cases:
        case = run_case.Case(os.path.abspath(path))
        for arch in LIBRARIES:
            yield (f'{case.name}, {arch}', run_case.why_not(arch),
                   lambda folder, c=case, a=arch: check_arch(c, a, folder))
    for name, *args in PROGRAMS:
        yield (name, run_case.why_not('x86_64') or (None if os.path.exists(name) else 'no ' + name),
               lambda folder, n=name, a=args: check_program(n, a, folder))


def main():
    failed = ran = 0
    # The dynamic linker calls a function of its own once more or less by where things lie.
    ctypes.CDLL(None).personality(NO_RANDOM_PLACES)
    for what, reason, job in jobs(sys.argv[1:]):
        if reason:
            print(f'SKIP: {reason}')
            continue
        ran += 1
        with tempfile.TemporaryDirectory(prefix='stripped-') as folder:
            try:
                job(folder)
            except (run_case.Failure, OSError, subprocess.TimeoutExpired) as bad:
                failed += 1
                print(f'{what}: {bad}')
    return 1 if failed else 0 if ran else 77


if __name__ == '__main__':
    sys.exit(main())
