# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording whose calls have values: open(path, flags) returned an int; the recording says so in guesttrace.values."""
import struct

from gttest import uftrace, uftrace_write
from gttest.results import write

PATH = '/tmp/<b>&"name"'
OPEN, MAIN = 0x1000, 0x2000
MORE = 4  # of a record: values follow
SPECS = 'guesttrace values 1\nmodule - guest\nfunction 1000 open\narg 1 s 0 path - -\narg 2 x 4 - - -\nret - d 4 - - -\n'


def padded(data, to):
    return data + bytes(-len(data) % to)


def make(path):
    """open is called at 1000 and at 3000 by main, each returns after 500 ns; main from 500 to 5000."""
    text = PATH.encode()
    args = padded(padded(struct.pack('<H', len(text)) + text, 4) + struct.pack('<I', 0x42), 8)
    data = uftrace_write.record(500, uftrace.ENTRY, 0, MAIN)
    for time, result in (1000, -2), (3000, 7):
        data += uftrace_write.record(time, uftrace.ENTRY | MORE, 1, OPEN) + args
        data += uftrace_write.record(time + 500, uftrace.EXIT | MORE, 1, OPEN) + padded(struct.pack('<i', result), 8)
    data += uftrace_write.record(5000, uftrace.EXIT, 0, MAIN)
    uftrace_write.directory(path, {7: data}, {OPEN: 'open', MAIN: 'main'})
    write(f'{path}/guesttrace.values', SPECS)
    return path
