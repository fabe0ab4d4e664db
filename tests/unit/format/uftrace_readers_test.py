#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the installed uftrace makes of the directories that uftrace_make builds.

usage: uftrace_readers_test.py UFTRACE_MAKE
"""
import os
import re
import shutil
import subprocess
import sys

from gttest.commands import tool
from gttest.results import folder, need, read_bytes, status, write

MAKE, CHECK = sys.argv[1], (sys.executable, '-m', 'gttest.uftrace_check')
CALLS = {
    'main': 1, 'recurse': 1502, 'setjmp()': 1, 'longjmp()': 1, 'fork()': 1, 'execve()': 1,
    'space::thing::add': 1, 'odd?na?me?': 1, 'last': 1, 'twin_function': 2, 'start_kernel': 2,
    'u-boot+0x500': 1, 'u-boot+0x700': 1, 'bare.so': 1, '<123456>': 1,
}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def want(what, got, expected):
    need(got == expected, f'{what}: {got!r}, expected {expected!r}')


def uftrace(*command):
    status, out = run('uftrace', *command, '--no-pager')
    want(' '.join(command), status, 0)
    return out


def calls(directory):
    found = {}
    for line in uftrace('report', '-D', '3000', '-d', directory).splitlines()[2:]:
        m = re.match(r' *[\d.]+ +\w+ +[\d.]+ +\w+ +(\d+)  (.*)', line)
        found[m[2].strip()] = int(m[1])
    return found


def check(directory, *options):
    status, out = run(*CHECK, *options, directory)
    want('uftrace_check ' + ' '.join(options), (status, out), (0, ''))


def check_whole(directory):
    want('uftrace_make whole', run(MAKE, 'whole', directory), (0, ''))
    check(directory)
    found = calls(directory)
    want('calls', {name: found.get(name) for name in CALLS}, CALLS)
    replay = uftrace('replay', '-D', '3000', '-d', directory)
    want('replay: loss of an EXIT', len(re.findall(r'[^}]\{$', replay, re.M)),
         len(re.findall(r'\} /\*', replay)))
    want('replay: event', '/* guesttrace:irq */' in replay, True)
    # The names that make readers change their stacks: main's other callees stay its own.
    want('replay: longjmp', re.findall(r'\|   (setjmp|longjmp|fork|execve)\(\);', replay),
         ['setjmp', 'longjmp', 'fork', 'execve'])
    info = uftrace('info', '-d', directory)
    want('tasks', re.search(r'task list +: (.*)', info)[1], '100(app), 101(app), 102(app)')
    want('cmdline', r'''qemu \"a b\" 'c'\nd\te \\ \u0001? grün \"''' in info, True)
    want('twin symbols', os.path.exists(f'{directory}/app-03e7.sym'), True)


def check_killed(directory):
    want('uftrace_make killed', run(MAKE, 'killed', directory), (0, ''))
    check(directory, '--open-ok')
    status, out = run(*CHECK, directory)
    want('a killed run is not whole', (status, 'cut' in out or 'open' in out), (1, True))
    status, out = run(MAKE, 'repair', directory)
    want('repair', (status, out),
         (0, 'files=3 records=1825 cut=18 closed=1202 events=1 depth=1501\n'))
    check(directory)
    want('repair again', run(MAKE, 'repair', directory),
         (0, 'files=3 records=3029 cut=0 closed=0 events=0 depth=1501\n'))
    replay = uftrace('replay', '-d', directory)
    want('replay: loss', '/* guesttrace:lost */' in replay, True)


def replace(path, old, new):
    data = read_bytes(path)
    assert old in data, (path, old)
    write(path, data.replace(old, new, 1))


def cut(path, size):
    os.truncate(path, os.path.getsize(path) - size)


def check_checker(whole, top):
    """The checker sees what it is for."""
    sid = 'sid-00000000000000a1.map'
    faults = [
        ('open', lambda d: cut(f'{d}/101.dat', 16)),
        ('cut', lambda d: cut(f'{d}/101.dat', 1)),
        ('after', lambda d: replace(f'{d}/101.dat', (1160).to_bytes(8, 'little'), b'\x01' + bytes(7))),
        ('EXIT of no open', lambda d: replace(f'{d}/102.dat', b'\x28', b'\x29')),
        ('magic', lambda d: replace(f'{d}/102.dat', b'\x28', b'\x20')),
        ('LOST', lambda d: replace(f'{d}/101.dat', b'\x2b', b'\x2a')),
        ('[stack]', lambda d: replace(f'{d}/{sid}', b'ffffffffffff-', b'7ffffffff000-')),
        ('overlaps', lambda d: replace(f'{d}/{sid}', b'7f0000101000', b'7f0000300000')),
        ('info has tasks', lambda d: replace(f'{d}/task.txt', b'tid=101', b'tid=109')),
        ('before its task', lambda d: replace(f'{d}/task.txt', b'0.000001100', b'0.000001900')),
        ('sid-00000000000000a2.map', lambda d: os.unlink(f'{d}/sid-00000000000000a2.map')),
        ('not after', lambda d: replace(f'{d}/app.sym', b'0000000000001020', b'0000000000001000')),
        ('events.txt', lambda d: os.unlink(f'{d}/events.txt')),
        ('nr_tid', lambda d: replace(f'{d}/info', b'nr_tid=3', b'nr_tid=4')),
    ]
    for number, (words, break_it) in enumerate(faults):
        directory = f'{top}/fault{number}'
        shutil.copytree(whole, directory)
        break_it(directory)
        status, out = run(*CHECK, '--no-readers', directory)
        want(f'a directory with a fault ({words})', (status, words in out), (1, True))


def main():
    tool('uftrace')
    with folder('readers') as top:
        check_whole(f'{top}/whole')
        check_killed(f'{top}/killed')
        check_checker(f'{top}/whole', top)


sys.exit(status(main))
