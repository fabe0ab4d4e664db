#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Linux recorded with filters that count for threads of some name or number, or for a process, and without handlers: that is
the whole recording of the same run, filtered by the reader, or without what is below its vectors.

usage: filter_scopes_test.py ARCH SERIES
"""
import re
import sys

from filtered import Copies
from gttest import boots, qemus
from gttest.filters import arguments
from gttest.results import Tally, in_folder, need, same

SECONDS = 500  # many recordings at once
COMMANDS = 'cat /proc/meminfo /proc/cpuinfo | sort | wc -l\nls /proc/self >/dev/null'
# Where handlers begin: the kernel's vectors, aarch64's trampoline, which has no name, and riscv64's firmware, once the kernel runs.
VECTORS = {'aarch64': r'vectors|<fbff[0-9a-f]{8}>', 'riscv64': r'handle_exception|0x800[0-9a-f]{5}',
           'x86_64': r'asm_\w+|entry_SYSCALL\w*|irq_entries_start|spurious_entries_start'}
FIRST = {'riscv64': {'1': 2}}  # its first thread switches the MMU on by an exception, from which it never returns
NUMBERS = ';'.join(f'^schedule$@task={tid}' for tid in range(1001, 1012))  # some of them sleep
HANDLERS = 200  # there are more
LEVELS = 'depth=5'  # of calls: with all of them the text would have gigabytes
PAIR = [[LEVELS, 'tail-calls=off'], [LEVELS, 'tail-calls=off', 'no-handlers=on']]
SETS = [  # and how many functions they show at least
    (['-F', '^vfs_read$@task=sort'], 3),
    (['-F', '^vfs_(read|write)$', '-N', '^vfs_read$@task=[!s]*', '-D', '3'], 3),
    (['-C', '^vfs_write$@task=sort'], 2),
    (['-F', '^schedule$@task=kthreadd', '-D', '2'], 2),
    (['-F', NUMBERS, '-D', '2'], 2),
    (['-F', '^vfs_read$@pid=1', '-H', '^vfs_read$@task=sort', '-D', '2'], 2),
]


def without_handlers(text, vectors, first):
    """The lines of --flat without handlers and what is below them, and how many handlers there were. first: {task: depth of a handler
    that is open at the beginning}."""
    kept, below, n = [], dict(first), 0
    for line in text.splitlines():
        match = re.match(r' *[\d.]+ +(\d+) +(\d+) (enter|leave) .* (\S+)$', line)
        tid, at = (match[1], int(match[2])) if match else (None, 0)
        outer = below.get(tid)
        if outer is None and match and match[3] == 'enter' and re.fullmatch(vectors, match[4]):
            below[tid] = outer = at
            n += 1
        if outer is None:
            kept.append(line)
        elif match[3] == 'leave' and at == outer:
            del below[tid]
    return '\n'.join(kept) + '\n', n


def calls(copies, i):
    """From the kernel's beginning on, without names and switches of threads: these are shown, too, where a handler is too deep to be
    recorded."""
    text = re.sub(r'(?m)^.*( linux:schedule| name +- .*)\n', '', copies.flat_of(i))
    begins = re.search(r'(?m)^.* (start_kernel|kernel_init)$', text)
    return text[begins.start():]


def check_handlers(copies, at, arch):
    """Of the two copies from there on, the second is recorded without handlers."""
    whole, n = without_handlers(calls(copies, at), VECTORS[arch], FIRST.get(arch, {}))
    need(n >= HANDLERS and whole.count(' enter ') > 10000, n, 'handlers;', whole.count(' enter '), 'calls')
    same(calls(copies, at + 1), whole, 'no-handlers=on:')


def check(arch, series, folder):
    copies = Copies(folder, [*(arguments(words) for words, _ in SETS), *PAIR])
    line = boots.command(arch, qemus.of_series(arch, series), folder, COMMANDS, options=copies.words)
    boots.record_told(copies.whole, line, copies.options, seconds=SECONDS)
    tally = Tally()
    for i, (words, least) in enumerate(SETS):
        tally.run(' '.join(words), copies.compare, i, words, least)
    tally.run('no-handlers', check_handlers, copies, len(SETS), arch)
    print(f'{tally.good} good')
    return tally.status()


def main():
    arch, series = sys.argv[1:]
    return in_folder(f'filter-scopes-{arch}', lambda folder: check(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
