# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what libexeclog.so writes: lines of text, and binary logs, which read as the same lines.

The binary form is that of docs/execlog.md. What is not of that form raises Failure. zstd frames are unpacked by
the system's library of that name.
"""
import ctypes
import re
import struct

from gttest.results import Failure, need, read_bytes

LINE = re.compile(r'(\d+), 0x([0-9a-f]+), 0x([0-9a-f]+), "([^"]*)"(.*)$')
MAGIC, CHUNK_MAGIC = b'GTEXECL\n', b'GXCK'
HEAD = 64
SYSTEM, VALUES = 1, 2                                  # flags of the header
DEFINITIONS, EVENTS, LOST, INDEX, END = range(1, 6)    # types of chunks
NEEDS_LINE, LINE_IS_NEEDED, LINE_WAITS = 1, 2, 4       # flags of EVENTS
MOST_SUMMARY, MOST_BODY, MOST_UNPACKED, MOST_VCPUS = 64 << 10, 5 << 20, 4 << 20, 65536
MOST_INSNS, MOST_TEXT, MOST_REGISTERS, MOST_BLOCKS, SLOTS = 1024, 1024, 2048, 1 << 30, 512
WORD = (1 << 64) - 1


def fnv1a(data):
    h = 0x811c9dc5
    for byte in data:
        h = (h ^ byte) * 0x01000193 & 0xffffffff
    return h


def unpacked(data, size):
    """A zstd frame that has `size` bytes unpacked."""
    if not data and not size:
        return b''
    try:
        library = ctypes.CDLL('libzstd.so.1')
    except OSError as error:
        raise Failure(f'no libzstd: {error}') from error
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(size or 1)
    got = library.ZSTD_decompress(out, size, data, len(data))
    need(got == size, 'a body of', size, 'bytes does not unpack')
    return out.raw[:size]


class Bytes:
    """A cursor over bytes; none is read behind the last one."""

    def __init__(self, data, what):
        self.data, self.at, self.what = data, 0, what

    def left(self):
        return len(self.data) - self.at

    def take(self, n):
        need(0 <= n <= self.left(), self.what, 'ends at', len(self.data), 'in', n, 'bytes from', self.at)
        self.at += n
        return self.data[self.at - n:self.at]

    def byte(self):
        return self.take(1)[0]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                need(value <= WORD, self.what, 'has a number of more than 64 bits before', self.at)
                return value
            need(shift < 70, self.what, 'has a number without an end before', self.at)

    def little(self, n):
        return int.from_bytes(self.take(n), 'little')

    def text(self, most):
        n = self.number()
        need(n <= most, self.what, 'has a text of', n, 'bytes')
        return self.take(n).decode(errors='replace')


def unfold(n):
    """A folded difference."""
    return -(n >> 1) - 1 if n & 1 else n >> 1


class Chunk:
    def __init__(self, data, at):
        head = data[at:at + HEAD]
        need(len(head) == HEAD, 'a chunk is cut at', at)
        (magic, self.kind, self.flags, zero, summary, body, self.size, self.vcpu, self.first, self.count,
         self.other, self.names, self.insn, zero2, check) = struct.unpack('<4sBBHIIIIQQQIIII', head)
        need(magic == CHUNK_MAGIC, 'no chunk at', at)
        need(zero == zero2 == 0, 'a chunk at', at, 'has', zero, zero2)
        need(summary <= MOST_SUMMARY and body <= MOST_BODY and self.size <= MOST_UNPACKED and self.vcpu < MOST_VCPUS,
             'a chunk at', at, 'has sizes', summary, body, self.size, self.vcpu)
        self.at, self.end = at, at + HEAD + summary + body
        need(self.end <= len(data), 'a chunk is cut at', at)
        self.head, self.summary = head, data[at + HEAD:at + HEAD + summary]
        need(check == fnv1a(head[:60] + self.summary), 'the check of a chunk at', at)
        self.body = data[self.end - body:self.end]

    def unpacked(self):
        return Bytes(unpacked(self.body, self.size), f'the chunk at {self.at}')


class Vcpu:
    """What one vCPU's events have said so far: lines of text, as they complete."""

    def __init__(self, log, number):
        self.log, self.number = log, number
        self.line = self.kept = None   # the waiting line; one that 0x16 has completed
        self.lines = []

    def begin(self, chunk):
        need(not chunk.flags & NEEDS_LINE or (self.line if chunk.flags & LINE_WAITS else self.kept) is not None,
             'a chunk at', chunk.at, 'needs a line that is not there')
        if not chunk.flags & NEEDS_LINE:
            self.line = self.kept = None
        self.block, self.started, self.over = [], 0, True
        self.slot, self.device = SLOTS - 1, 0
        self.addresses, self.values, self.registers = [0] * SLOTS, [0] * SLOTS, {}

    def complete(self):
        if self.line:
            self.lines.append(self.line)
        self.line = None

    def advance(self, n):
        """The next n instructions of the block start."""
        need(n <= len(self.block) - self.started and (not n or not self.over), 'the block has fewer instructions')
        for _ in range(n):
            self.complete()
            number, address, opcode, text = self.block[self.started]
            self.line = f'{self.number}, 0x{address:x}, 0x{opcode:x}, "{text}"'
            self.kept, self.slot = None, number % SLOTS
            self.started += 1

    def rest(self):
        if not self.over:
            self.advance(len(self.block) - self.started)

    def start(self, ident, index):
        self.rest()
        self.block = self.log.block(ident)
        need(index < len(self.block), 'the block', ident, 'has no instruction', index)
        self.started, self.over = index, False
        self.advance(1)

    def add(self, text):
        self.line = (self.line or '') + text

    def resume(self, ident, index):
        """A chunk's first event: what the line is that waits."""
        if ident == 0:
            return
        self.block, self.over = self.log.block(ident), False
        need(index < len(self.block), 'the block', ident, 'has no instruction', index)
        self.started, self.slot = index + 1, self.block[index][0] % SLOTS

    def access(self, first, data):
        more, size = first >> 3 & 7, first & 7
        self.advance(more + (data.number() if more == 7 else 0))
        address = self.addresses[self.slot] + unfold(data.little(8 if size == 7 else size)) & WORD
        self.addresses[self.slot] = address
        self.add(f', {"store" if first & 64 else "load"}, 0x{address:08x}')
        if self.device:
            self.add(f', {self.log.device(self.device)}')

    def value(self, size, data):
        need(size <= 8 or size == 15, 'a value of', size)
        if size == 15:
            value = data.little(16)
        else:
            value = self.values[self.slot] = self.values[self.slot] + unfold(data.little(size)) & WORD
        if self.log.with_values:
            self.add(f' = 0x{value:x}')

    def change(self, first, data):
        register = first & 31
        register += data.number() if register == 31 else 0
        name, width = self.log.register(register)
        second = data.byte()
        more, size = second >> 4, second & 15
        need(size <= 8 or size == 15, 'a register of', size)
        self.advance(more + (data.number() if more == 15 else 0))
        if size == 15:
            value = data.little(data.number())
        else:
            value = self.registers.get(register, 0) + unfold(data.little(size)) & WORD
        self.registers[register] = value & WORD
        self.add(f', {name} -> 0x{value:0{2 * width}x}')

    def events(self, data):
        begun = False
        while data.left():
            self.event(data.byte(), data, begun)
            begun = True

    def event(self, first, data, begun):
        if first & 0x80:
            self.access(first, data)
        elif first >= 0x40:
            n = 1 if first < 0x60 else 2 if first < 0x70 else 3 if first < 0x78 else 4
            need(first <= 0x78, 'event', hex(first))
            high = first & {1: 31, 2: 15, 3: 7, 4: 0}[n]
            self.start(high << 8 * n | int.from_bytes(data.take(n), 'big'), 0)
        elif first >= 0x20:
            self.change(first, data)
        elif first < 0x10:
            self.value(first, data)
        else:
            self.rare(first, data, begun)

    def rare(self, first, data, begun):
        if first == 0x10:
            n = data.number()
            need(n >= self.started, n, 'instructions have started, no longer', self.started)
            self.advance(n - self.started)
            self.over = True
        elif first == 0x11:
            self.start(data.number(), data.number())
        elif first == 0x12:
            need(not begun, 'a waiting line in the middle of a chunk')
            self.resume(data.number(), data.number())
        elif first == 0x13:
            self.device = data.number()
        elif first == 0x14:
            self.rest()
            self.complete()
        elif first == 0x15:
            self.rest()
            self.lines.append(self.line or self.kept or '')
            self.line = self.kept = None
        else:
            need(first == 0x16, 'event', hex(first))
            self.advance(data.number())
            self.kept = self.line
            self.complete()


class Log:
    """A binary log that is whole. `text`: its lines; `values`: with the values of accesses."""

    def __init__(self, data, values=False):
        need(data[:8] == MAGIC and len(data) >= HEAD, 'is no binary log')
        major, self.minor, self.flags, target, zero, check = struct.unpack_from('<HHI32s12sI', data, 8)
        need(major == 1 and zero == bytes(12) and 0 in target, 'version', major, self.minor, target)
        need(check == fnv1a(data[:60]), 'the check of the header')
        self.target = target.split(b'\0')[0].decode()
        self.with_values = values and self.flags & VALUES
        self.blocks, self.devices, self.names, self.vcpus = {}, {}, {}, {}
        self.lines, self.lost, self.text = 0, 0, []
        self.chunks = self.last_index = None
        self.read(data)

    def block(self, ident):
        need(ident in self.blocks, 'no block', ident)
        return self.blocks[ident]

    def device(self, number):
        need(number in self.devices, 'no device', number)
        return self.devices[number]

    def register(self, number):
        need(number in self.names, 'no register', number)
        return self.names[number]

    def read(self, data):
        at, since, chunk = HEAD, [], None
        readers = {DEFINITIONS: self.definitions, EVENTS: self.events, LOST: self.add_lost}
        while at < len(data):
            need(chunk is None or chunk.kind != END, 'a chunk after the end at', at)
            chunk = Chunk(data, at)
            if chunk.kind == INDEX:
                self.index(chunk, since)
                since = []
            elif chunk.kind == END:
                need(chunk.first == (self.last_index or 0) and chunk.count == self.lines, 'END of', chunk.count,
                     'lines, not', self.lines)
            else:
                since.append(chunk)
                readers.get(chunk.kind, lambda c: None)(chunk)
            at = chunk.end
        need(chunk and chunk.kind == END, 'the log has no end')

    def index(self, chunk, since):
        need(chunk.other == (self.last_index or 0), 'an index at', chunk.at, 'after one at', chunk.other)
        data = chunk.unpacked()
        for c in since:
            need(data.number() == c.at and data.take(HEAD) == c.head and
                 data.take(len(c.summary)) == c.summary, 'an index of another chunk than that at', c.at)
        need(not data.left(), 'an index of more chunks at', chunk.at)
        self.last_index = chunk.at

    def add_lost(self, chunk):
        self.lost += chunk.first

    def definitions(self, chunk):
        data, ident, number, names = chunk.unpacked(), chunk.first, chunk.insn, 0
        while data.left():
            kind = data.byte()
            if kind == 1:
                n, insns, last = data.number(), [], 0
                need(n <= MOST_INSNS and ident < MOST_BLOCKS, 'a block of', n, 'instructions')
                for _ in range(n):
                    last = last + unfold(data.number()) & WORD
                    insns.append((number, last, data.number(), data.text(MOST_TEXT)))
                    number += 1
                self.blocks[ident] = insns
                ident += 1
            elif kind == 2:
                device = data.number()
                self.devices[device] = data.text(MOST_TEXT)
                names += 1
            else:
                need(kind == 3, 'a definition', kind)
                register, size = data.number(), data.number()
                need(register < MOST_REGISTERS, 'register', register)
                self.names[register] = data.text(MOST_TEXT), size
                names += 1
        need((ident - chunk.first, names) == (chunk.count, chunk.names), 'definitions at', chunk.at)

    def events(self, chunk):
        vcpu = self.vcpus.setdefault(chunk.vcpu, Vcpu(self, chunk.vcpu))
        vcpu.lines = []
        vcpu.begin(chunk)
        vcpu.events(chunk.unpacked())
        need(len(vcpu.lines) == chunk.count, 'a chunk at', chunk.at, 'completes', len(vcpu.lines), 'lines, not',
             chunk.count)
        self.lines += chunk.count
        need(chunk.first == self.lines - chunk.count + 1, 'a chunk at', chunk.at, 'begins with line', chunk.first,
             'after', self.lines - chunk.count)
        self.text += vcpu.lines


def read_log(path, values=False):
    """The text of a binary log."""
    return ''.join(line + '\n' for line in Log(read_bytes(path), values).text)
