#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays a script on every version of the plugin ABI and compares what libuftrace.so recorded.

usage: script_test.py SCRIPT [--update]

Every version plays the script as the first of its targets, and version 1 and 4 as all of them. All
must record what stands after the script's line `expect`; --update writes it there.
"""
import difflib
import glob
import os
import sys

from gttest import paths, uftrace
from gttest.commands import run
from gttest.results import FAILED, GOOD, in_folder, read_bytes, read_text, write
from gttest.scripted import Guest, Script, environment, host
from gttest.uftrace_check import check_files

VCPUS = range(uftrace.VCPU, uftrace.VCPU + 65536)  # events


def tasks_of(directory):
    """In the order of task.txt."""
    for line in uftrace.read_tasks(directory):
        if line.kind in ('TASK', 'FORK'):
            yield line.fields['tid' if line.kind == 'TASK' else 'pid']


def print_trace(directory, guest, hide_times):
    """A text for each task: `time + function` where it was entered, `time - function` where it was
    left, indented by depth. The vCPU on which a task goes on is left out: machine-vcpu_tasks has it."""
    for tid in dict.fromkeys(tasks_of(directory)):
        lines = []
        for time, kind, depth, addr, _ in uftrace.read_records(read_bytes(f'{directory}/{tid}.dat')):
            if kind == uftrace.EVENT and addr in VCPUS:
                continue
            mark = '+-?!'[kind]
            when = '' if hide_times else f'{time:6} '
            lines.append(f'{when}{"  " * depth}{mark} {guest.name_of(addr)}')
        yield 'coroutine' if tid >= 5000000 else 'task', '\n'.join(lines)


def counts_of(directory):
    found = [f'{key.partition(".")[2] or key} {value}' for key, value in uftrace.stats(directory).items()
             if key in ('calls', 'matched') or '.' in key and value]
    return ', '.join(found)


def shorten(lines):
    """Runs of equal pairs of lines, which recursion makes, are told once."""
    return lines if len(lines) < 400 else lines[:6] + [f'... {len(lines) - 12} more'] + lines[-6:]


def marks_of(directory):
    """Lines of triggers: `time text`."""
    path = f'{directory}/extern.dat'
    for line in read_text(path).splitlines() if os.path.exists(path) else []:
        when, text = line.split(' ', 1)
        yield f'mark {int(when.replace(".", "")):6} {text}'


def trace_text(directory, guest, script):
    texts = list(print_trace(directory, guest, 'times' in script.hide))
    if 'times' in script.hide:
        texts.sort()
    out = []
    for kind, text in dict.fromkeys(texts):
        n = texts.count((kind, text))
        out += [kind if n == 1 else f'{kind} x{n}'] + shorten(text.split('\n'))
    return '\n'.join([*out, *marks_of(directory), counts_of(directory)])


def play(script, abi, target, folder):
    os.mkdir(folder)
    guest = Guest(script, target)
    done = run([host(abi), paths.plugin('uftrace'), guest.plan(folder), f'output={folder}/data', *script.args],
               env=environment())
    out, errors = done.stdout.decode(), done.stderr.decode()
    messages = [m for m in errors.strip().split('\n') if 'calls recorded' not in m and m]
    if done.returncode != 0 or out != f'version {abi}\n':
        return f'status {done.returncode}\n{out}{errors}'
    text = trace_text(f'{folder}/data', guest, script)
    if glob.glob(f'{folder}/data/.guesttrace*'):
        text += '\na pool file is left'
    return '\n'.join([text] + messages).replace(folder, '.') + '\n'


def main(top):
    path = sys.argv[1]
    script = Script(path)
    runs = [(abi, script.targets[0]) for abi in script.abis]
    runs += [(abi, t) for t in script.targets[1:] for abi in (1, 4) if abi in script.abis]
    failed = 0
    for abi, target in runs:
        folder = f'{top}/{abi}-{target}'
        text = play(script, abi, target, folder)
        if '--update' in sys.argv:
            write(path, f'{script.head}\nexpect\n{text}')
            return GOOD
        if text != script.expected:
            failed += 1
            if failed > 2:
                continue
            print(f'{path}: version {abi}, {target}:')
            print('\n'.join(difflib.unified_diff(script.expected.split('\n'), text.split('\n'),
                                                 'expected', 'recorded', n=2, lineterm='')))
        elif (abi, target) == runs[-1]:
            check_files(f'{folder}/data')
    print(f'{len(runs)} runs, {failed} failed')
    return FAILED if failed or not runs else GOOD


sys.exit(in_folder('script', main))
