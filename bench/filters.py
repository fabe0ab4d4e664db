# SPDX-License-Identifier: GPL-2.0-or-later
"""What filters cost while a guest is recorded: rows of bench/uftrace.py. Functions of a kernel have names by a code
map, which `guesttrace record` makes."""
import os
import subprocess

import measure
import recording
from table import Missing
from workloads import BUSY, SCRIPT, installed, linux, linux_files


def code_map(bench):
    """Of the aarch64 kernel; made once, by a recording that ends at once."""
    path = bench.context.path('code.map')
    if os.path.exists(path):
        return path
    kernels, out = linux_files('aarch64'), bench.scratch('map.data')
    qemu = next(iter(bench.qemus('machine', 'aarch64')))
    command = [w for w in linux('poweroff -f')(bench.context, qemu) if w != '@']
    done = subprocess.run([bench.guesttrace, 'record', '-q', '--format', 'uftrace', '--depth', '1', '--no-console', '-o',
                           out, '--symbols', os.path.join(kernels, 'vmlinuz'), '--', *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0 or not os.path.exists(out + '/code.map'):
        raise Missing('guesttrace record made no code map: ' + done.stderr[-300:])
    os.rename(out + '/code.map', path)
    return path


def mapped(bench):
    return 'code=' + code_map(bench)


def boot(name, words, most, *arguments):
    return recording.row(name, words, 'machine', 'aarch64', linux(BUSY), 'uftrace', ('summary=off', mapped, *arguments),
                         measure.statistics_of, most=most, expect=b'GUEST ENDS')


def lua(name, words, most, *arguments):
    return recording.row(name, words, 'user', 'x86_64', installed('lua5.4', SCRIPT, '12'), 'uftrace',
                         ('summary=off', *arguments), measure.statistics_of, most=most)


def control(bench):
    return 'control=' + bench.context.path('control')


ROWS = [
    boot('linux-map', '`linux`, named: to compare with', None),
    boot('linux-map-file', 'the same, a compact file', None, 'format=compact'),
    boot('linux-split', 'the same, in parts of 256K', None, 'format=compact', 'split=256K'),
    boot('linux-last', 'a flight recorder, never triggered', None, 'format=compact', 'last=16M'),
    boot('linux-F', 'only below one rare function', 1.15, 'filter=do_sys_truncate'),
    boot('linux-task', 'only the task init', 1.15, 'task=init'),
    boot('linux-N', 'without what vfs_read calls', None, 'notrace=vfs_read'),
    boot('linux-t', 'only calls of 10 us', None, 'time-filter=10us'),
    boot('linux-off', 'off from the beginning, a control socket', 1.05, 'recording=off', control),
    boot('linux-armed', 'off until a rare function is called', None, 'recording=off', 'trigger=do_sys_truncate@trace-on'),
    boot('linux-control', 'a control socket, no filters', None, control),
    boot('linux-off-later', 'switched off as the kernel begins, by a trigger', 1.05, 'trigger=start_kernel@trace-off'),
    lua('lua-t', '`lua`, only calls of 10 us', None, 'time-filter=10us'),
    lua('lua-last', '`lua`, a flight recorder, never triggered', None, 'format=compact', 'last=16M'),
    lua('lua-F', '`lua`, only below one rare function', None, 'filter=luaE_setdebt'),
]
