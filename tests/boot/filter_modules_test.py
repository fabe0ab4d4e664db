#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters and triggers on functions of modules that a booted Linux loads, unloads and loads again, at the same place and at
another: recorded with them is the whole recording of the same run, filtered by the reader.

usage: filter_modules_test.py ARCH SERIES
"""
import re
import sys

import modules_test as modules
from filtered import Copies
from gttest import boots
from gttest.commands import printed
from gttest.filters import arguments
from gttest.paths import GUESTTRACE
from gttest.results import Tally, in_folder, need, read_text

SECONDS = 500  # eight recordings at once
COMMANDS = '''busybox mount -t devtmpfs dev /dev
load() {
    busybox insmod /modules/$1.ko $2 && grep "^$1 " /proc/modules
}
disk() {
    load brd "rd_nr=1 rd_size=4096"
    busybox dd if=/dev/zero of=/dev/ram0 bs=4k count=$1 2>/dev/null
    busybox dd if=/dev/ram0 of=/dev/null bs=4k count=$1 2>/dev/null
    busybox rmmod brd
}
network() {
    busybox ip link set dummy0 up
    busybox ifconfig dummy0 10.0.0.1
    busybox ping -c 1 -W 1 10.0.0.2 >/dev/null
    busybox rmmod dummy
}
disk 4
load dummy numdummies=1
network
disk 8
load dummy numdummies=1
disk 12
network
load brd "rd_nr=1 rd_size=4096"
load dummy numdummies=1
network'''
ORDER = 'brd dummy brd dummy brd brd dummy'.split()
MOVED = [4, 6]  # of these, where there was another one at the first place
SUBMIT = '^brd_submit_bio$'
# A reader has one name for an address, whatever was there when. In SUBMIT and dummy_xmit the other module has no stubs, of
# which aarch64 makes some where a module is far from the kernel.
SETS = [
    (['-F', SUBMIT], 10),
    (['-F', f'brd:{SUBMIT}', '-D', '2'], 2),
    (['-F', '^dummy_xmit$', '-F', SUBMIT, '-H', SUBMIT], 10),
    (['-C', SUBMIT], 10),
    (['-F', SUBMIT, '-N', '^radix_tree_', '-t', '2us'], 1),
    (['-T', f'{SUBMIT}@filter,depth=3', '-T', '^dummy_xmit$@filter,time=200ns'], 4),
]
MARKS = ['-F', '^brd_exit$', '-T', '^brd_exit$@mark=brd ends', '-T', '^dummy_xmit$@mark=dummy sends']
ALL = ['-F', 'brd:.', '-F', 'dummy:.', '-D', '1']


def check_order(console, whole):
    """They were at one place, after each other and after themselves, and at others; brd was called each time but the last."""
    loaded = modules.Truth(console).loaded
    need([name for name, _ in loaded] == ORDER, 'the guest loaded', loaded)
    need([i for i, (_, base) in enumerate(loaded) if base != loaded[0][1]] == MOVED, 'places', loaded)
    text = printed([GUESTTRACE, 'replay', '--no-pager', '--flat', '-F', SUBMIT, '-D', '1', whole])
    calls = [part.count(' enter ') for part in re.split(r'console +- brd \d+ \d+ - Live', text)[1:]]
    need(len(calls) == 4 and all(n > 1 for n in calls[:3]), 'calls', calls)


def entries(whole):
    """{address of a function of a module, wherever one was loaded}"""
    functions, found = [], set()
    for line in read_text(f'{whole}/code.map').splitlines():
        if line.startswith('# module: '):
            functions.append([])
        elif functions and not line.startswith('+'):
            functions[-1].append(int(line.split()[0], 16))
    for line in read_text(f'{whole}/code.found').splitlines():
        index, offset, *_ = line.split()
        if int(offset, 16) >> 63:  # that of a module, which is linked at 0
            found |= {addr + int(offset, 16) & (1 << 48) - 1 for addr in functions[int(index)]}
    return found


def check_entries(out, known):
    """A filter by names of modules records nothing but entries of functions: no stub of a module is taken for a part of
    the one that was there before."""
    called = {int(addr, 16) & (1 << 48) - 1 for addr, *_ in boots.tool('count', out)}
    need(len(called) > 10, 'calls of', called)
    need(called <= known, 'no functions begin at', [hex(addr) for addr in called - known])


def check_marks(out):
    """At each end of a module."""
    marks = [line.split(' ', 1)[1] for line in read_text(f'{out}/extern.dat').splitlines()]
    need(marks.count('brd ends') == 3 and marks.count('dummy sends') > 1, marks)
    at = [i for i, text in enumerate(marks) if text == 'brd ends']
    need('dummy sends' in marks[at[0]:at[1]] and 'dummy sends' not in marks[at[1]:at[2]], marks)


def check(arch, series, folder):
    copies = Copies(folder, [arguments(words) for words in [*(words for words, _ in SETS), MARKS, ALL]])
    line, paths = modules.prepare(arch, series, folder, COMMANDS)
    console, _ = boots.record_told(copies.whole, [*line, *copies.words],
                                   [*copies.options, *(word for path in paths.values() for word in ('--symbols', path))],
                                   seconds=SECONDS)
    check_order(console.replace('\r', ''), copies.whole)
    tally = Tally()
    for i, (words, least) in enumerate(SETS):
        tally.run(' '.join(words), copies.compare, i, words, least)
    tally.run('marks', check_marks, copies.out(len(SETS)))
    tally.run('entries', check_entries, copies.out(len(SETS) + 1), entries(copies.whole))
    print(f'{tally.good} good')
    return tally.status()


def main():
    arch, series = sys.argv[1:]
    return in_folder(f'filter-modules-{arch}', lambda folder: check(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
