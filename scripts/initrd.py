#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the initial file system of a Linux guest: a busybox whose shell runs a few commands.

usage: initrd.py [--init FILE] BUSYBOX OUT

FILE: commands for /init between mounting /proc and /sys, and the power-off. Without it they are an
`ls -lR`, a pipeline, 50 processes and a moment of sleep. As a module: archive() and image(), and
machine(), which boots it.
"""
import argparse
import os
import stat
import sys

APPLETS = ['awk', 'cat', 'echo', 'grep', 'ls', 'mount', 'nice', 'poweroff', 'sh', 'sleep', 'sort',
           'true', 'uniq', 'wc']
# QEMU's arguments, the kernel's. A PC's kernel checks that ten interrupts of the timer come in ten of the processor's
# milliseconds; on a busy host they do not, and it panics.
MACHINES = {
    'aarch64': (['-M', 'virt', '-cpu', 'cortex-a57'], 'console=ttyAMA0'),
    'riscv64': (['-M', 'virt'], 'console=ttyS0'),
    'x86_64': (['-M', 'q35'], 'console=ttyS0 no_timer_check'),
    'i386': (['-M', 'q35'], 'console=ttyS0 no_timer_check'),
}
INIT = '''#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
%s
echo GUEST ENDS
poweroff -f
'''
COMMANDS = '''ls -lR /sys/kernel /sys/bus >/dev/null
cat /proc/meminfo | sort | wc -l
i=0
while [ $i -lt 50 ]; do
    /bin/true
    i=$((i + 1))
done
sleep 0.1'''


def entry(number, name, mode, data=b''):
    """A header of 13 numbers of 8 hex digits, the name, the data, each padded to 4 bytes."""
    name = name.encode() + b'\0'
    count = 2 if stat.S_ISDIR(mode) else 1
    numbers = [number, mode, 0, 0, count, 0, len(data), 0, 0, 0, 0, len(name), 0]
    head = b'070701' + b''.join(b'%08x' % n for n in numbers) + name
    return head + b'\0' * (-len(head) % 4) + data + b'\0' * (-len(data) % 4)


def archive(folders, files, links=()):
    """A cpio archive (newc). folders: names; files: bytes by name, all executable; links: names of
    symbolic links, each with what it leads to."""
    out, number = b'', 0
    for name in folders:
        number += 1
        out += entry(number, name, stat.S_IFDIR | 0o755)
    for name, data in files.items():
        number += 1
        out += entry(number, name, stat.S_IFREG | 0o755, data)
    for name, target in links:
        number += 1
        out += entry(number, name, stat.S_IFLNK | 0o777, target.encode())
    return out + entry(0, 'TRAILER!!!', 0)


def image(busybox, commands=COMMANDS, folders=(), files=()):
    """The archive with a busybox (its bytes), /init, and what else there shall be."""
    return archive(['proc', 'sys', 'dev', 'tmp', 'bin', *folders],
                   {'init': (INIT % commands).encode(), 'bin/busybox': busybox, **dict(files)},
                   [(f'bin/{name}', 'busybox') for name in APPLETS])


def machine(arch, kernels, path, append=''):
    """QEMU's arguments for the kernel of the folder and the file system at the path, and a console on
    standard output."""
    arguments, words = MACHINES[arch]
    return [*arguments, '-m', '256', '-display', 'none', '-serial', 'stdio', '-monitor', 'none',
            '-nic', 'none', '-no-reboot', '-kernel', os.path.join(kernels, 'vmlinuz'), '-initrd', path,
            '-append', f'{words} quiet {append}'.strip()]


def main():
    parser = argparse.ArgumentParser(description='Writes the initial file system of a Linux guest.')
    parser.add_argument('--init', metavar='FILE', help='what /init runs')
    parser.add_argument('busybox', metavar='BUSYBOX')
    parser.add_argument('out', metavar='OUT')
    args = parser.parse_args()
    commands = COMMANDS
    if args.init:
        with open(args.init, encoding='utf-8') as f:
            commands = f.read().rstrip('\n')
    with open(args.busybox, 'rb') as f:
        data = image(f.read(), commands)
    with open(args.out, 'wb') as f:
        f.write(data)


if __name__ == '__main__':
    sys.exit(main())
