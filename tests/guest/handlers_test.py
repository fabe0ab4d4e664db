#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The signal handlers of all processes of a program are in the recording's list, in both formats.

usage: handlers_test.py
"""
import sys

from gttest import elf, paths, qemus
from gttest.commands import must
from gttest.compilers import compile_to
from gttest.recordings import record
from gttest.results import equal, in_folder, read_text

HANDLERS = {'before', 'in_child', 'in_parent'}


def check(folder):
    qemu = qemus.user('x86_64')
    program = compile_to(f'{folder}/program', 'x86_64', paths.source('guest', 'handlers.c'), '-O1', '-static')
    names = {s.addr: s.name for s in elf.functions(program)}
    for form in 'uftrace', 'compact':
        out = f'{folder}/{form}'
        record(out, ['-q', '--qemu', qemu, '--format', form], [program])
        if form == 'compact':
            must([paths.GUESTTRACE, 'export', '--format', 'uftrace', '-o', f'{out}.back', out])
            out = f'{out}.back'
        listed = [int(line, 16) for line in read_text(f'{out}/guest-handlers.txt').split()]
        equal({names.get(address, hex(address)) for address in listed}, HANDLERS, form)


if __name__ == '__main__':
    sys.exit(in_folder('handlers', check))
