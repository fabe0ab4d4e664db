#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One thread runs three vCPUs (../execlog/guests/vcpus_riscv64.S): QEMU 9 and later do not tell them
apart, which is said once, and 11.1 mistakes cells there. The guest ends as it should on each, and the
recording is whole, each of a few times: what a mistaken cell destroys is not the same each time."""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'system'))
import qemus  # noqa: E402
from qemus import need  # noqa: E402

HARTS, TIMES = 3, 4
SAID = b'reports the wrong vCPU'


def build(folder):
    guest = f'{folder}/guest'
    qemus.build(['riscv64-linux-gnu-gcc', '-nostdlib', '-static', '-march=rv64g', '-mabi=lp64d',
                 '-Wl,-Ttext=0x80000000', f'-DHARTS={HARTS}', '-o', guest,
                 f'{HERE}/../execlog/guests/vcpus_riscv64.S'])
    return guest


def check(version, qemu, folder, guest):
    machine = [qemu, '-M', 'virt', '-bios', 'none', '-m', '64', '-display', 'none', '-monitor', 'none',
               '-serial', 'none', '-nodefaults', '-smp', str(HARTS), '-kernel', guest]
    for how in ['-accel', 'tcg,thread=single'], ['-icount', 'shift=0']:
        for i in range(TIMES):
            out = f'{folder}/{version}{how[0]}-{i}'
            said = qemus.record(out, [], machine + how).stderr.count(SAID)
            need(said == (not version.startswith('7.')), how, 'said so', said, 'times')
            need(qemus.tracing.Trace(out).stats['calls'] > 0, how, 'no calls')
            qemus.check_directory(out, readers=False)


def main():
    if not shutil.which('riscv64-linux-gnu-gcc'):
        print('SKIP: no compiler for riscv64')
        return 77
    return qemus.on_each('riscv64', 'one-thread', build, check)


if __name__ == '__main__':
    sys.exit(main())
