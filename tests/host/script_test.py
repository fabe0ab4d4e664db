#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays a script on every version of the plugin ABI and compares what libuftrace.so recorded.

usage: script_test.py FOLDER-OF-HOSTS PLUGIN SCRIPT [--update] [--keep]

Every version plays the script as the first of its targets, and version 1 and 4 as all of them. All
must record what stands after the script's line `expect`; --update writes it there. --keep leaves the
data directories.
"""
import difflib
import glob
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from guest import Guest, Script

CHECKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tools',
                       'check_uftrace_dir.py')


def tasks_of(directory):
    with open(f'{directory}/task.txt', encoding='utf-8') as f:
        for line in f:
            task = re.match(r'(TASK timestamp=\S+ tid=|FORK timestamp=\S+ pid=)(\d+)', line)
            if task:
                yield int(task[2])


def print_trace(directory, guest, hide_times):
    """A text for each task: `time + function` where it was entered, `time - function` where it was
    left, indented by depth."""
    for tid in dict.fromkeys(tasks_of(directory)):
        lines = []
        with open(f'{directory}/{tid}.dat', 'rb') as f:
            for time, word in struct.iter_unpack('<QQ', f.read()):
                mark, depth, addr = '+-?!'[word & 3], word >> 6 & 0x3ff, word >> 16
                when = '' if hide_times else f'{time:6} '
                lines.append(f'{when}{"  " * depth}{mark} {guest.name_of(addr)}')
        yield 'coroutine' if tid >= 5000000 else 'task', '\n'.join(lines)


def counts_of(directory):
    found = []
    with open(f'{directory}/guesttrace.stats', encoding='utf-8') as f:
        for line in f:
            key, _, value = line.strip().partition('=')
            if key in ('calls', 'matched') or '.' in key and value != '0':
                found.append(f'{key.partition(".")[2] or key} {value}')
    return ', '.join(found)


def shorten(lines):
    """Runs of equal pairs of lines, which recursion makes, are told once."""
    return lines if len(lines) < 400 else lines[:6] + [f'... {len(lines) - 12} more'] + lines[-6:]


def trace_text(directory, guest, script):
    texts = list(print_trace(directory, guest, 'times' in script.hide))
    if 'times' in script.hide:
        texts.sort()
    out = []
    for kind, text in dict.fromkeys(texts):
        n = texts.count((kind, text))
        out += [kind if n == 1 else f'{kind} x{n}'] + shorten(text.split('\n'))
    return '\n'.join(out + [counts_of(directory)])


def play(hosts, plugin, script, abi, target, folder):
    os.mkdir(folder)
    guest = Guest(script, target)
    env = dict(os.environ)
    env.pop('GUESTTRACE_QEMU_VERSION', None)
    run = subprocess.run([f'{hosts}/scripted-{abi}', plugin, guest.plan(folder),
                          f'output={folder}/data', *script.args], capture_output=True, text=True,
                         env=env, check=False, timeout=100)
    messages = [m for m in run.stderr.strip().split('\n') if 'calls recorded' not in m and m]
    if run.returncode != 0 or run.stdout != f'version {abi}\n':
        return f'status {run.returncode}\n{run.stdout}{run.stderr}'
    text = trace_text(f'{folder}/data', guest, script)
    if glob.glob(f'{folder}/data/.guesttrace*'):
        text += '\na pool file is left'
    return '\n'.join([text] + messages).replace(folder, '.') + '\n'


def check_directory(folder):
    spec = importlib.util.spec_from_file_location('check_uftrace_dir', CHECKER)
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    try:
        checker.check_files(f'{folder}/data', False)
    except checker.Bad as e:
        print(f'{folder}: {e}')
        return 1
    return 0


def main():
    hosts, plugin, path = (os.path.abspath(p) for p in sys.argv[1:4])
    script = Script(path)
    runs = [(abi, script.targets[0]) for abi in script.abis]
    runs += [(abi, t) for t in script.targets[1:] for abi in (1, 4) if abi in script.abis]
    failed = 0
    top = tempfile.mkdtemp(prefix='gt-script-')
    for abi, target in runs:
        folder = f'{top}/{abi}-{target}'
        text = play(hosts, plugin, script, abi, target, folder)
        if '--update' in sys.argv:
            script.expected = text
            with open(path, 'w', encoding='utf-8') as f:
                f.write(f'{script.head}\nexpect\n{text}')
            break
        if text != script.expected:
            failed += 1
            if failed > 2:
                continue
            print(f'{path}: version {abi}, {target}:')
            print('\n'.join(difflib.unified_diff(script.expected.split('\n'), text.split('\n'),
                                                 'expected', 'recorded', n=2, lineterm='')))
        elif (abi, target) == runs[-1]:
            failed += check_directory(folder)
    if '--keep' in sys.argv:
        print(top)
    else:
        shutil.rmtree(top)
    print(f'{len(runs)} runs, {failed} failed')
    return 1 if failed or not runs else 0


sys.exit(main())
