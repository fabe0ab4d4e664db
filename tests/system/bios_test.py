#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records a PC's BIOS: 16 and 32 bit code with its own threads, interrupts, and calls that no call
instruction makes, to the first sector of a disk (bios_boot.S), which asks it for services.

usage: bios_test.py [log] [i386]

i386: the machine has no 64 bit mode.
log: the calls of each function are as many as QEMU's own log of blocks has, of the same run.
"""
import collections
import re
import sys

from gttest import compilers, paths, qemus, uftrace
from gttest.commands import must
from gttest.recordings import SEVERE, check_directory, record, record_files
from gttest.results import need

ANOMALIES = [*SEVERE, 'bios-return', 'left-handler']
OPEN = 16  # calls that the end of the recording finds: the machine is switched off in them
LOG = ['-d', 'in_asm,exec,nochain', '-D']


def build(folder):
    """The disk."""
    compilers.compile_to(f'{folder}/boot.o', 'x86_64', paths.source('system', 'bios_boot.S'), '-m32', '-c')
    must([compilers.prefix('x86_64') + 'objcopy', '-O', 'binary', f'{folder}/boot.o', f'{folder}/boot.img'])
    return f'{folder}/boot.img'


def entered(out):
    """How often each address was entered."""
    found = collections.Counter()
    for data in record_files(out).values():
        for (kind, _, addr), n in uftrace.count_calls(data).items():
            found[addr] += n if kind == 'enter' else 0
    return found


def called(log):
    """The same, of addresses that a call instruction names. A block may not be executed to its end:
    what touches a device is put in a block of its own then."""
    calls, direct, ends = collections.Counter(), set(), {}
    block, last, begins = None, '', False
    insn = re.compile(r'0x([0-9a-f]+):\s+(?:[0-9a-f]{2} )+\s*(\S.*)')
    with open(log, encoding='utf-8', errors='replace') as f:
        for line in f:
            found = insn.match(line)
            if found:
                block, begins = (int(found[1], 16) if begins else block), False
                ends[block] = found[2]
            elif line.startswith('IN:'):
                begins = True
            elif line.startswith('Trace'):
                pc = int(line.split('/')[1], 16)
                call = re.match(r'l?call[wl]? +(\S+)', last)
                if call and call[1].startswith('0x') and int(call[1], 16) % 65536 == pc % 65536:
                    direct.add(pc)
                if call and (pc in direct or not call[1].startswith('0x')):
                    calls[pc] += 1
                last = ends.get(pc, '')
            elif line.startswith('Stopped'):
                last = ''
    return {pc: calls[pc] for pc in direct}


def check(version, qemu, folder, disk):
    out, log = f'{folder}/{version}', 'log' in sys.argv and f'{folder}/log'
    command = [qemu, '-M', 'pc', '-m', '64', '-display', 'none', '-serial', 'none', '-monitor', 'none',
               '-nic', 'none', '-no-reboot', '-drive', f'file={disk},format=raw,if=ide']
    record(out, [], command + ([*LOG, log] if log else []))
    stats = uftrace.Trace(out).stats
    anomalies = {name: stats[f'anomaly.{name}'] for name in ANOMALIES if stats[f'anomaly.{name}']}
    need(not anomalies, 'anomalies:', anomalies)
    need(stats['calls'] > 5000, 'only', stats['calls'], 'calls')
    need(0 <= stats['calls'] - stats['matched'] <= OPEN, 'calls and returns:', stats)
    need(stats['count.begun'] >= 3, 'no threads of the BIOS')  # of its devices
    check_directory(out, readers=not log)
    if log:
        want, have = called(log), entered(out)
        wrong = {hex(pc): (n, have[pc]) for pc, n in want.items() if have[pc] != n}
        need(len(want) > 100, 'the log has only', len(want), 'functions')
        need(not wrong, len(wrong), 'functions are called more or less often than the log says:', wrong)
        print(len(want), 'functions,', sum(want.values()), 'calls')


def main():
    return qemus.on_each('i386' if 'i386' in sys.argv else 'x86_64', 'bios', build, check)


if __name__ == '__main__':
    sys.exit(main())
