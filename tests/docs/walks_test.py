#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The walks in docs/: their commands, run one after another in an empty folder, print what the pages show. Numbers, their units and spaces
may differ; a line of three dots stands for any lines.

usage: walks_test.py PAGE            checks docs/PAGE.md
       walks_test.py --write PAGE    puts what the commands print now into it
"""
import os
import re
import subprocess
import sys

from gttest import paths
from gttest.commands import SECONDS
from gttest.results import Skip, in_folder, need, read_text, write

RELEASE = 'VERSION_ID="12"'  # what the pages show is of Debian 12's programs
NEEDS = {'slow-boot': [f'{paths.CACHE}/kernels/aarch64/vmlinuz'],
         'firmware': ['/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.elf', '/usr/lib/u-boot/qemu-riscv64_smode/uboot.elf']}
BLOCK = re.compile(r'```console\n(.*?)```', re.S)
DOTS = '...'
CHOICE = 'the program runs under QEMU'  # said where the machine's own takes no plugins, or no values


def steps(block):
    """[command, the lines that it prints]: a command's line begins with a dollar sign, and goes on after a backslash."""
    found = []
    for line in block.splitlines():
        if line.startswith('$ '):
            found.append([line[2:], []])
        elif found[-1][0].endswith('\\') and not found[-1][1]:
            found[-1][0] += '\n' + line
        else:
            found[-1][1].append(line)
    return found


ASSIGNMENT = re.compile(r'[A-Z]=\S+')
assigned = []  # what the commands so far have set


def run(command, folder):
    if ASSIGNMENT.fullmatch(command):
        assigned.append(command)
        return []
    path = f'{paths.BUILD}:{os.environ["PATH"]}'
    env = {**os.environ, 'PATH': path, 'GUESTTRACE_PLUGIN_DIR': paths.PLUGINS, 'COLUMNS': '100', 'PAGER': 'cat'}
    done = subprocess.run(['bash', '-c', '\n'.join([*assigned, command])], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    text = done.stdout.decode(errors='replace').replace('\r', '')
    need(done.returncode == 0, f'$ {command}: exit status {done.returncode}:', text)
    return [line.rstrip() for line in text.splitlines() if CHOICE not in line]


def plain(line):
    """Without what differs from run to run."""
    line = re.sub(r'0x[0-9a-f]+|\d[\d,.]*', '#', line)
    return ' '.join(re.sub(r'# *([kMG]?B|[num]?s)\b', '#', line).split())


def fits(wanted, got):
    """Whether the lines are those that are wanted."""
    if not wanted:
        return not got
    if wanted[0] == DOTS:
        return any(fits(wanted[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and plain(wanted[0]) == plain(got[0]) and fits(wanted[1:], got[1:])


def check_block(folder, block):
    for command, wanted in steps(block):
        got = run(command, folder)
        need(fits(wanted, got), f'$ {command}\nprints\n' + '\n'.join(got) + '\nand not\n' + '\n'.join(wanted))


def written(folder, block):
    return ''.join('\n'.join([f'$ {command}', *run(command, folder)]) + '\n' for command, _ in steps(block))


def walk(folder):
    name = sys.argv[-1]
    page = f'{paths.ROOT}/docs/{name}.md'
    for path in NEEDS.get(name, []):
        if not os.path.exists(path):
            raise Skip(f'no {path}')
    if RELEASE not in read_text('/etc/os-release'):
        raise Skip('not Debian 12, of whose programs the page shows what they do')
    os.symlink(f'{paths.ROOT}/scripts', f'{folder}/scripts')
    text = read_text(page)
    if sys.argv[1] == '--write':
        text = BLOCK.sub(lambda block: f'```console\n{written(folder, block[1])}```', text)
        write(page, text.encode())
        return
    for block in BLOCK.findall(text):
        check_block(folder, block)


if __name__ == '__main__':
    sys.exit(in_folder('walks', walk))
