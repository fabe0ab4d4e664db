#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Go's pprof reads what is exported: -top has each function's own and cumulative values, -raw all samples,
-diff_base of a profile and itself nothing, labels choose tasks."""
import re
import sys

import programs
from formats_test import export
from gttest import call_sums, commands, functions
from gttest.results import Skip, need, same, write

TOP = re.compile(r'\s*(\d+)(?:ns)?\s+\S+%\s+\S+%\s+(\d+)(?:ns)?\s+\S+%\s+(.*)')
ALL = ['-nodecount=100000', '-nodefraction=0', '-edgefraction=0', '-unit=ns']


def pprof(t, *words, status=0):
    go = commands.tool('go')
    if commands.run([go, 'tool', '-n', 'pprof']).returncode != 0:
        raise Skip('go has no pprof')
    more = {'env': {'PATH': '/usr/bin:/bin', 'HOME': t.folder, 'PPROF_TMPDIR': t.folder, 'GOCACHE': f'{t.folder}/go'}}
    return commands.must([go, 'tool', 'pprof', *words], status, **more).stdout.decode()


def profile(t, name, *options):
    directory = programs.recorded(t.folder, name, *options)
    return directory, write(f'{t.folder}/{name}.pb.gz', export('pprof', directory))


def top(t, path, index, *words):
    """{function: (its own, cumulative)}"""
    found = {}
    for line in pprof(t, '-top', f'-sample_index={index}', *ALL, *words, path).splitlines():
        match = TOP.fullmatch(line)
        if match:
            found[match[3].removesuffix('()')] = int(match[1]), int(match[2])
    return found


def added(paths, which):
    """{function: (own, cumulative)} of {path: Sum}; without what is 0."""
    found = {}
    for path, s in paths.items():
        value = getattr(s, which)
        for name in set(path):
            own, cumulative = found.get(name, (0, 0))
            found[name] = own + value * (name == path[-1]), cumulative + value
    return {name: v for name, v in found.items() if v != (0, 0)}


def all_tasks(tasks):
    """{path: Sum}"""
    paths = {}
    for own in tasks.values():
        for path, s in own.items():
            paths.setdefault(path, call_sums.Sum()).add(*s)
    return paths


def lines(found):
    return '\n'.join(f'{name} {own} {total}' for name, (own, total) in sorted(found.items()))


def check_top(t, name, *options, index):
    directory, path = profile(t, name, *options)
    paths = all_tasks(programs.paths_of(directory))
    need(len(paths) > 20, len(paths), 'paths')
    same(lines(top(t, path, index)), lines(added(paths, 'self')), f'{name}, {index}:')
    same(lines(top(t, path, 'calls')), lines(added(paths, 'calls')), f'{name}, calls:')


def test_recursion(t):
    check_top(t, 'recursion', '--clock', 'insn', index='instructions')


def test_threads(t):
    check_top(t, 'threads', '--clock', 'host', index='time')


def test_tasks(t):
    """A label chooses a task: here one of the forked children."""
    directory, path = profile(t, 'fork', '--clock', 'insn')
    for tid, paths in programs.paths_of(directory).items():
        same(lines(top(t, path, 'instructions', f'-tagfocus=tid={tid}:{tid}')), lines(added(paths, 'self')), tid)
    tags = pprof(t, '-tags', path)
    need(all(f'{label}:' in tags for label in ('pid', 'tid', 'task', 'process')), tags)


def test_difference(t):
    _, path = profile(t, 'recursion', '--clock', 'insn')
    need(top(t, path, 'calls') and not top(t, path, 'calls', f'-diff_base={path}'), 'a profile differs from itself')


def test_other_reports(t):
    directory, path = profile(t, 'recursion', '--clock', 'insn')
    raw = pprof(t, '-raw', path)
    need('calls/count instructions/count[dflt]' in raw, raw[:2000])
    samples = sum(map(len, programs.paths_of(directory, lambda *function: function).values()))
    need(len(re.findall(r'^ +\d+ +\d+: [\d ]+$', raw, re.M)) == samples, 'not', samples, 'samples:', raw[:2000])
    need(re.search(r'\| +fib$', pprof(t, '-peek=^fib$', path), re.M), 'fib calls itself')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
