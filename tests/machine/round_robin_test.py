#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One thread runs three vCPUs (../execlog/guests/vcpus_riscv64.S): QEMU 9 and later report the
wrong vCPU, and 11.1 uses the wrong scoreboard entries there. The guest ends as it should on each, and each vCPU's calls are
recorded; where the QEMU does not say which one runs, none are, and one message says so. Each of a few times: what a wrong
entry destroys differs each time."""
import sys

from gttest import compilers, paths, qemus, uftrace
from gttest.recordings import check_directory, record
from gttest.results import need

HARTS, TIMES = 3, 4
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


def main():
    return qemus.on_each('riscv64', 'one-thread', build, check)


if __name__ == '__main__':
    sys.exit(main())
