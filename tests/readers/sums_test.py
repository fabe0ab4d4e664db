#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`report` and `graph` beside uftrace's, of the same recordings, function by function: of programs with
recursion, threads, children, coroutines, exceptions; of a machine; of one that uftrace itself recorded. Each as
uftrace's directory and as a compact file.

Times are compared as they are printed, which is to the nanosecond below a millisecond; with --wall, as uftrace counts.
"""
import json
import os
import shutil
import sys

from gttest import boards, paths, qemus, uftrace_text
from gttest.commands import must, printed
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.recordings import record, symbols
from gttest.results import SKIPPED, Failure, Skip, Tally, in_folder, need, same_lines, skip
from gttest.uftrace_text import REPORT, time_text

PROGRAMS = {'recursion.c': 'readers', 'threads.c': 'guest/cases', 'fork.c': 'guest/cases',
            'coroutines.c': 'guest/cases', 'exceptions.cc': 'guest/cases', 'longjmp.c': 'guest/cases'}
FLAGS = ['-O1', '-g', '-pthread', '-D_GNU_SOURCE', f'-I{paths.source("guest")}']


SUSPENDED = 'linux:schedule'


# ---- recordings --------------------------------------------------------------------------------------

def program(folder, source, where, *flags):
    out = f'{folder}/{os.path.splitext(source)[0]}'
    compile_to(out, 'x86_64', paths.source(*where.split('/'), source), *FLAGS, *flags)
    return out


def of_program(folder, source, where):
    qemus.user('x86_64')
    out = f'{folder}/{source}.data'
    record(out, [], [program(folder, source, where)])
    return out


def of_machine(folder, tasks):
    machine = boards.build_kernel('aarch64', folder, paths.source('machine', 'cases', 'threads.c'))
    out = f'{folder}/machine-{tasks}.data'
    record(out, ['--tasks', tasks], machine.command(qemus.find('aarch64')[0][1]))
    symbols(out, machine.elf)
    return out


def of_uftrace(folder, source):
    """A recording that uftrace itself makes of a program that calls it."""
    out = f'{folder}/uftrace-{source}.data'
    must(['uftrace', 'record', '--no-event', '-d', out, program(folder, source, 'readers', '-pg')])
    return out


CLOCKS = {'longjmp.c': 'insn', 'threads.c': 'host', 'stack': 'insn'}  # of some

RECORDINGS = [
    *[(of_program, source, where) for source, where in PROGRAMS.items()],
    (of_machine, 'stack'), (of_machine, 'cpu'), (of_uftrace, 'recursion.c'),
]


# ---- both readers ------------------------------------------------------------------------------------

def uftrace(directory, command, *options):
    return printed(['uftrace', command, '--no-pager', '--demangle=no', '-d', directory, *options])


def guesttrace(recording, command, *options):
    names = ['--no-demangle', '--wall'] if command != 'info' else []
    done = must([GUESTTRACE, command, *names, *options, recording])
    need(done.stderr == b'', command, recording, done.stderr)
    return done.stdout.decode(errors='surrogateescape')


# ---- report ------------------------------------------------------------------------------------------

def by_name(rows):
    """Rows of one name, which uftrace does not tell apart by module, as one: {name: {column: text}}. The average
    of several is not known."""
    found = {}
    for row in rows:
        found.setdefault(row['function'], []).append(row)
    return {name: one_row(some) for name, some in found.items()}


def one_row(rows):
    sums = {'call': str(sum(r['calls'] for r in rows))}
    for kind in 'total', 'self':
        sums[kind] = time_text(sum(r[f'{kind}_ns'] for r in rows))
        sums[f'{kind}-min'] = time_text(min(r[f'{kind}_min_ns'] for r in rows))
        sums[f'{kind}-max'] = time_text(max(r[f'{kind}_max_ns'] for r in rows))
        sums[f'{kind}-avg'] = time_text(rows[0][f'{kind}_avg_ns']) if len(rows) == 1 else None
    return sums


def report_lines(rows, unknown):
    return [f'{name} {column} {rows[name][column]}' for name in sorted(rows) for column in REPORT
            if (name, column) not in unknown]


def check_report(directory, recording, theirs=(), ours=(), columns=REPORT):
    want = uftrace_text.report(uftrace(directory, 'report', '-f', ','.join(REPORT), *theirs))
    got = by_name(json.loads(guesttrace(recording, 'report', '--json', *ours))['rows'])
    need(want, 'uftrace reports nothing')
    if theirs:                # it does not filter suspension
        for rows in want, got:
            rows.pop(SUSPENDED, None)
    unknown = {(name, c) for name in got for c in REPORT if got[name][c] is None or c not in columns}
    unknown |= {(name, c) for name in want for c in REPORT if c not in columns}
    same_lines(report_lines(got, unknown), report_lines(want, unknown), f'report of {recording}', 0)


def busiest(recording):
    """The two functions that were called most, and main."""
    rows = json.loads(guesttrace(recording, 'report', '--json', '--sort', 'calls'))['rows']
    names = [row['function'] for row in rows]
    return [name for name in dict.fromkeys([*names[:2], 'main', 'guest_main']) if name in names]


# ---- graph -------------------------------------------------------------------------------------------

def check_tops(got, want, what):
    """Two graphs, as the children of a node each."""
    trees = []
    for tops in got, want:
        tree = uftrace_text.Node('', 0, 0, 0)
        tree.children = tops
        trees.append(tree.join_names())
    if not uftrace_text.alike(*trees):
        same_lines(*[list(tree.lines()) for tree in trees], what)
        raise Failure(f'{what} differ')


def check_graph(directory, recording, function, theirs=(), ours=()):
    want = uftrace_text.graph(uftrace(directory, 'graph', '-f', 'total,self', *theirs, function))
    got = uftrace_text.graph(guesttrace(recording, 'graph', '--function', function, *ours))
    need(want, 'uftrace has no graph of', function)
    check_tops(got, want, f'graph of {function} in {recording}')


def check_whole(directory, recording):
    """All calls; the top line is that of a session for uftrace."""
    want = uftrace_text.graph(uftrace(directory, 'graph', '-f', 'total,self'))
    got = uftrace_text.graph(guesttrace(recording, 'graph'))
    need(len(want) == 1 and len(got) == 1, len(want), 'graphs of uftrace,', len(got), 'of guesttrace')
    check_tops(got[0].children, want[0].children, f'graph of {recording}')


def ends(node, path=()):
    """{(outermost, ..., function): (calls, ns)} of the calls that came through these callers and no others; the
    tree is one of callers. Recursive calls are left out: uftrace counts outermost ones."""
    path = (node.name, *path)
    calls = node.calls - sum(child.calls for child in node.children)
    ns = node.total - sum(child.total for child in node.children)
    found = {path: (calls, ns)} if calls and path[-1] not in path[:-1] else {}
    for child in node.children:
        found.update(ends(child, path))
    return found


def check_callers(directory, recording, function):
    want = uftrace_text.backtraces(uftrace(directory, 'graph', function))
    tops = uftrace_text.graph(guesttrace(recording, 'graph', '--callers', '--function', function))
    got = {path: value for top in tops for path, value in ends(top).items()}
    need(sorted(want) == sorted(got), f'callers of {function}:', sorted(set(want) ^ set(got)))
    for path, (calls, time) in want.items():
        need(got[path][0] == calls, path, 'has', got[path][0], 'calls, not', calls)
        exact = all(top.total < 1000000 for top in tops)
        need(not exact or time_text(got[path][1]) == time, path, 'has', got[path][1], 'ns, not', time)


# ---- the test ----------------------------------------------------------------------------------------

def check_sums(directory, recording):
    check_report(directory, recording)
    check_report(directory, recording, ['-D', '3'], ['--depth', '3'], ['call', 'total', 'total-min', 'total-max'])
    check_report(directory, recording, ['-t', '1us'], ['--time-filter', '1us'], ['call', 'total', 'total-max'])
    check_whole(directory, recording)
    for function in busiest(recording):
        check_graph(directory, recording, function)
        check_callers(directory, recording, function)


def check_info(recording, clock):
    """What it counts is what report counts."""
    info = json.loads(guesttrace(recording, 'info', '--json'))
    need(not clock or info.get('clock') == clock, 'the clock is', info.get('clock'))
    rows = json.loads(guesttrace(recording, 'report', '--json', '--by', 'task'))['rows']
    calls = {(row['tid'], row['pid']): row['calls'] for row in rows}
    want = {(task['tid'], task['pid']): task['calls'] for task in info['tasks'] if task['calls']}
    need(calls == want and info['calls'] == sum(calls.values()), 'info has', want, 'report has', calls)


def check_recording(folder, make, kind, *arguments):
    directory = make(folder, kind, *arguments)
    compact = f'{directory}.gtrace'
    must([GUESTTRACE, 'export', '--format', 'compact', '-o', compact, directory])
    for recording in directory, compact:
        check_sums(directory, recording)
        check_info(recording, CLOCKS.get(kind))


def check(folder):
    tally = Tally()
    if not shutil.which('uftrace'):
        skip('no uftrace')
        return SKIPPED
    for make, *arguments in RECORDINGS:
        what = f'{make.__name__} {arguments[0]}'
        if tally.run(what, check_recording, folder, make, *arguments):
            print('good:', what)
    return tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('sums', check))
