# SPDX-License-Identifier: GPL-2.0-or-later
"""Simpletrace files by hand, and what simpletrace.py would print for them: written from the
format's description alone, so that the reader under test and this share nothing."""
import struct

from gttest import commands, paths
from gttest.paths import GUESTTRACE

DATA = paths.source('simpletrace', 'data', 'qemu-10.2.2-boot')
MAGIC = 0xf2b177cb0aa429b4
DROPPED = 2**64 - 2


class Trace:
    """A trace in one byte order, and the text that is expected for it."""

    def __init__(self, order='<', header=True, version=4):
        self.order = order
        self.data = self.pack('QQQ', 2**64 - 1, MAGIC, version) if header else b''
        self.lines, self.last, self.ends = [], None, []

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def add(self, data):
        self.data += data
        self.ends.append((len(self.data), len(self.lines)))
        return self

    def map(self, ident, name):
        return self.add(self.pack('QQI', 0, ident, len(name)) + name.encode())

    def payload(self, values):
        return b''.join(self.pack('I', len(v)) + v if isinstance(v, bytes)
                        else self.pack('Q', v % 2**64) for v in values)

    def line(self, name, time, pid, args):
        delta = time - (time if self.last is None else self.last)
        self.last = time
        shown = [f'{n}={v!r}' if isinstance(v, bytes) else f'{n}={v % 2**64:#x}' for n, v in args]
        self.lines.append(f'{name} {delta / 1000:0.3f} pid={pid} ' + ' '.join(shown))

    def event(self, ident, time, pid, name, args, tid=None, payload=None):
        """name None: nothing is expected to be shown."""
        body = self.payload([v for _, v in args]) if payload is None else payload
        if name is not None:
            self.line(name, time, pid, args)
        kind = 1 if tid is None else 2
        more = b'' if tid is None else self.pack('Q', tid)
        return self.add(self.pack('QQQII', kind, ident, time, 24 + len(more) + len(body), pid)
                        + more + body)

    def dropped(self, time, pid, count):
        return self.event(DROPPED, time, pid, 'Dropped_Event', [('num_events_dropped', count)])

    def text(self, n=None):
        return ''.join(line + '\n' for line in self.lines[:n])


def run(*args, stdin=None):
    done = commands.run([GUESTTRACE, 'events', 'simpletrace', *args], input=stdin)
    return done.returncode, done.stdout, done.stderr.decode()
