#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records Debian's U-Boot, on riscv64 with OpenSBI below it, to its prompt and to its end by command.

usage: firmware_test.py ARCH

Both are stripped but for a few exported functions. U-Boot moves itself to the end of the memory: its
file names two places then.
"""
import collections
import functools
import os
import re
import signal
import sys

from gttest import elf, qemus, recordings, uftrace
from gttest.recordings import SEVERE, check_directory, record_files, symbols
from gttest.results import Skip, need, status

OPENSBI = '/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.elf'
OPENSBI_AT = 0x80000000
UBOOT = '/usr/lib/u-boot'
ET_EXEC = 2
BOARDS = {  # U-Boot's file with symbols, other files, QEMU's arguments, the command that ends it
    'aarch64': (f'{UBOOT}/qemu_arm64/uboot.elf', [],
                ['-M', 'virt', '-cpu', 'cortex-a57', '-bios', f'{UBOOT}/qemu_arm64/u-boot.bin'],
                b'reset\n'),
    'riscv64': (f'{UBOOT}/qemu-riscv64_smode/uboot.elf', [OPENSBI],
                ['-M', 'virt', '-bios', OPENSBI, '-kernel', f'{UBOOT}/qemu-riscv64_smode/uboot.elf'],
                b'poweroff\n'),
}
# Functions that every U-Boot for riscv64 exports to its applications, and calls itself.
EXPORTED = {'printf', 'strcmp', 'udelay', 'getchar'}
PROMPT = b'=> '
STOPS = [
    [(PROMPT, b'\x01x')],                          # Ctrl-A X
    [(PROMPT, b'\x01c'), (b'(qemu) ', b'quit\n')], # the monitor
    [(PROMPT, signal.SIGTERM)],                    # to guesttrace, which passes it on
]


def opensbi():
    """What QEMU boots, and the offset of its functions: Debian 13's is a PIE linked at 0, which QEMU
    does not load where it runs."""
    return (OPENSBI, 0) if elf.read(OPENSBI).kind == ET_EXEC else (OPENSBI[:-len('elf')] + 'bin', OPENSBI_AT)


def board(arch):
    """QEMU's arguments, and the firmware below U-Boot as `guesttrace symbols` takes it."""
    arguments = BOARDS[arch][2]
    if OPENSBI not in BOARDS[arch][1]:
        return arguments, []
    image, offset = opensbi()
    return [image if a == OPENSBI else a for a in arguments], [f'{OPENSBI}:{offset:#x}']


def called(out):
    """How often each function was called: {(file, name): calls}"""
    trace = uftrace.Trace(out)
    need(trace.tids() == [1], 'tasks', trace.tids())
    addresses = collections.Counter()
    for (kind, _, addr), n in trace.counts(1).items():
        if kind == 'enter':
            addresses[addr] += n
    return {trace.name(1, uftrace.LAST, addr): n for addr, n in addresses.items()}, trace.stats


def check_counters(stats):
    anomalies = sum(stats['anomaly.' + name] for name in SEVERE)
    need(stats['calls'] > 300000, 'only', stats['calls'], 'calls')
    need(stats['lost_records'] == 0, 'records were lost')
    need(stats['matched'] > 0.999 * (stats['matched'] + anomalies), 'too many anomalies:', stats)
    need(stats['calls'] - stats['matched'] < 64, 'calls that did not return:', stats)


def check_entries(arch, names, stats):
    """A name that stood for two addresses would have hidden one's calls. Debian 13's OpenSBI has no
    names: what was seen first as a part of another function is called by that one's."""
    allowed = 64 if BOARDS[arch][1] and opensbi()[1] else 0
    hidden = stats['calls'] - sum(names.values())
    need(0 <= hidden <= allowed, 'entries not told apart:', hidden, 'of', stats['calls'])


def check_names(arch, out, moved):
    names, stats = called(out)
    uboot = BOARDS[arch][0]
    check_entries(arch, names, stats)
    files = collections.Counter()
    for (path, name), n in names.items():
        need(path != 'guest' and not name.startswith('0x'), f'{name} in {path}: {n} calls')
        files[path] += n
    expected = {uboot, f'{uboot}+{moved:#x}', *BOARDS[arch][1]}
    need(set(files) == expected, 'calls in', dict(files))
    need(min(files.values()) > 1000, 'calls in', dict(files))
    plain = {name for _, name in names if '+0x' not in name}
    if arch == 'riscv64':
        need(EXPORTED <= plain, 'functions with a name:', plain)


def check_console(out):
    """Lines that U-Boot printed, each with its time on the clock of instructions: the banner after the
    first calls and before the end (a busy host reads it late)."""
    times = [time for time, *_ in uftrace.read_records(record_files(out)[1])]
    with open(f'{out}/extern.dat', encoding='utf-8', errors='replace') as f:
        lines = [re.fullmatch(r'(\d+)\.(\d{9}) (.*)', line.rstrip('\n')) for line in f]
    need(lines and all(lines), 'extern.dat:', lines)
    at = [int(line[1]) * 1000000000 + int(line[2]) for line in lines]
    texts = [line[3] for line in lines]
    need(at == sorted(at) and at[-1] <= times[-1], 'times of lines:', at, 'the last call:', times[-1])
    banner = [i for i, text in enumerate(texts) if text.startswith('U-Boot 20')]
    need(len(banner) == 1, 'lines:', texts)
    need(times[100] < at[banner[0]] < times[-1], 'the banner at', at[banner[0]], 'of', times[-1])
    need(len(set(at)) > 5, 'all lines at one time:', at)  # a busy host reads many at once
    need(not os.path.exists(f'{out}/.now'), '.now is left')


def record(arch, qemu, out, *steps):
    return recordings.record(out, [], [qemu, '-m', '128', '-nographic', '-net', 'none', '-no-reboot',
                                       *board(arch)[0]], steps=[(b'autoboot', b'\n'), *steps])


def check_stops(arch, qemu, out):
    """A machine that idles at its prompt is stopped from outside: open calls end there."""
    for steps in STOPS:
        done = record(arch, qemu, out, *steps)
        need(b'calls in 1 task' in done.stderr, steps, done.stderr)
        _, stats = called(out)
        check_counters(stats)
        check_directory(out, False)


def check_qemu(arch, qemu, out, thorough):
    uboot, end = BOARDS[arch][0], BOARDS[arch][3]
    done = record(arch, qemu, out, (PROMPT, b'bdinfo\n'), (PROMPT, end))
    moved = re.search(rb'reloc off\s*= (0x[0-9a-f]+)', done.stdout)
    need(moved, 'U-Boot does not say where it is:', done.stdout[-2000:])
    moved = int(moved[1], 16)
    names, stats = called(out)
    check_counters(stats)
    check_console(out)
    check_entries(arch, names, stats)
    symbols(out, *board(arch)[1], f'{uboot}:0', f'{uboot}:{moved:#x}')
    check_names(arch, out, moved)
    if thorough:
        check_directory(out)
    return stats['calls']


def check(arch, before, version, qemu, folder, _):
    print(check_qemu(arch, qemu, f'{folder}/{version}', not before), 'calls')
    if arch == 'aarch64' and not before:
        check_stops(arch, qemu, f'{folder}/stopped')
    before.append(version)


def main(arch):
    for path in [BOARDS[arch][0], *BOARDS[arch][1]]:
        if not os.path.exists(path):
            raise Skip(f'no {path} (packages u-boot-qemu and opensbi)')
    return qemus.on_each(arch, f'firmware-{arch}', lambda folder: None,
                         functools.partial(check, arch, []))


if __name__ == '__main__':
    sys.exit(status(main, sys.argv[1]))
