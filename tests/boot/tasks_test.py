#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest lists its threads at the end of a boot: each of them is a task of the recording by its
pid, its thread group and its name, and no task has the pid of one with another name. A name that a
thread has between two switches of threads is known, too. A thread that has more names than are kept
costs no more than those.

usage: tasks_test.py KERNEL SERIES
"""
import re
import sys

from gttest import boots, qemus
from gttest.results import in_folder, need

# Sub-shells and programs that have a name before they have their own.
COMMANDS = '''echo -n brief >/proc/self/comm; echo -n lasting >/proc/self/comm
(sleep 0.1; true) | cat &
ls / >/dev/null
wait
cat /proc/[0-9]*/task/[0-9]*/stat 2>/dev/null | awk '{ print "TASK", $1, $2 }'
'''
KEPT, NAMES = 65536, 66000  # and what a program in the guest asks for
LISTED = re.compile(r'^TASK (\d+) \((.*)\)$', re.M)


def listed(console):
    """{pid: name, as long as a task keeps it}; a worker's is followed by what it does at the time."""
    found = {}
    for pid, name in LISTED.findall(console.replace('\r', '')):
        found[int(pid)] = re.sub(r'^(kworker/[u\d][^-+]*)[-+].*', r'\1', name)[:15]
    return found


def recorded(out):
    """{pid: {name, ...}}, {pid: tgid}"""
    names, groups = {}, {}
    with open(f'{out}/guest-tasks.txt', encoding='utf-8') as f:
        for line in f.read().splitlines():
            _, pid, tgid, name = line.split(' ', 3)
            names.setdefault(int(pid), set()).add(name)
            groups[int(pid)] = int(tgid)
    return names, groups


def check_bound(out, said):
    with open(f'{out}/guest-tasks.txt', encoding='utf-8') as f:
        lines = f.read().splitlines()
    need(len(lines) == len(set(lines)) == KEPT, len(lines), 'names are kept')
    left = re.search(r'guest-tasks.txt: (\d+) more names that threads had are left out', said)
    need(left and NAMES - KEPT < int(left[1]) < NAMES - KEPT + 1000, 'it says', said)


def check(kernel, series, folder):
    out = f'{folder}/data'
    program = {'renames': boots.program(boots.arch_of(kernel), folder, 'renames')}
    line = boots.command(kernel, qemus.of_series(boots.arch_of(kernel), series), folder,
                         commands=f'{COMMANDS}/renames {NAMES}', more=((), program))
    console, said = boots.record_told(out, line)
    truth = listed(console)
    check_bound(out, said)
    names, groups = recorded(out)
    need(len(truth) > 20 and 1 in truth and 2 in truth, 'the guest lists', truth)
    missing = {pid: name for pid, name in truth.items() if name not in names.get(pid, ())}
    need(not missing, 'threads that are no task:', missing, 'tasks:', names)
    need({'brief', 'lasting'} <= names[1], 'process 1 is called', names[1])
    need(all(groups[pid] == pid for pid in truth), 'thread groups:', groups)
    print(f'good: {len(truth)} threads of {len(names)} tasks')


def main():
    kernel, series = sys.argv[1:]
    return in_folder(f'tasks-{kernel}', lambda folder: check(kernel, series, folder))


if __name__ == '__main__':
    sys.exit(main())
