# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads etrace streams: docs/formats/etrace.md. What is not of that form raises Failure."""
import collections
import re
import struct
from types import SimpleNamespace

from gttest.results import Failure, need, read_bytes

EXEC, TB, NOTE, MEM, ARCH, BARRIER, EVENT_OLD, EVENT, INFO = 1, 2, 3, 4, 5, 6, 7, 8, 0x4554
HEAD = 8       # bytes of a packet's header
MOST = 2 << 20  # bytes of a packet's body
RANGE = re.compile(r'0x([0-9a-f]+)-0x([0-9a-f]+)$')  # what a counter is named


def packets(data):
    """(kind, unit, body, offset) of each packet."""
    at = 0
    while at < len(data):
        need(len(data) - at >= HEAD, 'a header is cut at', at)
        kind, unit, size = struct.unpack_from('<HHI', data, at)
        need(size <= MOST, 'a packet of', size, 'bytes at', at)
        body = data[at + HEAD:at + HEAD + size]
        need(len(body) == size, 'a packet is cut at', at)
        yield kind, unit, body, at
        at += HEAD + size


def text_of(data):
    try:
        return data.decode()
    except UnicodeDecodeError as bad:
        raise Failure(f'no text: {bad}') from bad


def fields(form, body, what):
    """The fields that a body begins with."""
    need(len(body) >= struct.calcsize(form), what, 'of', len(body))
    return struct.unpack_from(form, body)


class Stream:
    """A whole stream. `items`: everything in order, each with its kind and unit: EXEC entries one by
    one (start, end, time, duration), MEM, EVENT, NOTE, TB. Notes of mapped files are apart."""

    def __init__(self, data):
        self.kinds, self.items, self.guest, self.mappings = [], [], None, []
        readers = {INFO: self.info, ARCH: self.arch, EXEC: self.exec, MEM: self.mem, EVENT: self.event,
                   NOTE: self.note, TB: self.tb, BARRIER: self.barrier}
        for kind, unit, body, at in packets(data):
            need(kind in readers, 'packet of kind', kind, 'at', at)
            self.kinds.append(kind)
            need(self.kinds[:2] == [INFO, ARCH][:len(self.kinds)], 'the stream begins with', self.kinds[:2])
            readers[kind](unit, body)
        need(self.kinds[:2] == [INFO, ARCH], 'the stream begins with', self.kinds[:2])
        for kind, following in zip(self.kinds, self.kinds[1:] + [None]):
            need(kind != EXEC or following == BARRIER, 'no barrier after EXEC, but', following)

    @staticmethod
    def info(_, body):
        need(body == bytes(12), 'INFO', body)

    def arch(self, _, body):
        need(len(body) == 16, 'ARCH of', len(body))
        machine, bits, big = struct.unpack_from('<IBB', body)
        need(bits in (32, 64) and big in (0, 1), 'ARCH of', bits, 'bits, byte order', big)
        self.guest = SimpleNamespace(machine=machine, bits=bits, big=big)

    @staticmethod
    def barrier(_, body):
        need(not body, 'BARRIER of', len(body))

    def mem(self, unit, body):
        need(len(body) == 40, 'MEM of', len(body))
        time, vaddr, paddr, value, attr, size = struct.unpack('<QQQQIB3x', body)
        self.add('mem', unit, time=time, vaddr=vaddr, paddr=paddr, value=value, size=size,
                 write=bool(attr & 1))

    def event(self, _, body):
        flags, unit, zero, time, value, previous, n, m = fields('<IHHQQQHH', body, 'EVENT')
        need(len(body) == 36 + n + m and n and m, 'EVENT of', len(body), n, m)
        need(body[35 + n] == body[-1] == 0, 'EVENT whose names do not end')
        need(zero == 0, 'EVENT', flags, zero)
        self.add('event', unit, time=time, value=value, previous=previous,
                 device=text_of(body[36:36 + n - 1]), name=text_of(body[36 + n:-1]))

    def note(self, unit, body):
        time, = fields('<Q', body, 'NOTE')
        text = text_of(body[8:])
        if text.startswith('mapping '):
            need(text.endswith('\n'), text)
            self.mappings.append(text[:-1])
        else:
            self.add('note', unit, time=time, text=text)

    def tb(self, unit, body):
        vaddr, paddr, _, n, m = fields('<QQQII', body, 'TB')
        need(len(body) == 32 + n and m == 0, 'TB of', len(body))
        self.add('tb', unit, vaddr=vaddr, paddr=paddr, code=body[32:])

    def exec(self, unit, body):
        layout = struct.Struct('<IQQ' if self.guest.bits == 64 else '<III')
        need(len(body) >= 8 and (len(body) - 8) % layout.size == 0, 'EXEC of', len(body))
        time, = struct.unpack_from('<Q', body)
        for duration, start, end in layout.iter_unpack(body[8:]):
            need(start <= end, f'EXEC of {start:#x}-{end:#x}')
            self.add('exec', unit, start=start, end=end, time=time, duration=duration)
            time += duration

    def add(self, kind, unit, **more):
        self.items.append(SimpleNamespace(kind=kind, unit=unit, **more))

    def of(self, kind, unit=None):
        return [i for i in self.items if i.kind == kind and unit in (None, i.unit)]


def read(path):
    return Stream(read_bytes(path))


def whole_prefix(data):
    """The packets that are whole of a stream that may be cut anywhere, as a Stream."""
    at, last = 0, None
    while len(data) - at >= HEAD:
        kind, _, size = struct.unpack_from('<HHI', data, at)
        if len(data) - at < HEAD + size:
            break
        at, last = at + HEAD + size, kind
    return Stream(data[:at] + (struct.pack('<HHI', BARRIER, 0, 0) if last == EXEC else b''))


def expand(entries, following):
    """The instructions of execution entries, by what follows each."""
    out = []
    for e in entries:
        at = e.start
        while at < e.end:
            out.append(at)
            need(at in following, f'{at:#x} is no instruction, in {e.start:#x}-{e.end:#x}')
            at = following[at]
        need(at == e.end, f'{e.start:#x}-{e.end:#x} ends inside of an instruction')
    return out


def expand_counts(counts, following):
    """How often each instruction ran, by {name of a counter: its value}."""
    out = collections.Counter()
    for name, value in counts:
        start, end = (int(a, 16) for a in RANGE.match(name).groups())
        for at in expand([SimpleNamespace(start=start, end=end)], following):
            out[at] += value
    return out


def counts(stream, following):
    """How often each instruction ran, of a stream of flags=coverage."""
    for e in stream.of('event'):
        need(e.device == 'coverage' and e.value > 0 and RANGE.match(e.name), e)
    return expand_counts([(e.name, e.value) for e in stream.of('event')], following)
