#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Types in units of their own (-fdebug-types-section) are those of the same program without them: in DWARF 4 and 5, in the
program and in .dwo files, by GCC and Clang, of C and C++. So are the functions and lines of coverage.

usage: signed_types_test.py TOOL
"""
import glob
import itertools
import os
import shutil
import sys

from gttest import elf, etrace_write, paths
from gttest.commands import must, printed, tool
from gttest.results import Tally, folder, need, read_bytes, same, write

SOURCE = paths.source('oracle', 'signed_types.c')
LANGUAGES = {'c': ['-std=gnu11'], 'c++': ['-std=c++17']}


def build(where, compiler, language, flags):
    """The program, which stays in its folder with its .dwo files, and the names of all sections of both."""
    os.makedirs(where)
    must([tool(compiler), '-w', '-O1', *LANGUAGES[language], *flags, '-x', language, '-c', '-o', 'program.o', SOURCE], cwd=where)
    must([tool(compiler), '-o', 'program', 'program.o', *(['-lstdc++'] if language == 'c++' else [])], cwd=where)
    files = [f'{where}/program', *glob.glob(f'{where}/*.dwo')]
    need(len(files) == 1 + ('-gsplit-dwarf' in flags), files)
    return files[0], [s.name for file in files for s in elf.File(read_bytes(file)).sections]


def coverage(program, stream):
    """Of a program that ran whole: functions, where they are, lines."""
    text = elf.File(read_bytes(program)).named('.text')
    write(stream, etrace_write.start(62) + etrace_write.ranges([(text.addr, text.addr + text.size)]))
    return printed([paths.GUESTTRACE, 'coverage', '-f', 'lcov2', '-e', f'{program}:0', stream])


def check(where, prototypes, compiler, language, *flags):
    plain, _ = build(f'{where}/plain', compiler, language, flags)
    signed, sections = build(f'{where}/signed', compiler, language, [*flags, '-fdebug-types-section'])
    if '-gdwarf-4' in flags:
        need({'.debug_types', '.debug_types.dwo'} & set(sections), 'no units of types:', sections)
    elif compiler == 'gcc' and '-gsplit-dwarf' in flags:
        need(sections.count('.debug_info.dwo') > 5, 'no units of types:', sections)
    want = printed([prototypes, plain])
    need('{RED=0; GREEN=1; BLUE=fffffffffffffffd; }' in want and 'pair{x:' in want.replace('+', ''), want)
    need(language == 'c' or 's4later+{n:0:' in want, 'what is defined outside its class is no declaration:', want)
    same(printed([prototypes, signed]), want, 'prototypes')
    lines = coverage(plain, f'{where}/stream')
    need(lines.count('\nFNA:') + lines.count('\nFN:') > 4, lines)
    same(coverage(signed, f'{where}/stream'), lines, 'coverage')


def check_damaged(where, prototypes):
    """A .dwo file of any length: the functions that are left are those of the program."""
    flags = ['-gdwarf-4', '-gsplit-dwarf', '-fdebug-types-section']
    program, _ = build(where, 'gcc', 'c', flags)
    split, whole = glob.glob(f'{where}/*.dwo')[0], printed([prototypes, program])
    data = read_bytes(split)
    for size in 0, 64, 200, len(data) // 2, len(data) - 64:
        write(split, data[:size])
        got = printed([prototypes, program])
        need(got == '' or set(got.splitlines()) <= set(whole.splitlines()), size, got)
    os.unlink(split)
    same(printed([prototypes, program]), '', 'without it')


def main():
    tally = Tally()
    with folder('signed-types') as where:
        # Clang makes such units of types of C++ alone
        for (compiler, language), version, split in itertools.product((('gcc', 'c'), ('gcc', 'c++'), ('clang', 'c++')), '45', (False, True)):
            flags = [f'-gdwarf-{version}', *(['-gsplit-dwarf', '-gz'] if split else [])]
            tally.run(f'{compiler} {language} {" ".join(flags)}', check, f'{where}/one', sys.argv[1], compiler, language, *flags)
            shutil.rmtree(f'{where}/one', ignore_errors=True)
        tally.run('damaged', check_damaged, f'{where}/damaged', sys.argv[1])
    return tally.status()


if __name__ == '__main__':
    sys.exit(main())
