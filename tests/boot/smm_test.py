#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""UEFI firmware with system management mode (OVMF, secure flash), recorded to its shell and power-off: each of its system
management interrupts is a handler.

usage: smm_test.py SERIES

The oracle is QEMU's own log of interrupts.
"""
import os
import re
import shutil
import sys

from gttest import paths, qemus, recordings
from gttest.results import Skip, in_folder, need

FIRMWARE = '/usr/share/OVMF'
FEW = 3  # anomalies in 19 million calls; on 11.1: none
STEPS = [(b'Shell>', b'reset -s\r')]
SECONDS = 500


def machine(qemu, folder):
    code, data = (f'{FIRMWARE}/OVMF_{name}.fd' for name in ('CODE_4M.secboot', 'VARS_4M'))
    if not os.path.exists(code):
        raise Skip(f'no {code}')
    shutil.copy(data, f'{folder}/data.fd')
    return [qemu, *qemus.ON_STDIO, '-M', 'q35,smm=on', '-m', '256', '-no-reboot', '-nic', 'none', '-d', 'int', '-D', f'{folder}/int.log',
            '-global', 'driver=cfi.pflash01,property=secure,value=on', '-drive', f'if=pflash,format=raw,readonly=on,file={code}',
            '-drive', f'if=pflash,format=raw,file={folder}/data.fd']


def count_logged(path):
    """(interrupts and exceptions, system management interrupts)"""
    with open(path, encoding='latin-1') as f:
        lines = f.read().splitlines()
    return sum(bool(re.match(r' *\d+: v=', line)) for line in lines), lines.count('SMM: enter')


def count_told(told, pattern):
    found = re.search(pattern, told.decode())
    return int(found[1].replace(',', '')) if found else 0


def check(series, folder):
    out = f'{folder}/boot.gtrace'
    done = recordings.converse([paths.GUESTTRACE, 'record', '-o', out, '--', *machine(qemus.of_series('x86_64', series), folder)],
                               STEPS, SECONDS)
    others, logged = count_logged(f'{folder}/int.log')
    handlers, wrong, anomalies = (count_told(done.stderr, p) for p in (
        r'count: ([\d,]+) handlers', r'anomaly: ([\d,]+) left-handler', r'calls, ([\d,]+) anomalies'))
    need(logged > 300 and handlers - wrong == others + logged, handlers, 'handlers of', others, 'interrupts and', logged, 'of system management')
    need(anomalies <= (0 if series == '11.1' else FEW), done.stderr)
    print(f'good: {logged} system management interrupts, {anomalies} anomalies')


def main():
    series = sys.argv[1]
    return in_folder(f'smm-{series}', lambda folder: check(series, folder))


if __name__ == '__main__':
    sys.exit(main())
