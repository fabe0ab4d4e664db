#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`record --syscalls`: what the guest prints itself of its system calls, and what strace and QEMU's -strace say.

usage: system_calls_test.py [ARCH...]
"""
import collections
import errno
import os
import re
import shutil
import sys

from gttest import paths, qemus
from gttest.commands import printed, run
from gttest.compilers import compile_to, is_host
from gttest.paths import GUESTTRACE
from gttest.recordings import with_form
from gttest.results import Skip, Tally, folder, need, read_text, same, skip

ONLY = ['-F', 'syscalls:.*']
THREADS, EACH = 3, 50


def value(text):
    """Numbers that programs print in several ways, of 32 bits; strings as they are."""
    text = re.sub('^"(<0x.*>)"$', r'\1', re.sub(r'^\w+=', '', text.strip()))
    if hasattr(errno, text):
        return -getattr(errno, text) & 0xffffffff
    if text in ('(nil)', 'NULL'):
        return 0
    try:
        return int(text, 8 if re.fullmatch('0[0-7]+', text) else 0) & 0xffffffff
    except ValueError:
        return text


def call(line):
    """(name, values, result) of NAME(VALUES) = RESULT; None: it is no such line."""
    found = re.match(r'(\w+)\((.*)\)\s*(?:= (\?|-?\w+).*?)?;?$', line.strip())
    return found and (found[1], [value(v) for v in re.findall(r'(?:"(?:\\.|[^"])*"|[^,])+', found[2])],
                      value(found[3] or '?'))


def between(calls):
    """Those that the program makes between its marks."""
    marks = [i for i, c in enumerate(calls) if c and c[0] == 'faccessat' and c[1][1] in ('"/begin"', '"/end"')]
    need(len(marks) == 2, f'{len(marks)} marks')
    return [c for c in calls[marks[0] + 1:marks[1]] if c]


def shown(*command):
    """Calls of a replay; of all tasks."""
    lines = printed([*command]).splitlines()
    return [call(re.sub(r'^[^|(]*\| *', '', line)) for line in lines]


def build(arch, where):
    return compile_to(os.path.join(where, 'calls'), arch, paths.source('guest', 'system_calls.c'), '-O1', '-static', '-pthread')


def record(qemu, where, program, out, *options):
    shutil.rmtree(os.path.join(where, out), ignore_errors=True)
    return printed([GUESTTRACE, 'record', '-q', '--qemu', qemu, '--syscalls', '-o', os.path.join(where, f'{out}'),
                    *with_form(out, options), program], cwd=where).splitlines()


def check_said(got, said):
    """Each call that the guest prints; a write of the library's own stands between them, perhaps."""
    said = [call(line) for line in said if not line.startswith('tkill')]
    need(len(said) > 40, f'the guest says {len(said)} calls')
    same('\n'.join(map(str, got)), '\n'.join(map(str, said)), 'system calls')


def own(calls):
    """Without what the C library adds: open and close of `wide`, the signal's return; and without numbers of threads."""
    hidden = ['gettid', 'rt_sigreturn']
    out = [c for c in calls if c[0] not in hidden and '"/proc/self/exe"' not in c[1]]
    at = next(i for i, c in enumerate(out) if c[0] == 'mprotect') - 1
    need(out[at][0] == 'close', 'no close')
    return [c for c in out[:at] + out[at + 1:] if c[0] != 'tkill']


def check_arguments(arch, qemu, where):
    program = build(arch, where)
    said = record(qemu, where, program, 'rec', *ONLY)
    got = own(between(shown('uftrace', 'replay', '--no-pager', '-f', 'none', '-d', f'{where}/rec')))
    check_said(got, said)
    text = printed([GUESTTRACE, 'replay', '--no-pager', '-f', 'none', f'{where}/rec'])
    need('filename="no/such/file", flags=O_CLOEXEC|O_DIRECTORY, mode=0) = ENOENT' in text, f'flags and errors have no names: {text}')
    need(r'write(fd=-1, buf="four\0more\0", count=10) = EBADF' in text, 'a buffer ends at a NUL')
    need('mode=0640)' in text and 'path=<0x10>' not in text and 'filename=<0x10>' in text, 'octal, bad address')
    flat = printed([GUESTTRACE, 'replay', '--no-pager', '--flat', f'{where}/rec'])
    wanted = [-100000 * t - i for t in range(1, THREADS + 1) for i in range(EACH)] + [-900]
    entered = collections.Counter(map(int, re.findall(r'enter +\S+ lseek\(fd=(-\d+), offset=0', flat)))
    need(entered == collections.Counter(wanted), f'calls of threads and of the child: {entered}')
    record(qemu, where, program, 'rec.gtrace', *ONLY, '--format', 'compact')
    compact = own(between(shown(GUESTTRACE, 'replay', '--no-pager', '-f', 'none', f'{where}/rec.gtrace')))
    same('\n'.join(map(str, compact)),
         '\n'.join(map(str, own(between(shown(GUESTTRACE, 'replay', '--no-pager', '-f', 'none', f'{where}/rec'))))),
         'calls of a compact file')


def test_arguments(arch, where):
    """QEMU 7.2, which reads no registers, and a later one."""
    check_arguments(arch, qemus.user(arch), where)


def test_registers(arch, where):
    """With values of the guest's functions, under filters, at conditions."""
    qemu = qemus.user_with_registers(arch)
    if arch == 'aarch64':
        check_arguments(arch, qemu, where)
    program = build(arch, where)
    record(qemu, where, program, 'all', '-a', '-F', 'files', '-T', 'syscalls:close@mark=bad,if:retval<0')
    text = printed([GUESTTRACE, 'replay', '--no-pager', '-f', 'none', f'{where}/all'])
    need(re.search(r'^ *files\(\) \{\n *syscall\(.*\) \{\n *openat\(.*"out".*\) = 3;$', text, re.M), text[:600])
    need('ioctl(fd=3, cmd=0x5401' in text and 'nanosleep' not in text, 'filters')
    need(text.count('bad') == 1 and 'on_signal' not in text, 'marks, filters')


def test_strace(where):
    """strace of the same program, which has its data at the same addresses."""
    if not is_host('x86_64') or not shutil.which('strace'):
        raise Skip('no strace of x86_64 programs')
    program, log = build('x86_64', where), os.path.join(where, 'strace')
    done = run(['strace', '-f', '-X', 'raw', '-e', 'raw=!openat,write,mkdirat,linkat,unlinkat,symlinkat,chdir,sendto,faccessat',
                '-o', log, program], cwd=where)
    if done.returncode:
        raise Skip(f'strace: {done.stderr[-200:]}')
    lines = [re.sub(r'^\d+ +', '', line) for line in read_text(log).splitlines()]
    lines = [re.sub(r'= -1 (\w+) .*', r'= \1', line) for line in lines]
    want = own(between([call(line) for line in lines]))
    record(qemus.user('x86_64'), where, program, 'rec', *ONLY)
    got = own(between(shown('uftrace', 'replay', '--no-pager', '-f', 'none', '-d', f'{where}/rec')))
    for name, values, result in want:  # an openat that creates nothing has no mode there
        mine = got.pop(0)
        values = [a if isinstance(b, str) and isinstance(a, str) or not isinstance(b, str) else b for a, b in zip(values, mine[1])]
        if name != 'fcntl':  # QEMU has no O_LARGEFILE there
            need((name, values, result) == (mine[0], mine[1][:len(values)], mine[2]), f'strace: {name, values, result}, not {mine}')
    need(not got, got)


def test_names(arch, where):
    """QEMU's own -strace: each call of the program from its first to its last, in order."""
    qemu, program = qemus.user(arch), build(arch, where)
    log = os.path.join(where, 'log')
    done = run([qemu, '-strace', '-D', log, '-d', 'strace', program], cwd=where)
    need(done.returncode == 0, done.stderr)
    want = re.findall(r'^\d+ (\w+)\(', read_text(log), re.M)
    record(qemu, where, program, 'names', *ONLY)
    flat = printed([GUESTTRACE, 'replay', '--no-pager', '--flat', f'{where}/names'])
    got = re.findall(r' enter +\S+ (\w+)', flat)

    def marked(names):
        marks = [i for i, name in enumerate(names) if name == 'faccessat']
        return names[marks[0]:marks[1]]
    need(len(marked(want)) > 40, want)
    same('\n'.join(marked(got)), '\n'.join(marked(want)), 'names')


def test_errors(where):
    qemu = shutil.which('qemu-system-riscv64')
    if not qemu:
        skip('no qemu-system-riscv64')
        return
    done = run([qemu, '-M', 'none', '-nographic', '-plugin', f'{paths.plugin("uftrace")},output={where}/no,syscalls=on'])
    need(done.returncode and b'this is a machine' in done.stderr, done.stderr)
    need(not os.path.exists(f'{where}/no'), 'it leaves a directory')


def main():
    tally = Tally()
    for arch in sys.argv[1:] or ['x86_64', 'aarch64', 'riscv64']:
        for test in test_arguments, test_registers, test_names:
            with folder('system-calls') as where:
                tally.run(f'{arch}: {test.__name__}', test, arch, where)
    for test in test_strace, test_errors:
        with folder('system-calls') as where:
            tally.run(test.__name__, test, where)
    return tally.status()


if __name__ == '__main__':
    sys.exit(main())
