#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`record -a` shows what the guest prints itself, by the types of its debug information.

usage: auto_arguments_test.py [ARCH...]

Needs a user-mode QEMU 9.0 or later that loads plugins (scripts/qemus user).
"""
import glob
import os
import re
import sys

import valued_calls
from gttest import paths, qemus
from gttest.commands import must, printed, run
from gttest.compilers import compile_to
from gttest.results import Tally, folder, need, same, write

NAMES = ['integers', 'enums', 'floats', 'letters', 'pointers', 'by_value', 'gaps', 'wide', 'nothing']


def record(qemu, *words):
    return printed([paths.GUESTTRACE, 'record', '-q', '--qemu', qemu, *words]).splitlines()


def replay(recording):
    return printed([paths.GUESTTRACE, 'replay', '--no-pager', '-f', 'none', recording])


def shown(recording):
    """Without what the guest does not print: the last parameter of letters, words of structs."""
    calls = valued_calls.shown(NAMES, paths.GUESTTRACE, 'replay', '--no-pager', '-f', 'none', recording)
    calls = [re.sub(r', shown=.*\) =', ') =', c) if c.startswith('letters') else c for c in calls]
    calls = [re.sub(r'b=big\{.*\}, last', 'b=big, last', c) for c in calls]
    return [c[:c.index(' = ')] if c.startswith('by_value') else c for c in calls]


def said_by(lines):
    return [line for line in lines if line.split('(')[0] in NAMES]


def test_types(arch, where):
    """All functions of a program with -g, in both formats."""
    qemu = qemus.user_with_registers(arch)
    program, out = os.path.join(where, 'values'), os.path.join(where, 'out')
    compile_to(program, arch, paths.source('guest', 'auto_arguments.c'), '-O1', '-g', '-static')
    fields = 'pointers@arg2/*;by_value@arg1/*'
    for output, *more in (out, '--format', 'uftrace'), (f'{out}.gtrace', '--format', 'compact'):
        said = said_by(record(qemu, '-a', '-A', fields, '-o', output, *more, program))
        need(len(said) == 15, f'the guest says {len(said)} lines')
        same('\n'.join(shown(output)), '\n'.join(said), f'calls of {output}')
    for form in ['-gdwarf-4'], ['-gdwarf-5', '-gsplit-dwarf']:  # structs and enumerations in units of their own
        signed = f'{program}{form[0]}'
        compile_to(signed, arch, paths.source('guest', 'auto_arguments.c'), '-O1', '-g', *form, '-fdebug-types-section', '-static')
        said = said_by(record(qemu, '-a', '-A', fields, '-o', f'{out}{form[0]}', signed))
        same('\n'.join(shown(f'{out}{form[0]}')), '\n'.join(said), f'calls of {signed}')
    need(not os.path.exists(f'{out}.values'), 'the values file of the command stays')
    plain = printed(['uftrace', 'replay', '--no-pager', '-f', 'none', '-d', out])
    need(re.search(r'integers\(-1, 255, -300, 65535, ', plain), 'uftrace does not show the values')
    for other in glob.glob(os.path.join(paths.CACHE, 'uftraces', '*', 'uftrace')):
        need(printed([other, 'replay', '--no-pager', '-f', 'none', '-d', out]) == plain,
             f'{other} shows something else')


def test_selected(arch, where):
    """Only functions that were named, and of one argument its members alone."""
    qemu = qemus.user_with_registers(arch)
    program, out = os.path.join(where, 'some'), os.path.join(where, 'some.data')
    compile_to(program, arch, paths.source('guest', 'auto_arguments.c'), '-O1', '-g', '-static')
    record(qemu, '-A', '^float@auto-args;^pointers$@arg2/*', '-A', 'enums@arg1', '-o', out, program)
    text = replay(out)
    need('floats(a=1.500000, b=-2.250000, n=3, c=10000000000.000000)' in text, 'floats: no values')
    need('pointers(f=0x' in text and '{name="abc", pos=-5, path="/etc/passwd"' in text, 'pointers: no members')
    need(re.search(r'^ *enums\(0\) \{', text, re.M | re.S) or ' enums(0) {' in text, 'enums: no argument')
    need('integers() {' in text, 'integers has values')


def test_stripped(arch, where):
    """A program without symbols shows calls of the C library; what it has no prototype of has words."""
    qemu = qemus.user_with_registers(arch)
    program, out = os.path.join(where, 'stripped'), os.path.join(where, 'stripped.data')
    compile_to(program, arch, paths.source('guest', 'auto_arguments.c'), '-O1', '-s')
    record(qemu, '-a', '-A', '^_start@auto-args', '-o', out, program)
    text = replay(out)
    need(re.search(r' fopen\(\w+="/nonexistent/file", mode="r"\)', text), 'fopen has no arguments')


def test_long_doubles(arch, where):
    """Long doubles that a rule asks for, where the calling convention has them apart from other arguments; else the rule is
    refused, and nothing wrong is shown."""
    qemu = qemus.user_with_registers(arch)
    program, out = f'{where}/wide', f'{where}/wide.gtrace'
    bits = '80' if arch == 'x86_64' else '128'
    compile_to(program, arch, paths.source('guest', 'auto_arguments.c'), '-O1', '-static')
    record(qemu, '-R', f'^wide$@retval/f{bits}', '-o', out, program)
    need(re.search(r'\} = -10000000000\.0+; /\* wide \*/', replay(out)), 'the result of wide is not shown')
    done = run([paths.GUESTTRACE, 'record', '-q', '--qemu', qemu, '-A', f'^wide$@fparg1/f{bits}', '-o', f'{out}.2', program])
    if arch == 'aarch64':
        need(done.returncode == 0 and ' wide(3.500000) {' in replay(f'{out}.2'), done)
    else:
        need(done.returncode != 0 and b'depends on the arguments before it' in done.stderr, done)


def test_conditions(arch, where):
    """A condition compares a long double."""
    qemu = qemus.user_with_registers(arch)
    program, out = f'{where}/wide', f'{where}/chosen.gtrace'
    compile_to(program, arch, paths.source('guest', 'auto_arguments.c'), '-O1', '-g', '-static')
    record(qemu, '-a', '-o', out, program)
    text = printed([paths.GUESTTRACE, 'replay', '--no-pager', '-f', 'none', '--where', 'wide:a > 3 && a < 4', out])
    need(re.findall(r'^wide\((.*?),', text, re.M) == ['a=3.500000'], re.findall(r'wide\(.*', text))


def test_damaged(where):
    """A program whose debug information is damaged runs without values, and a line says why."""
    qemu = qemus.user_with_registers('x86_64')
    program, strings = f'{where}/damaged', f'{where}/strings'
    compile_to(program, 'x86_64', paths.source('guest', 'auto_arguments.c'), '-O1', '-g')
    must(['objcopy', '--dump-section', f'.debug_str={strings}', program])
    with open(strings, 'ab') as f:
        f.write(b'A')
    must(['objcopy', '--update-section', f'.debug_str={strings}', program])
    done = run([paths.GUESTTRACE, 'record', '--qemu', qemu, '-a', '-o', f'{where}/out', program])
    need(done.returncode == 0 and b'section .debug_str: the last of' in done.stderr and b'0x41' in done.stderr, done)
    need(re.search(r' integers\(\)', replay(f'{where}/out')), 'integers is not recorded without values')


def test_names(where):
    """A user's table of what names objects; and the program stands among the arguments of a QEMU."""
    qemu, table = qemus.user_with_registers('x86_64'), f'{where}/table'
    program, out = f'{where}/named', f'{where}/named.gtrace'
    compile_to(program, 'x86_64', paths.source('guest', 'auto_arguments.c'), '-O1', '-g')
    write(table, '# a comment\n\nfile label name\nfile at pos  # another\nfile no_such nothing\n')
    must([paths.GUESTTRACE, 'record', '-q', '--object-names', table, '-a', '-o', out, '--', qemu, '-L', '/', '-0', 'other', program])
    text = replay(out)
    need(re.search(r' pointers\(.*f=0x\w+\{label="abc", at=-5\}', text), 'pointers: no names')
    need(re.search(r' fopen\(\w+="/nonexistent/file"', text), 'libraries are not found')
    for line, expected in ('file label', 'STRUCT NAME PATH'), ('file a-b c', 'a name to show'), ('file a f()', "a member's path"):
        write(table, f'file label name\n{line}\n')
        done = run([paths.GUESTTRACE, 'record', '--object-names', table, '-a', '-o', f'{where}/no', program])
        need(done.returncode == 125 and f"{table}:2: '{line}': expected".encode() in done.stderr and expected.encode() in done.stderr, done)
    done = run([paths.GUESTTRACE, 'record', '--object-names', table, '-o', f'{where}/no', program])
    need(done.returncode == 2 and b'needs -a or -A' in done.stderr, done)
    need(not os.path.exists(f'{where}/no'), 'it records')


def declarations(source):
    """A header: the types of a C file, and its functions without their bodies."""
    with open(source) as f:
        text = f.read()
    functions = re.findall(r'(?ms)^KEPT (.*?)\n\{', text)
    return text[:text.index('\nKEPT ')] + ''.join(f'\n{f};' for f in functions)


def test_prototypes(arch, where):
    """Without debug information, by the declarations of a user: what the guest prints itself."""
    qemu = qemus.user_with_registers(arch)
    program, out, header = f'{where}/declared', f'{where}/declared.gtrace', f'{where}/declared.h'
    source = paths.source('guest', 'auto_arguments.c')
    compile_to(program, arch, source, '-O1', '-static')
    write(header, declarations(source))
    said = said_by(record(qemu, '-a', '--prototypes', header, '-A', 'pointers@arg2/*;by_value@arg1/*', '-o', out, program))
    need(len(said) == 15, f'the guest says {len(said)} lines')
    same('\n'.join(shown(out)), '\n'.join(said), f'calls of {out}')


def test_refused_prototypes(where):
    """An error in them names its line; nothing runs."""
    qemus.user_with_registers('x86_64')
    program, header = f'{where}/refused', f'{where}/refused.h'
    compile_to(program, 'x86_64', paths.source('guest', 'auto_arguments.c'), '-O1')
    for text, line in ('int f(int);\nint g(no_such_type x);\n', 2), ('struct s { int a; \n', 2), ('(' * 100000, 1):
        write(header, text)
        done = run([paths.GUESTTRACE, 'record', '-a', '--prototypes', header, '-o', f'{where}/refused.gtrace', program])
        need(done.returncode == 125 and f'{header}:{line}: '.encode() in done.stderr, done)
    done = run([paths.GUESTTRACE, 'record', '--prototypes', header, '-o', f'{where}/refused.gtrace', program])
    need(done.returncode == 2 and b'--prototypes needs -a or -A' in done.stderr, done)
    need(not os.path.exists(f'{where}/refused.gtrace'), 'it records')


def test_errors(where):
    """What is no value is refused, with what was expected, before anything runs."""
    qemus.user('x86_64')
    for rule, expected in (('f@arg1/q', 'expected a format'), ('f@arg0/*', 'N from 1 to 31'),
                           ('f@', 'FUNC@auto-args'), ('f(@auto-args', 'missing closing'), ('@auto-args', 'FUNC@auto-args')):
        done = run([paths.GUESTTRACE, 'record', '-o', f'{where}/no', '-A', rule, '/bin/true'])
        need(done.returncode == 2 and expected in done.stderr.decode(), f'{rule}: {done}')
        need(not os.path.exists(f'{where}/no'), f'{rule}: it records')


def main():
    tally = Tally()
    for arch in sys.argv[1:] or ['x86_64', 'aarch64', 'riscv64']:
        with folder('auto-args') as where:
            tally.run(f'{arch}: types', test_types, arch, where)
            tally.run(f'{arch}: selected', test_selected, arch, where)
            tally.run(f'{arch}: stripped', test_stripped, arch, where)
            tally.run(f'{arch}: long doubles', test_long_doubles, arch, where)
            tally.run(f'{arch}: conditions', test_conditions, arch, where)
            tally.run(f'{arch}: prototypes', test_prototypes, arch, where)
    with folder('auto-args') as where:
        tally.run('errors', test_errors, where)
        tally.run('damaged', test_damaged, where)
        tally.run('names', test_names, where)
        tally.run('refused prototypes', test_refused_prototypes, where)
    return tally.status()


if __name__ == '__main__':
    sys.exit(main())
