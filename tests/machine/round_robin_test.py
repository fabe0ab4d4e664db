#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One thread runs three vCPUs (../execlog/guests/vcpus_riscv64.S): QEMU 9 and later report the
wrong vCPU, and 11.1 uses the wrong scoreboard entries there. The guest ends as it should on each, and each vCPU's calls are
recorded; where the QEMU does not say which one runs, none are, and one message says so. Each of a few times: what a wrong
entry destroys differs each time.
Guest events have the vCPU that runs and its registers, and none is missing; nor where a block has one instruction, on one
thread or on three."""
import re
import sys

from gttest import compilers, elf, paths, qemus, uftrace
from gttest.commands import printed, run
from gttest.recordings import check_directory, record
from gttest.results import need, write

HARTS, TIMES, TURNS = 3, 4, 20
SAID = b'reports the wrong vCPU'


def build(folder):
    return compilers.compile_to(f'{folder}/guest', 'riscv64', paths.source('execlog', 'guests', 'vcpus_riscv64.S'),
                                '-nostdlib', '-static', '-march=rv64g', '-mabi=lp64d', '-Wl,-Ttext=0x80000000',
                                f'-I{paths.START}', f'-DHARTS={HARTS}')


def check(version, qemu, folder, guest):
    machine = [qemu, '-M', 'virt', '-bios', 'none', '-m', '64', *qemus.QUIET, '-nodefaults', '-smp', str(HARTS), '-kernel', guest]
    for how in ['-accel', 'tcg,thread=single'], ['-icount', 'shift=0']:
        for i in range(TIMES):
            out = f'{folder}/{version}{how[0]}-{i}'
            said = record(out, [], machine + how).stderr.count(SAID)
            calls = uftrace.Trace(out).stats['calls']
            need(said == (calls == 0), how, 'said so', said, 'times, with', calls, 'calls')
            check_directory(out, readers=False)
        if qemus.number(version) >= (9, 0):  # older ones refuse them
            check_events(folder, machine + how, elf.symbols(guest)['step'])
    if qemus.number(version) >= (9, 0):
        for how in 'single', 'multi':
            check_events(folder, [*machine, '-accel', f'tcg,thread={how},one-insn-per-tb=on'], elf.symbols(guest)['step'])


def check_events(folder, command, step):
    """Each vCPU is at `step` in its turn, with its number in s1."""
    out = f'{folder}/events'
    write(f'{folder}/declared', f'vcpu at={step:#x} step(uint64_t s1) "%d"\n')
    done = run([paths.GUESTTRACE, 'record', '--guest-events', f'{folder}/declared', '-o', out, '--', *command])
    need(done.returncode == 0, done)
    text = printed([paths.GUESTTRACE, 'events', 'simpletrace', f'{out}.events', out])
    found = re.findall(r'__cpu=(\w+) s1=(\w+)', text)
    turns = [hex(n) for n in range(HARTS)] * TURNS
    need([s1 for _, s1 in found] == turns, text)
    need([cpu for cpu, _ in found] == turns or SAID in done.stderr, text)


def main():
    return qemus.on_each('riscv64', 'one-thread', build, check)


if __name__ == '__main__':
    sys.exit(main())
