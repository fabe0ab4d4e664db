#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The symbols that we find in a kernel's image, and what that kernel says in /proc/kallsyms when it
runs without KASLR: the same to the byte.

usage: kernel_guest_test.py TOOL ARCH [IMAGE]

TOOL: tests/oracle/kernel_tool.c. Without IMAGE it is Debian's kernel that scripts/kernels fetches.
"""
import hashlib
import os
import re
import sys

from gttest import boots
from gttest.commands import must, printed, run, tool as find
from gttest.results import in_folder, need

SECONDS = 200
# Addresses are hidden from whom the kernel does not trust. Modules follow the kernel's own symbols.
COMMANDS = '''echo 0 >/proc/sys/kernel/kptr_restrict
grep -v '\\[' /proc/kallsyms >/tmp/symbols
wc -l </tmp/symbols
busybox md5sum </tmp/symbols
grep ' _stext$' /tmp/symbols
cat /proc/version'''


def guest(arch, image, folder):
    """What the guest printed."""
    line = boots.command(arch, find(f'qemu-system-{arch}'), folder, COMMANDS, 'nokaslr', ['-accel', 'tcg'])
    if image:
        line[line.index('-kernel') + 1] = image
    done = run(line, timeout=SECONDS)
    text = done.stdout.decode(errors='replace').replace('\r', '')
    need('GUEST ENDS' in text, 'the guest did not end:', text[-2000:], done.stderr)
    return text


def check(tool, arch, image, folder):
    image = image or os.path.join(boots.kernel(arch), 'vmlinuz')
    ours = must([tool, '--all', image]).stdout
    text = guest(arch, image, folder)
    seen = re.search(r'^(\d+)\n([0-9a-f]{32})  -$', text, re.M)
    need(seen, 'no symbols from the guest:', text[-2000:])
    need(int(seen[1]) > 10000, 'the guest has only', seen[1], 'symbols')
    mine = re.search(rb'^.* _stext$', ours, re.M)
    need((ours.count(b'\n'), hashlib.md5(ours).hexdigest()) == (int(seen[1]), seen[2]),
         f'the guest has {seen[1]} symbols, the image {ours.count(10)}; the guest says',
         re.findall(r'^.* _stext$', text, re.M), 'the image', mine and mine[0])
    head = printed([tool, image])
    banner = head.splitlines()[1][2:]
    version = re.search(r'^Linux version .*', text, re.M)[0]
    # the image's banner may lack the build's number, which the last link adds
    need(banner.split(' #')[0] == version.split(' #')[0], 'banner', banner, 'but', version)
    print(f'{seen[1]} symbols as in {version.split(" (")[0]}')


if __name__ == '__main__':
    sys.exit(in_folder('kernel-guest', lambda folder: check(
        sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None, folder)))
