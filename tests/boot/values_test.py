#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of a stock kernel's functions, by its BTF, are what the guest prints and what its programs ask for.

usage: values_test.py ARCH SERIES

SERIES of QEMU: 10.0, 11.1. Two vCPUs, Debian's vmlinuz without debug information.
"""
import re
import sys

from gttest import boots, paths, qemus
from gttest.commands import printed
from gttest.recordings import record
from gttest.results import in_folder, need

FUNCTIONS = '^(vfs_read|vfs_write|do_sys_openat2|wake_up_process)$'
# Texts that nothing else writes; the guest counts what it reads.
COMMANDS = '''echo first line
cat /proc/version > /dev/null
ls /no/such/file
i=0
while [ $i -lt 5 ]; do
    echo count $i
    i=$((i + 1))
done
wc -c < /bin/busybox'''


def calls(out):
    """(name, arguments, result) of each call, at its return."""
    found, opened = [], {}
    for line in printed([paths.GUESTTRACE, 'replay', '--no-pager', '-f', 'tid', out]).splitlines():
        at = re.match(r' *\[ *(\d+)\] \| *(.*)$', line)
        begin = re.match(r'(\w+)\((.*)\)(?: = (.*))?( \{|;)$', at[2]) if at else None
        end = re.match(r'\}(?: = (.*))?; /\* (\w+) \*/$', at[2]) if at else None
        if begin and begin[4] == ';':
            found.append((begin[1], begin[2], begin[3]))
        elif begin:
            opened.setdefault(at[1], []).append((begin[1], begin[2]))
        elif end and opened.get(at[1]):
            name, arguments = opened[at[1]].pop()
            need(name == end[2], f'{name} ends as {end[2]}')
            found.append((name, arguments, end[1]))
    return found


def check_writes(found, said):
    """What programs write on the console is what it shows; each returns how many bytes it wrote."""
    text = ''
    for name, arguments, result in found:
        write = re.match(r'file=0x\w+\{name="console"\}, buf="(.*)", count=(\d+), pos=0x\w+$', arguments)
        if name != 'vfs_write' or not write:
            continue
        data = write[1].encode().decode('unicode_escape')
        need(len(data) == int(write[2]) == int(result), 'vfs_write', arguments, '=', result)
        text += data
    for line in ['first line', *[f'count {i}' for i in range(5)], 'GUEST ENDS']:
        need(f'{line}\n' in text and line in said, line, 'is not in', text)


def check_files(found, said):
    """Files that were opened, and how much was read of one, which the guest counts."""
    opened = {re.search(r'filename="(.*?)"', arguments)[1]: int(result) for name, arguments, result in found
              if name == 'do_sys_openat2' and 'filename="' in arguments}
    need(opened.get('/proc/version', -1) >= 0, '/proc/version was opened:', opened)
    sizes = [int(result) for name, arguments, result in found
             if name == 'vfs_read' and '{name="busybox"}' in arguments and 'count=65536' not in arguments]
    need(sizes, 'nobody reads busybox')
    counted = re.search(r'^(\d{6,})\s*$', said, re.M)
    need(counted, 'the guest does not count:', said)
    need(sum(sizes) >= int(counted[1]), f'{sum(sizes)} bytes were read, of {counted[1]}')


def check(arch, series, folder):
    line = boots.command(arch, qemus.of_series(arch, series), folder, COMMANDS, options=['-smp', '2'])
    out = f'{folder}/data'
    done = record(out, ['-q', '-A', f'{FUNCTIONS}@auto-args', '-F', FUNCTIONS, '-D', '1'], line)
    said = done.stdout.decode(errors='replace')
    need('GUEST ENDS' in said, 'the guest did not end:', said[-2000:], done.stderr)
    found = calls(out)
    check_writes(found, said)
    check_files(found, said)
    comms = {re.search(r'comm="(.*?)"', arguments)[1] for name, arguments, _ in found if name == 'wake_up_process'}
    need({'kthreadd', 'ksoftirqd/0', 'migration/1'} <= comms, 'tasks that are woken:', comms)
    print(f'good: {len(found)} calls')


def main():
    arch, series = sys.argv[1:]
    return in_folder(f'values-{arch}', lambda folder: check(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
