# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording etrace streams costs (libetrace.so), and how fast they are read."""
import os
import struct

import recording
from measure import Failed
from workloads import BUSY, linux

INFO, EXEC, MEM = 0x4554, 1, 4
HEADER = struct.Struct('<HHI')


def packets(path):
    """(type, length of the body) of each packet of a stream."""
    size, at = os.path.getsize(path), 0
    with open(path, 'rb') as f:
        while at < size:
            head = f.read(HEADER.size)
            if len(head) < HEADER.size:
                raise Failed('the stream is cut off at %d' % at)
            kind, _, length = HEADER.unpack(head)
            if at == 0 and kind != INFO:
                raise Failed('not a stream')
            at += HEADER.size + length
            f.seek(at)
            yield kind, length
    if at != size:
        raise Failed('the stream is cut off')


def statistics(path):
    """Entries and accesses of a stream."""
    entries = accesses = events = 0
    for kind, length in packets(path):
        if kind == EXEC:
            entries += (length - 8) // 20
        elif kind == MEM:
            accesses += 1
        else:
            events += 1
    return {'records': entries or accesses or events, 'bytes': os.path.getsize(path)}


RECORDING = recording.table([
    recording.row('etrace-exec', 'Linux boots to a shell script; code that ran, to a file',
                  'machine', 'aarch64', linux(BUSY), 'etrace', ('flags=exec',), statistics,
                  most=2.0, most_v1=2.0, expect=b'GUEST ENDS'),
    recording.row('etrace-coverage', 'the same; how often each block ran', 'machine', 'aarch64',
                  linux(BUSY), 'etrace', ('flags=coverage',), statistics, most=1.1, most_v1=1.1,
                  expect=b'GUEST ENDS'),
], 'entries')

TABLES = [RECORDING]
