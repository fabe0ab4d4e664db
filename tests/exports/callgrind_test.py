#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""callgrind_annotate reads what is exported: each function's own cost and its inclusive one, in recursion too. KCachegrind
loads it without a complaint.

tests/truth/export_check.py compares with callgrind itself.
"""
import collections
import os
import re
import sys
import threading

import programs
from formats_test import clean, export
from gttest import call_sums, commands, functions, made
from gttest.results import need, same, write

COST = re.compile(r' *([\d,]+)  (.*?)(?: \[([^]]*)\])?')


def annotated(t, data, *options):
    """{name of a function: cost}"""
    path = write(f'{t.folder}/callgrind.out', data)
    done = commands.must([commands.tool('callgrind_annotate'), '--threshold=100', '--show-percs=no', '--auto=no',
                          *options, path], cwd=t.folder)
    need(not done.stderr, done.stderr[:500])
    head, _, rows = done.stdout.decode().partition('file:function\n')
    need(rows, head)
    costs = collections.Counter()
    for line in filter(None, rows.splitlines()[1:]):
        match = COST.fullmatch(line)
        need(match, repr(line))
        costs[match[2].split(':', 1)[1].removesuffix('()')] += int(match[1].replace(',', ''))
    return costs


def lines(costs):
    return '\n'.join(f'{name} {cost}' for name, cost in sorted(costs.items()) if cost)


def check(t, data, tasks):
    """`tasks` is {tid: {path: Sum}}"""
    own, inclusive = collections.Counter(), collections.Counter()
    for paths in tasks.values():
        for name, s in call_sums.functions_of(paths).items():
            own[clean(name)] += s.self
            inclusive[clean(name)] += s.total
    need(len(own) > 3, own)
    same(lines(annotated(t, data, '--inclusive=no')), lines(own), 'own:')
    theirs = annotated(t, data, '--inclusive=yes')
    titles = [name for name in theirs if re.search(r'\(\d+\)$|^task \d+$', name) and name not in inclusive]
    need(sorted(theirs[name] for name in titles) == sorted(sum(s.self for s in p.values()) for p in tasks.values()),
         'the costs of tasks are', {name: theirs[name] for name in titles})
    same(lines({n: c for n, c in theirs.items() if n not in titles}), lines(inclusive), 'inclusive:')


def test_recursion(t):
    directory = programs.recorded(t.folder, 'recursion', '--clock', 'insn')
    data = export('callgrind', directory)
    check(t, data, programs.paths_of(directory))


def test_threads(t):
    directory = programs.recorded(t.folder, 'threads', '--clock', 'host')
    check(t, export('callgrind', directory), programs.paths_of(directory))


def test_any_calls(t):
    """Each function calls each other one and itself; tasks begin with any."""
    recording = made.Made(f'{t.folder}/data')
    check(t, export('callgrind', recording.path), {tid: recording.paths(tid) for tid in made.TIDS})


def test_hostile_names(t):
    recording = made.Made(f'{t.folder}/data', [n for n in made.HOSTILE if n[:1] not in b'('], n=90, deep=3)
    check(t, export('callgrind', recording.path), {tid: recording.paths(tid) for tid in made.TIDS})


def loaded(t, data):
    """What KCachegrind says of a file until it has selected a function, or refused a line."""
    home = f'{t.folder}/home'
    os.makedirs(home, 0o700, exist_ok=True)
    path = write(f'{t.folder}/callgrind.out.kc', data)
    env = dict(os.environ, HOME=home, XDG_RUNTIME_DIR=home, QT_QPA_PLATFORM='offscreen', LC_ALL='C')
    child = commands.start([commands.tool('dbus-run-session'), '--', commands.tool('kcachegrind'), path], env=env,
                           preexec_fn=None)
    end = threading.Timer(commands.SECONDS, commands.kill, [child])
    end.start()
    said = []
    for line in child.stderr:
        said.append(line.decode(errors='replace'))
        if re.match('Selected |Loading ', said[-1]):
            break
    end.cancel()
    commands.kill(child)
    commands.finish(child)
    return ''.join(said)


def test_kcachegrind(t):
    for data in export('callgrind', programs.recorded(t.folder, 'recursion', '--clock', 'insn')), \
            export('callgrind', made.Made(f'{t.folder}/data', made.HOSTILE, n=90, deep=3).path):
        said = loaded(t, data)
        need(re.search('^Selected ', said, re.M) and 'Loading' not in said, said)
    said = loaded(t, data + b'no such line\n')
    need(re.search('^Loading .*Invalid line', said, re.M), said)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
