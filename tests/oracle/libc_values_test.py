#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments and results of the C library's functions that `record -a` shows, against `uftrace record -a` of the same program
without an emulator: each value that both show is equal.

Pointers are only compared as such: where memory is differs. So does the number of the first free file.
"""
import re
import sys

from gttest import paths, qemus
from gttest.commands import must, printed, tool
from gttest.compilers import is_host
from gttest.results import Skip, folder, need, same, status

FLAGS = {'O_RDONLY': 0, 'SEEK_SET': 0, 'SEEK_CUR': 1, 'SEEK_END': 2, 'F_OK': 0, 'X_OK': 1, 'W_OK': 2, 'R_OK': 4}
CALL = re.compile(r'^  (\w+)\((.*)\)(?: = (.*))?;$')
VALUE = re.compile(r'(?:\w+=)?("[^"]*"|\'.\'|[^, ]+)')
OTHER_NAMES = {'llseek': 'lseek'}
FIRST_POINTER, LAST_POINTER = 0x400000, 1 << 47
HELPERS = ('__cyg_profile_func', '_dl_runtime_resolve')  # main calls them, too
LEAST = 115  # values that are compared


def value_of(text):
    """An int, a str, or 'pointer'; None: not shown."""
    if text is None:
        return None
    if text.startswith('&'):
        return 'pointer'
    if text in ('NULL', '"NULL"'):
        return 0
    if text[0] == '"':
        return text
    if text[0] == "'":
        return ord(text[1])
    number = sum(FLAGS[word] if word in FLAGS else int(word, 0) for word in text.split('|'))
    return 'pointer' if FIRST_POINTER <= number < LAST_POINTER else number


def name_of(name):
    """__GI_strstr and __strlen_avx2, what the library chose, by the names of its interface."""
    name = re.sub(r'^__(?:GI_)?([a-z]+)(_[a-z0-9_]+)?$', r'\1', name)
    return OTHER_NAMES.get(name, name)


def calls(text):
    """[(name, [value], result)] of main's calls."""
    found = []
    for line in text.splitlines():
        match = CALL.match(line)
        if match and not match[1].startswith(HELPERS):
            name, args, result = match.groups()
            found.append((name_of(name), [value_of(v) for v in VALUE.findall(args)], value_of(result)))
    return found


def is_equal(a, b):
    """None: they cannot be compared, as a pointer and what it points to."""
    if a is None or b is None or 'pointer' in (a, b) and (isinstance(a, str) and isinstance(b, str)):
        return None if a != 'pointer' or b != 'pointer' else True
    return a == b


def main():
    if not is_host('x86_64'):
        raise Skip('uftrace shows programs of this machine only: it is not an x86_64 machine')
    tool('uftrace')
    qemu = qemus.user_with_registers('x86_64')
    with folder('libc-values') as where:
        program, native, out = (f'{where}/{name}' for name in ('program', 'native', 'recorded'))
        must(['gcc', '-O0', '-w', '-finstrument-functions', '-fno-builtin', '-no-pie', '-o', program, paths.source('oracle', 'libc_values.c')])
        must(['uftrace', 'record', '-a', '--no-event', '-d', native, program, program])
        must([paths.GUESTTRACE, 'record', '-q', '-a', '-F', 'main', '-D', '2', '--qemu', qemu, '-o', out, program, program])
        want = calls(printed(['uftrace', 'replay', '--no-pager', '-f', 'none', '-d', native]))
        got = calls(printed([paths.GUESTTRACE, 'replay', '--no-pager', '-f', 'none', out]))
    same('\n'.join(c[0] for c in got), '\n'.join(c[0] for c in want), 'names of calls')
    count = 0
    for (name, args, result), (_, wanted, back) in zip(got, want):
        pairs = list(zip(args, wanted)) if name != 'dup2' else []
        if name not in ('open', 'dup2'):
            pairs.append((result, back))
        for i, (a, b) in enumerate(pairs):
            equal = is_equal(a, b)
            need(equal is not False, f'{name}, value {i + 1}: {a!r}, not {b!r}')
            count += equal is not None
    need(count >= LEAST, f'only {count} values can be compared')
    print(f'{len(got)} calls, {count} values equal')


if __name__ == '__main__':
    sys.exit(status(main))
