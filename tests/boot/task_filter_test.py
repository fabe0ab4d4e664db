#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Linux recorded with --task NAME, of threads that have a name from their beginning or get it, and that change it: what is
recorded of each is what the whole recording of the same run has of it while it has that name.

usage: task_filter_test.py ARCH SERIES
"""
import fnmatch
import re
import shutil
import sys
from glob import glob as glob_files

from gttest import boots, paths, qemus
from gttest.commands import printed, run
from gttest.recordings import check_directory
from gttest.results import in_folder, need, read_text

GLOBS = ['init', 'kthreadd', 'rcu_*', 'no such task']
COMMANDS = 'true | cat\nls /proc/self >/dev/null'
LINE = re.compile(r'^ *([\d.]+) +(\d+) +(\d+) (enter|leave) +(\S+) (\S+)$', re.M)
KNOWN_FROM = 2  # what a new thread calls before the switch to it is known


def lines(out, *options):
    """{task: entries, exits}, of (time, function, depth) and (time, function, how long it took)."""
    found = {}
    for time, tid, depth, kind, took, name in LINE.findall(printed([paths.GUESTTRACE, 'replay', '--no-pager', '--flat', *options, out])):
        entries, exits = found.setdefault(tid, ([], []))
        if kind == 'enter':
            entries.append((time, name, int(depth)))
        else:
            exits.append((time, name, took))
    return found


def names_of(out):
    """{task: its names}"""
    names = {}
    for line in read_text(f'{out}/guest-tasks.txt').splitlines():
        tid, _, _, name = line.split(' ', 3)
        names.setdefault(tid, []).append(name)
    return names


def is_renamed(entries, at):
    """Before this entry the thread was switched to, or is about to set a name."""
    if entries[at - 1][1] == 'linux:schedule':
        return True
    depth = entries[at - 1][2] + 1
    for _, name, own in reversed(entries[:at]):
        if name == '__set_task_comm' and own <= depth:
            return True
        depth = min(depth, own)
    return False


def fits(glob, name):
    return fnmatch.fnmatchcase(name, glob)


def check_task(tid, glob, names, part, whole):
    entries, times = whole[0], [time for time, *_ in whole[0]]
    first, end = times.index(part[0][0][0]), len(part[0])
    need([entry[:2] for entry in entries[first:first + end]] == [entry[:2] for entry in part[0]], glob, 'has other calls of task', tid)
    for at, alone in (first, first <= KNOWN_FROM and fits(glob, names[0])), (first + end, first + end == len(entries) and fits(glob, names[-1])):
        need(alone or (0 < at < len(entries) and is_renamed(entries, at)), glob, 'of task', tid, 'begins or ends at', at, 'of', len(entries), entries[max(at - 9, 0):at + 2])
    new = set(part[1]) - set(whole[1])
    need(sum(name != 'linux:schedule' for _, name, _ in part[0]) == sum(name != 'linux:schedule' for _, name, _ in part[1]),
         glob, 'of task', tid, 'has', end, 'entries and', len(part[1]), 'exits')
    need(not new, glob, 'has other exits of task', tid, sorted(new)[:5])


def take_names(part, whole):
    """Of the whole recording's functions, by address."""
    for path in glob_files(f'{whole}/*.sym') + [f'{whole}/code.found']:
        shutil.copy(path, part)
    known, own = (glob_files(f'{out}/sid-*.map')[0] for out in (whole, part))
    shutil.copy(known, own)


def check_glob(glob, part, whole):
    """How many tasks it has."""
    check_directory(part, readers=False)
    take_names(part, whole)
    names = names_of(whole)
    wanted = {tid for tid in names if any(fits(glob, name) for name in names[tid])}
    got = lines(part)
    need(set(got) == wanted, glob, 'is recorded of tasks', sorted(got), 'not', sorted(wanted))
    full = lines(whole, *(word for tid in wanted for word in ('--task', tid))) if wanted else {}
    for tid in wanted:
        check_task(tid, glob, names[tid], got[tid], full[tid])
    return len(wanted)


def check_refused(arch, series, folder):
    """This QEMU lets plugins read no memory."""
    line = boots.command(arch, qemus.of_series(arch, series), folder, COMMANDS)
    for options in ['--task', 'init'], ['-F', 'vfs_read@task=rcu_*']:
        done = run([paths.GUESTTRACE, 'record', '-o', f'{folder}/data', *options, '--', *line])
        need(done.returncode == 125 and b'does not let plugins read those of a Linux guest; use QEMU 10.0' in done.stderr, options, done)


def check(arch, series, folder):
    whole, words = f'{folder}/whole', []
    for i, glob in enumerate(GLOBS):
        copy = shutil.copy(paths.plugin('uftrace'), f'{folder}/{i}.so')
        words += ['-plugin', f'{copy},output={folder}/{i},clock=insn,summary=off,code={whole}.code.map,depth=1048576,task={glob}']
    line = boots.command(arch, qemus.of_series(arch, series), folder, COMMANDS, options=words)
    boots.record(whole, line, ['--format', 'uftrace', '--clock', 'insn', '--depth', '1048576'])
    tasks = [check_glob(glob, f'{folder}/{i}', whole) for i, glob in enumerate(GLOBS)]
    need(tasks[0] > 2 and tasks[1] > 0 and tasks[2] > 2 and tasks[3] == 0, 'tasks', tasks)
    print('good:', ', '.join(f'{n} tasks of {glob}' for n, glob in zip(tasks, GLOBS)))


def main():
    arch, series = sys.argv[1:]
    part = check_refused if series == '7.2' else check
    return in_folder(f'task-filter-{arch}', lambda folder: part(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
