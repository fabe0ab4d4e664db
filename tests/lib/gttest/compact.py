# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads compact files (docs/formats/compact.md): blocks, indexes, text files, and the records of each task.

    file = compact.read(data)          the bytes of one
    file.records[tid]                  [(time, word)]
    file.values[tid]                   {index of a record: [None, a number, bytes, or ('cut', bytes), ('bad', number)]}
    file.texts[name]                   the last contents

What is not of that form raises Failure.
"""
import collections
import struct
import zlib

from gttest.execlog import unpacked
from gttest.results import Failure, need

MAGIC, BLOCK, INDEX = b'gtrace\r\n', b'tBlk', b'gtindex\n'
FILE_HEAD, HEAD, TRAILER = 16, 64, 16
RECORDS, TEXT, INDEXES = 1, 2, 3
SEGMENT, EXACT, VALUES = 1, 2, 4
NEW_WORD, ENTRY, EVENT = 0, 1, 2
WORD, DEPTH, LOW_DEPTH, OPEN = 1 << 64, 1 << 20, 1023, 1 << 23

Block = collections.namedtuple('Block', 'at type flags size packer records first last before payload')
Gap = collections.namedtuple('Gap', 'at size')
File = collections.namedtuple('File', 'version blocks gaps indexed texts records opened values')
COLUMNS = 'pieces tasks runs misses symbols words near far low'.split()


class Numbers:
    """A row of bytes and numbers."""

    def __init__(self, data, what):
        self.data, self.at, self.what = data, 0, what

    def bytes(self, n):
        need(0 <= n <= len(self.data) - self.at, self.what, 'ends')
        self.at += n
        return self.data[self.at - n:self.at]

    def byte(self):
        return self.bytes(1)[0]

    def number(self):
        value = 0
        for i in range(9):
            byte = self.byte()
            value |= (byte if i == 8 else byte & 127) << 7 * i
            if byte < 128:
                break
        return value

    def signed(self):
        value = self.number()
        return ~(value >> 1) if value & 1 else value >> 1

    def done(self):
        need(self.at == len(self.data), self.what, 'has more than it should')


def columns(payload, names):
    """Columns by name, from where `payload` is to its end."""
    out = {}
    for name in names:
        size, packed = payload.number(), payload.number()
        need(size <= 64 << 20, name, 'has', size, 'bytes')
        data = payload.bytes(packed or size)
        out[name] = Numbers(unpacked(data, size) if packed else data, name)
    payload.done()
    return out


# ---- blocks -----------------------------------------------------------------------------------------

def block_at(data, at):
    """None: no block that is whole begins there."""
    head = data[at:at + HEAD]
    if len(head) < HEAD or head[:4] != BLOCK or struct.unpack_from('<I', head, 60)[0] != zlib.crc32(head[:60]):
        return None
    kind, flags, zero, size, checksum, packer, records, first, last, before = struct.unpack_from('<BBHIIIIQQQ', head, 4)
    if kind == 0 or size > len(data) - at - HEAD:
        return None
    need(zero == 0 and not any(head[48:60]), 'offset', at, 'a head has no 0 where it should')
    need(kind == RECORDS or not any(head[16:48]), 'offset', at, 'a block without records says something of them')
    payload = data[at + HEAD:at + HEAD + size]
    need(zlib.crc32(payload) == checksum, 'offset', at, 'the checksum does not fit')
    return Block(at, kind, flags, size, packer, records, first, last, before, payload)


def all_blocks(data):
    blocks, gaps, at = [], [], FILE_HEAD
    while at < len(data):
        block = block_at(data, at)
        if block:
            blocks.append(block)
            at += HEAD + block.size
            continue
        end = at + 1
        while end < len(data) and not block_at(data, end):
            end = data.find(BLOCK, end + 1) if data.find(BLOCK, end + 1) > 0 else len(data)
        gaps.append(Gap(at, end - at))
        at = end
    return blocks, gaps


def check_index(block, blocks, gaps, begin, link):
    """What an index says of the blocks from `begin` on is what they are."""
    need(block.payload[-TRAILER:] == struct.pack('<Q', block.at) + INDEX, 'an index has no end')
    body = Numbers(block.payload[:-TRAILER], 'an index')
    need(body.number() == link, 'an index has another before it')
    n = body.number()
    c = list(columns(body, [f'column {i} of an index' for i in range(8)]).values())
    entries = sorted([b for b in blocks if begin <= b.at < block.at] + [g for g in gaps if begin <= g.at < block.at])
    need(len(entries) == n, 'an index has', n, 'entries of', len(entries))
    last = Block(0, 0, 0, 0, 0, 0, 0, 0, 0, b'')
    for e in entries:
        kind, size = c[0].number(), c[2].number()
        need(kind == (e.type if isinstance(e, Block) else 0) and size == e.size, 'an index says', kind, size, 'of', e[:9])
        if not kind:
            continue
        flags, packer, records = c[1].number(), last.packer + c[3].signed(), c[4].number()
        first = (last.last + c[5].signed()) % WORD
        highest = (first + c[6].number()) % WORD
        before = (last.before + last.records + c[7].signed()) % WORD
        need((flags, packer, records, first, highest, before) == (e.flags, *e[4:9]), 'an index is wrong of', e[:9])
        last = e
    for column in c:
        column.done()


def check_indexes(blocks, gaps):
    """How many bytes the indexes list, each all from the one before it."""
    begin, link = FILE_HEAD, 0
    for block in blocks:
        if block.type == INDEXES:
            check_index(block, blocks, gaps, begin, link)
            begin, link = block.at + HEAD + block.size, block.at
    return begin


# ---- records ----------------------------------------------------------------------------------------

def mix(a, b, c):
    x = (a * 0x9e3779b97f4a7c15 ^ b * 0xc2b2ae3d27d4eb4f ^ c * 0x165667b19e3779f9) % WORD
    return ((x ^ x >> 29) * 0xbf58476d1ce4e5b9 % WORD) >> 48


def level(byte):
    v = byte + 1 if byte < 240 else 240 + 256 * (byte - 240) + 129
    k = v.bit_length() - 1
    return min(max(64 * k + (64 * v >> k) - 64 - 256, 0), 383)


class Frame:
    def __init__(self, number=0, context=0, addr=0, begin=0):
        self.number, self.context, self.addr, self.begin = number, context, addr, begin
        self.last = self.earlier = 0

    def note(self, what):
        self.earlier = (self.earlier << 7 ^ self.last) & 0xffffffff
        self.last = what
        self.context = mix(self.number, what, self.earlier)


class Task:
    def __init__(self, tid, time):
        self.tid, self.time, self.frames, self.deepest = tid, time, [Frame()], 0

    def enter(self, number, addr, time):
        need(len(self.frames) <= DEPTH, 'too many functions are open')
        self.frames.append(Frame(number, mix(number, self.frames[-1].context, 0), addr, time))
        self.deepest = max(self.deepest, len(self.frames) - 1)


class Values:
    """Values of a segment's records."""

    def __init__(self):
        self.words = collections.defaultdict(lambda: (0, 0))  # of each place: the last, and the one before
        self.text = {}
        self.texts, self.bytes = [], 0

    def word(self, c, place):
        last, before = self.words[place]
        code = c['codes'].byte()
        need(code < 4, 'code', code)
        word = [lambda: last, lambda: before, lambda: 2 * last - before, lambda: last + c['values'].signed()][code]()
        self.words[place] = word % WORD, last
        return word % WORD

    def take_text(self, c, place):
        code = c['codes'].byte()
        need(code < 3, 'code', code)
        if code < 2:
            number = c['values'].number() if code else self.text.get(place)
            need(number and number <= len(self.texts), 'text', number)
            self.text[place] = number
            return self.texts[number - 1]
        size = c['values'].number()
        need(size <= 4096, 'a text of', size, 'bytes')
        text, number = c['bytes'].bytes(size), None
        if len(self.texts) < 65534 and self.bytes + size <= 4 << 20:
            self.texts.append(text)
            self.bytes += size
            number = len(self.texts)
        self.text[place] = number
        return text

    def take(self, c, key, layout):
        n = layout >> 6 & 15
        need(layout & 63 == 6 << 3 and n <= 14 and layout >> (10 + 3 * n) == 0, 'layout', layout)
        out = []
        for i in range(n):
            kind, place = layout >> (10 + 3 * i) & 7, mix(key, i, 1)
            need(kind <= 4, 'kind', kind)
            if kind == 0:
                out.append(None)
            elif kind in (1, 4):
                out.append(self.word(c, place) if kind == 1 else ('bad', self.word(c, place)))
            else:
                out.append(self.take_text(c, place) if kind == 2 else ('cut', self.take_text(c, place)))
        return out


class Segment:
    def __init__(self, exact):
        self.exact, self.tasks, self.words, self.values = exact, [], [None], Values()
        # of each context: [symbol, step] of the first and of the second; of the first: average
        self.first, self.second = (collections.defaultdict(lambda: (0, 0)) for _ in range(2))
        self.average = collections.Counter()

    def word(self, number):
        if number == NEW_WORD:
            before = self.words[-1] or 0
            self.words.append((before + self.c['words'].signed()) % WORD)
            number = len(self.words) - 1
        need(number < len(self.words), 'word', number, 'is not known')
        return number

    def appear(self, opened):
        c = self.c['tasks']
        task = Task(c.number(), c.number())
        begin = task.time
        for _ in range(c.number()):
            begin = (begin + c.signed()) % WORD
            number = self.word(self.c['symbols'].number())
            task.enter(number, self.words[number], begin)
        opened.append((task.tid, task.time, [(f.addr, f.begin) for f in task.frames[1:]]))
        self.tasks.append(task)

    def symbol(self):
        value = self.c['symbols'].number()
        if value & 3 == 0:
            need(value == 0, 'symbol', value)
            return 0
        return self.word(value >> 2) << 2 | value & 3

    def clock_step(self, context):
        c = self.c
        byte = c[f'steps {self.average[context] >> 2 >> self.shift}'].byte()
        learnt = self.average[context]
        self.average[context] = learnt - (learnt >> 2) + level(byte) if learnt else 4 * level(byte)
        if byte < 240:
            return byte
        return c['far'].signed() if byte == 255 else 240 + 256 * (byte - 240) + c['low'].byte()

    def missed(self, context):
        """The symbol and the step of a record that is not predicted."""
        c, miss = self.c, self.c['misses'].byte()
        need(miss in ((0, 3) if not self.exact else (0, 1, 2, 3, 5, 6, 7)), 'miss', miss)
        first, second = self.first[context], self.second[context]
        symbol, step = first if miss & 3 == 1 else second
        if miss & 3 == 3:
            symbol = self.symbol()
        if miss & 4:
            step = c['far'].signed()
        elif miss == 3 and self.exact:
            step = c['far'].number()
        elif miss:
            step += c['near'].signed() if self.exact else 0
        self.second[context] = first
        self.first[context] = symbol, step & 0xffffffff
        return symbol, step

    def record(self, task, run):
        top = task.frames[-1]
        context = top.context
        step = None if self.exact else self.clock_step(context)
        symbol, predicted = self.first[context] if run else self.missed(context)
        task.time = (task.time + (predicted if self.exact else step)) % WORD
        return task.time, self.happened(task, symbol)

    def happened(self, task, symbol):
        """The record's word."""
        top, depth = task.frames[-1], len(task.frames) - 1
        self.key = 2 * (symbol >> 2) if symbol & 3 == ENTRY else 2 * (symbol or top.number) + 1
        if symbol == 0:
            need(depth > 0, 'a function is left that is not open')
            task.frames.pop()
            task.frames[-1].note(top.number)
            return 1 | 5 << 3 | (depth - 1 & LOW_DEPTH) << 6 | top.addr << 16
        word = self.words[symbol >> 2]
        if symbol & 3 == ENTRY:
            task.enter(symbol >> 2, word, task.time)
            return 5 << 3 | (depth & LOW_DEPTH) << 6 | word << 16
        top.note(symbol)
        return 3 | 5 << 3 | (depth & LOW_DEPTH) << 6 | word << 16 if symbol & 3 == EVENT else word

    def valued(self, task, run, records, values):
        """A record with its values."""
        records.append(self.record(task, run))
        key = self.key
        run = run - 1 if run else self.c['runs'].number()
        time, layout = self.record(task, run)
        need(time == records[-1][0], 'a layout has a time of its own')
        values[task.tid][len(records) - 1] = self.values.take(self.c, key, layout)
        return run - 1 if run else self.c['runs'].number()

    def block(self, block, records, opened, values):
        """Adds the block's records to those of each task."""
        payload, names = Numbers(block.payload, 'a payload'), COLUMNS
        if not self.exact:
            self.shift = payload.number()
            need(3 <= self.shift <= 9, 'shift', self.shift)
            names = names + [f'steps {i}' for i in range((383 >> self.shift) + 1)]
        if block.flags & VALUES:
            names = names + ['codes', 'values', 'bytes']
        self.c = c = columns(payload, names)
        left, run, times = block.records, c['runs'].number(), []
        while left:
            index, n = c['pieces'].number(), c['pieces'].number()
            need(index <= len(self.tasks) and (0 < n or block.flags & VALUES) and n <= left, 'piece', index, n)
            if index == len(self.tasks):
                self.appear(opened)
            if n == 0:
                task, n = self.tasks[index], 1
                run = self.valued(task, run, records[task.tid], values)
                times.append(task.time)
                left -= 1
                continue
            for _ in range(n):
                records[self.tasks[index].tid].append(self.record(self.tasks[index], run))
                times.append(self.tasks[index].time)
                run = run - 1 if run else c['runs'].number()
            left -= n
        need(run == 0, run, 'more records are predicted')
        for column in c.values():
            column.done()
        need(sum(task.deepest for task in self.tasks) <= OPEN, 'too many functions are open')
        need((min(times), max(times)) == (block.first, block.last), 'offset', block.at, 'other times')


def all_records(blocks):
    records, opened, segments, count = collections.defaultdict(list), [], {}, collections.Counter()
    values = collections.defaultdict(dict)
    for b in blocks:
        if b.type != RECORDS:
            continue
        if b.flags & SEGMENT:
            segments[b.packer] = Segment(bool(b.flags & EXACT))
            count[b.packer] = b.before
        segment = segments.get(b.packer)
        need(segment and segment.exact == bool(b.flags & EXACT), 'offset', b.at, 'another segment\'s block')
        need(b.before == count[b.packer], 'offset', b.at, 'other records come before it')
        count[b.packer] += b.records
        segment.block(b, records, opened, values)
    return dict(records), opened, dict(values)


# ---- all of it --------------------------------------------------------------------------------------

def text_of(payload):
    body = Numbers(payload, 'a text file')
    name = body.bytes(body.number())
    size = body.number()
    need(0 < len(name) < 256, 'a name of', len(name), 'bytes')
    return name.decode(), unpacked(body.bytes(len(payload) - body.at), size)


def read(data):
    if data[:8] != MAGIC or len(data) < FILE_HEAD:
        raise Failure('no compact file')
    major, minor, zero = struct.unpack_from('<HHI', data, 8)
    need(major == 1 and zero == 0, 'version', major, minor)
    blocks, gaps = all_blocks(data)
    indexed = check_indexes(blocks, gaps)
    records, opened, values = all_records(blocks)
    texts = dict(text_of(b.payload) for b in blocks if b.type == TEXT)
    return File((major, minor), blocks, gaps, indexed, texts, records, opened, values)
