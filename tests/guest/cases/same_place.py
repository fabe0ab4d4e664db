# SPDX-License-Identifier: GPL-2.0-or-later
"""uftrace shows the same names."""
import shutil
import subprocess


def check(trace, own, traced):
    if not shutil.which('uftrace'):
        return
    shown = subprocess.run(['uftrace', 'replay', '--no-pager', '-f', 'none', '-d', trace.directory],
                           capture_output=True, check=True).stdout.decode()
    for name in own - {'main', 'use'}:
        times = sum(line.strip().split('(')[0] == name for line in shown.split('\n'))
        if times != 2:
            raise Failure(f'uftrace replay shows {name} {times} times')
