#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The readers of gttest against bytes made by hand: what they say of good ones; that ones which are cut anywhere, or
have any byte changed, are read or refused by Failure, and nothing else.

A reader that is wrong would hide what is wrong in a recording, so each field is checked with a value of its own.
"""
import random
import struct

from gttest import cases, elf, etrace, etrace_write, execlog, uftrace, uftrace_write
from gttest.results import Failure
from reader_case import ReaderCase


# ---- uftrace -----------------------------------------------------------------------------------------

def record(time, word):
    return struct.pack('<QQ', time, word)


class Records(ReaderCase):
    def read(self, data, cut_ok=True):
        return list(uftrace.read_records(data, 'x', cut_ok))

    def test_fields(self):
        data = record(7, 0 | 5 << 3 | 1023 << 6 | 0xffff81000040 << 16) + \
            record(1 << 63, 1 | 5 << 3 | 2 << 6 | 1 << 16) + record(9, 3 | 5 << 3 | 200002 << 16)
        self.assertEqual(self.read(data), [
            (7, uftrace.ENTRY, 1023, 0xffff81000040, 0), (1 << 63, uftrace.EXIT, 2, 1, 16),
            (9, uftrace.EVENT, 0, 200002, 32)])
        self.assertEqual(uftrace.count_calls(data[:32]), {('enter', 1023, 0xffff81000040): 1, ('leave', 2, 1): 1})

    def test_payload(self):
        """The bytes after an event with arguments are no record."""
        data = record(1, 3 | 1 << 2 | 5 << 3 | 100011 << 16) + b'\xff' * 8 + record(2, 5 << 3 | 3 << 16)
        self.assertEqual([r[0] for r in self.read(data)], [1, 2])
        self.refused(lambda d: self.read(d, False), data[:20], 'cut')

    def test_refused(self):
        self.refused(self.read, record(1, 4 << 3), 'offset 0: magic 4')
        self.refused(self.read, record(1, 5 << 3) + record(1, 1 << 2 | 5 << 3), 'offset 16: arguments')
        self.refused(self.read, record(1, 3 | 1 << 2 | 5 << 3 | 7 << 16), 'offset 0: arguments')

    def test_cut(self):
        data = uftrace_write.calls([0x1000, -0x2000, 0x3000])
        for n in range(len(data) + 1):
            self.assertEqual(len(self.read(data[:n])), n // 16)
        self.refuses_cuts(lambda d: self.read(d, False), data, range(0, len(data), 16))
        self.assertGreater(self.harmless(self.read, data), 0)

    def test_stack(self):
        def check(*items):
            found = []
            uftrace.check_stack(uftrace_write.records(*items), 'x', lambda *call: found.append(call))
            return found
        calls = (1, 0, 0, 10), (2, 0, 1, 20), (3, 1, 1, 20), (3, 0, 1, 30), (4, 1, 1, 30), (5, 1, 0, 10)
        self.assertEqual(check(*calls), [(1, (None,), 10), (2, (10,), 20), (3, (20, 10), 30)])
        for items, words in (([(1, 1, 0, 10)], 'no EXIT'), ([(1, 0, 1, 10)], 'of depth 1 with 0'),
                             ([(1, 0, 0, 10)], '1 calls are open'),
                             ([(2, 0, 0, 10), (1, 1, 0, 10)], 'time 1 after 2'),
                             ([(1, 0, 0, 10), (2, 1, 0, 11)], 'no EXIT'),
                             ([(1, 0, 0, 10), (2, 2, 0, 10)], 'no EXIT')):
            self.refused(lambda given: check(*given), items, words)


TASKS = '''SESS timestamp=1.000000002 pid=10 sid=0123456789abcdef exename="/bin/a b"
TASK timestamp=1.000000003 tid=11 pid=10
FORK timestamp=2.999999999 pid=12 ppid=11
DLOP timestamp=3.000000000 tid=11 sid=0123456789abcdef base=7f0000000000 libname="/l.so"
'''


class Texts(ReaderCase):
    def test_tasks(self):
        self.assertEqual(uftrace.read_task_text(TASKS), [
            ('SESS', 1000000002, {'pid': 10, 'sid': '0123456789abcdef', 'exename': '/bin/a b'}),
            ('TASK', 1000000003, {'tid': 11, 'pid': 10}), ('FORK', 2999999999, {'pid': 12, 'ppid': 11}),
            ('DLOP', 3000000000, {'tid': 11, 'sid': '0123456789abcdef', 'base': 0x7f0000000000, 'libname': '/l.so'})])
        ends = {0} | {i + 1 for i, c in enumerate(TASKS) if c == '\n'}
        self.refuses_cuts(uftrace.read_task_text, TASKS, ends)
        for bad in ('TASK timestamp=1.5 tid=1 pid=1\n', 'TASK timestamp=1.000000000 tid=x pid=1\n', '\n',
                    'SESS timestamp=1.000000000 pid=1 sid=12 exename="a"\n', TASKS + 'more\n'):
            self.refused(uftrace.read_task_text, bad, 'task.txt line')

    def test_map(self):
        text = '400000-401000 r-xp 00000000 00:00 0 /a build-id:12ab\n' + uftrace_write.STACK
        self.assertEqual(uftrace.read_map_text(text), [
            (0x400000, 0x401000, '/a'), (0xffffffffffff, 0xffffffffffff, '[stack]')])
        for bad in ('400000 r-xp 00000000 00:00 0 /a\n', '4-g r-xp 00000000 00:00 0 /a\n',
                    '4-5 r-xp 0 00:00 0\n', 'x\n'):
            self.refused(uftrace.read_map_text, bad, 'map line 1')

    def test_symbols(self):
        s = uftrace.Symbols('# symbols: 2\n# path name: /a\n0000000000000010 T one\n'
                            '0000000000000020 t fork()\n0000000000000030 ? __sym_end\n')
        self.assertEqual([s.name(a) for a in (0xf, 0x10, 0x1f, 0x2f, 0x30)], [None, 'one', 'one', 'fork', None])
        self.assertEqual((s.path, s.functions()), ('/a', {0x10: 'one', 0x20: 'fork'}))
        for bad in ('10 T one\n', '0000000000000010 T \n', '0000000000000010 T a\n' * 2):
            self.refused(uftrace.Symbols, bad, 'symbols line')

    def test_info(self):
        data = uftrace_write.info([1, 77])
        features, mask, lines = uftrace.read_info(data)
        self.assertEqual((features, mask), (0x62, 0b10001001))
        self.assertEqual(uftrace.task_info(lines), {'lines': '2', 'nr_tid': '2', 'tids': '1,77'})
        self.refuses_cuts(uftrace.read_info, data[:40])
        self.refused(uftrace.read_info, b'Ftrace?' + data[7:], 'magic')
        for at in (8, 12, 14):
            self.refused(uftrace.read_info, data[:at] + b'\x07' + data[at + 1:], 'header')

    def test_comms(self):
        data = struct.pack('<IHH8xQ', 1, 0, 24, 5) + struct.pack('<IHHII16sIIQ', 3, 0, 48, 10, 11, b'name', 1, 2, 3)
        self.assertEqual(uftrace.read_comms(data), [(10, 11, 'name')])
        self.refused(uftrace.read_comms, data[:60], 'cut')
        self.refused(uftrace.read_comms, struct.pack('<IHH', 1, 0, 0), 'of 0 bytes')
        self.harmless(uftrace.read_comms, data)

    def test_recording(self):
        """A directory, with the names that a reader shows."""
        sid = '0123456789abcdef'
        self.write('info', uftrace_write.info([1]))
        self.write('task.txt', uftrace_write.tasks(sid, [1]))
        self.write(f'sid-{sid}.map', uftrace_write.mappings(0x1000, 0x9000))
        self.write('guest.sym', uftrace_write.symbols({0x10: 'one', 0x20: 'two'}, end=0x30))
        self.write('1.dat', uftrace_write.calls([-0x1010, 0x1020, 0x1021, 0x1031, 0xa000]))
        self.write('guesttrace.stats', 'calls=5\nanomaly.too-deep=7\n')
        trace = uftrace.Trace(self.dir)
        self.assertEqual(trace.tree(1), ['one', '  two', '  two', '  0x1031', '  0xa000'])
        self.assertEqual((trace.tids(), trace.stats), ([1], {'calls': 5, 'anomaly.too-deep': 7}))
        self.assertEqual(trace.calls_of('two'), 2)


# ---- etrace ------------------------------------------------------------------------------------------

class Etrace(ReaderCase):
    GOOD = etrace_write.start(etrace_write.AARCH64, big_endian=1) + \
        etrace_write.execs(3, 100, [(2, 0x1000, 0x1008), (5, 1 << 63, (1 << 63) + 4)]) + \
        etrace_write.memory(1, 7, 8, 9, 10, 1, 4) + etrace_write.event(2, 11, 'dev', 'e', 12, 13) + \
        etrace_write.note(4, 14, b'text') + etrace_write.translated(5, 15, 16, b'\x90\x91') + \
        etrace_write.note(0, 0, b'mapping 0x1-0x2 0x1 - /a\n')

    def test_fields(self):
        stream = etrace.Stream(self.GOOD)
        self.assertEqual(vars(stream.guest), {'machine': 183, 'bits': 64, 'big': 1})
        self.assertEqual([vars(i) for i in stream.items], [
            dict(kind='exec', unit=3, start=0x1000, end=0x1008, time=100, duration=2),
            dict(kind='exec', unit=3, start=1 << 63, end=(1 << 63) + 4, time=102, duration=5),
            dict(kind='mem', unit=1, time=7, vaddr=8, paddr=9, value=10, size=4, write=True),
            dict(kind='event', unit=2, time=11, value=12, previous=13, device='dev', name='e'),
            dict(kind='note', unit=4, time=14, text='text'),
            dict(kind='tb', unit=5, vaddr=15, paddr=16, code=b'\x90\x91')])
        self.assertEqual(stream.mappings, ['mapping 0x1-0x2 0x1 - /a'])

    def test_32_bits(self):
        data = etrace_write.start(40, bits=32) + etrace_write.execs(0, 1, [(1, 2, 0xffffffff)], 32)
        self.assertEqual([(i.start, i.end) for i in etrace.Stream(data).of('exec')], [(2, 0xffffffff)])

    def test_cut(self):
        ends, last = set(), None
        for kind, _, _, at in etrace.packets(self.GOOD):
            if at >= 44 and last != etrace.EXEC:
                ends.add(at)
            last = kind
        self.refuses_cuts(etrace.Stream, self.GOOD, ends)
        for n in range(44, len(self.GOOD)):
            etrace.whole_prefix(self.GOOD[:n])

    def test_refused(self):
        start = etrace_write.start()
        for data, words in ((start[20:], 'begins with'), (start + start[:4], 'cut'),
                            (start + struct.pack('<HHI', 2, 0, 1 << 31), 'a packet of'),
                            (start + etrace_write.packet(99, 0, b''), 'packet of kind 99'),
                            (start + etrace_write.packet(1, 0, bytes(27)), 'EXEC of 27'),
                            (start + etrace_write.packet(1, 0, bytes(8)), 'no barrier'),
                            (start + etrace_write.execs(0, 0, [(1, 8, 4)]), 'EXEC of 0x8-0x4'),
                            (start + etrace_write.packet(4, 0, bytes(39)), 'MEM of 39'),
                            (start + etrace_write.packet(8, 0, bytes(36)), 'EVENT of 36'),
                            (start + etrace_write.packet(2, 0, bytes(31)), 'TB of 31'),
                            (start + etrace_write.packet(6, 0, b'x'), 'BARRIER of 1')):
            self.refused(etrace.Stream, data, words)

    def test_hostile(self):
        self.assertGreater(self.harmless(etrace.Stream, self.GOOD), len(self.GOOD))
        self.refused(etrace.Stream, etrace_write.start() + etrace_write.note(0, 0, b'\xff'), 'no text')

    def test_counts(self):
        data = etrace_write.start() + etrace_write.count(4, 8, 3) + etrace_write.count(6, 8, 2)
        self.assertEqual(etrace.counts(etrace.Stream(data), {4: 6, 6: 8}), {4: 3, 6: 5})
        self.refused(lambda d: etrace.counts(etrace.Stream(d), {4: 9}), data, 'ends inside')


# ---- execlog -----------------------------------------------------------------------------------------

def frame(data):
    """A zstd frame of one raw block."""
    return b'\x28\xb5\x2f\xfd\xa0' + struct.pack('<I', len(data)) + struct.pack('<I', len(data) << 3 | 1)[:3] + data


def chunk(kind, body=None, flags=0, vcpu=0, first=0, count=0, other=0, names=0, insn=0):
    packed = frame(body) if body is not None else b''
    head = struct.pack('<4sBBHIIIIQQQIII', b'GXCK', kind, flags, 0, 0, len(packed), len(body or b''), vcpu,
                       first, count, other, names, insn, 0)
    return head + struct.pack('<I', execlog.fnv1a(head)) + packed


def log(*chunks, flags=0):
    head = b'GTEXECL\n' + struct.pack('<HHI32s12x', 1, 0, flags, b'made')
    return head + struct.pack('<I', execlog.fnv1a(head)) + b''.join(chunks)


def text(word):
    return bytes([len(word)]) + word.encode()


# Block 1: two instructions, at 0x40 and 0x42, which are numbers 510 and 511; device 1; register 5 of 2 bytes.
DEFINED = chunk(1, b'\x01\x02\x80\x01\x11' + text('one') + b'\x04\x80\x01' + text('two') + b'\x02\x01' + text('RAM') +
                b'\x03\x05\x02' + text('r5'), first=1, count=1, names=2, insn=510)


class Execlog(ReaderCase):
    def read(self, data, values=False):
        return execlog.Log(data, values).text

    def whole(self, events, count, **more):
        return log(DEFINED, chunk(2, events, first=1, count=count), chunk(5, count=count), **more)

    def test_lines(self):
        # device 1, the block, a store at 16, 3 other bytes: a change, a load at -1 in the other one, the end
        events = b'\x13\x01' + b'\x40\x01' + b'\xc1\x20' + b'\x25\x01\x02' + b'\x89\x01' + b'\x15'
        self.assertEqual(self.read(self.whole(events, 2)), [
            '0, 0x40, 0x11, "one", store, 0x00000010, RAM, r5 -> 0x0001',
            '0, 0x42, 0x80, "two", load, 0xffffffffffffffff, RAM'])

    def test_values(self):
        events = b'\x40\x01' + b'\x81\x20' + b'\x01\x06' + b'\x80' + b'\x0f' + bytes(range(1, 17)) + b'\x10\x01\x15'
        line = '0, 0x40, 0x11, "one", load, 0x00000010{}, load, 0x00000010{}'
        self.assertEqual(self.read(self.whole(events, 1, flags=2), True),
                         [line.format(' = 0x3', ' = 0x100f0e0d0c0b0a090807060504030201')])
        self.assertEqual(self.read(self.whole(events, 1, flags=2)), [line.format('', '')])

    def test_ids(self):
        """A block's id in all sizes."""
        one = b'\x01\x01\x00\x11' + text('one')
        for ident, event in ((1, b'\x40\x01'), (0x1f02, b'\x5f\x02'), (0xf0203, b'\x6f\x02\x03'),
                             (0x7020304, b'\x77\x02\x03\x04'), (0x12020304, b'\x78\x12\x02\x03\x04'),
                             (0x1f02, b'\x11\x82\x3e\x00')):
            data = log(chunk(1, one, first=ident, count=1), chunk(2, event + b'\x15', first=1, count=1),
                       chunk(5, count=1))
            self.assertEqual(self.read(data), ['0, 0x0, 0x11, "one"'], hex(ident))
        self.assertEqual(self.read(self.whole(b'\x11\x01\x01\x15', 1)), ['0, 0x42, 0x80, "two"'])

    def test_waiting_lines(self):
        """A line goes on in the vCPU's next chunk; the end's line is there though it is empty."""
        more = chunk(2, b'\x12\x01\x00\xc1\x02\x16\x01\x15', flags=5, first=1, count=3)
        data = log(DEFINED, chunk(2, b'\x40\x01', flags=2, first=1), more, chunk(5, count=3))
        two = '0, 0x42, 0x80, "two"'
        self.assertEqual(self.read(data), ['0, 0x40, 0x11, "one", store, 0x00000001', two, two])
        self.assertEqual(self.read(self.whole(b'\x15', 1)), [''])

    def test_index(self):
        events = chunk(2, b'\x15', first=1, count=1)
        at = 64 + len(DEFINED)
        entries = b'\x40' + DEFINED[:64] + bytes([at & 127 | 128, at >> 7]) + events[:64]
        index = at + len(events)
        data = log(DEFINED, events, chunk(4, entries, first=1, count=1), chunk(5, first=index, count=1))
        self.assertEqual(self.read(data), [''])
        wrong = log(DEFINED, events, chunk(4, entries[:-1] + b'\0', first=1, count=1),
                    chunk(5, first=index, count=1))
        self.refused(self.read, wrong, 'index of another chunk')

    def test_cut(self):
        data = self.whole(b'\x40\x01\xc1\x20\x15', 2)
        self.read(data)
        self.refuses_cuts(self.read, data)
        self.assertGreater(self.harmless(self.read, data), len(data))

    def test_refused(self):
        for events, words in ((b'\x40\x02', 'no block 2'), (b'\x11\x01\x02', 'no instruction 2'),
                              (b'\x79', 'event 0x79'),
                              (b'\x17', 'event 0x17'), (b'\x40\x01\x10\x00', 'no longer'), (b'\x40', 'ends at'),
                              (b'\x40\x01\x16\x02', 'fewer instructions'), (b'\x13\x09\x40\x01\x80', 'no device 9'),
                              (b'\x40\x01\x21\x00', 'no register 1'), (b'\x40\x01\x25\x09', 'a register of 9'),
                              (b'\x40\x01\x80\x09', 'a value of 9'), (b'\x15\x12\x01\x00', 'in the middle'),
                              (b'\x13' + b'\xff' * 11, 'number'), (b'\x15', 'completes 1 lines, not 7')):
            self.refused(self.read, self.whole(events, 7), words)
        self.refused(self.read, log(DEFINED), 'has no end')
        self.refused(self.read, log(DEFINED[:32] + b'\2' + DEFINED[33:]), 'the check of a chunk')
        self.refused(self.read, log()[:60] + bytes(4), 'the check of the header')
        self.refused(self.read, log(chunk(5, count=1)), 'END of 1 lines, not 0')
        self.refused(self.read, log(chunk(2, b'\x15', flags=1, first=1, count=1), chunk(5, count=1)), 'needs a line')

    def test_random(self):
        """Events that nobody wrote."""
        chance = random.Random(1)
        for _ in range(3000):
            data = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 40)))
            try:
                self.read(self.whole(b'\x40\x01' + data, chance.randrange(4)))
            except Failure:
                pass


# ---- ELF ---------------------------------------------------------------------------------------------

def made_elf(wide, order):
    """A segment at 0x1000 with 8 bytes, .text, .symtab of one function and one local label, .strtab, a build-id."""
    names = b'\0.text\0.symtab\0.strtab\0.note.gnu.build-id\0'
    strings = b'\0main\0label\0'
    o, word = '<' if order == 1 else '>', 'Q' if wide else 'I'

    def symbol(name, addr, size, info, section):
        return struct.pack(o + 'IBBHQQ', name, info, 0, section, addr, size) if wide else \
            struct.pack(o + 'IIIBBH', name, addr, size, info, 0, section)
    symbols = symbol(0, 0, 0, 0, 0) + symbol(1, 0x1004, 4, 0x12, 1) + symbol(6, 0x1002, 0, 0, 1)
    ehsize, phsize, shsize = (64, 56, 64) if wide else (52, 32, 40)
    parts, at, offsets = [bytes(range(8)), names, strings, symbols, b'\0' * 16 + b'\xab\xcd'], ehsize + phsize, []
    for part in parts:
        offsets.append(at)
        at += len(part)

    def section(name, kind, flags, addr, part, link=0):
        return struct.pack(f'{o}II{word}{word}{word}{word}II{word}{word}', name, kind, flags, addr, offsets[part],
                           len(parts[part]), link, 0, 1, 0)
    sections = bytes(shsize) + section(1, 1, 6, 0x1000, 0) + section(7, 2, 0, 0, 3, 3) + section(15, 3, 0, 0, 2) + \
        section(1, 3, 0, 0, 1) + section(23, 7, 0, 0, 4)
    head = b'\x7fELF' + bytes([2 if wide else 1, order, 1]) + bytes(9) + struct.pack(
        f'{o}HHI{word}{word}{word}IHHHHHH', 2, 62, 1, 0x1004, ehsize, at, 0, ehsize, phsize, 1, shsize, 6, 4)
    if wide:
        head += struct.pack(o + 'IIQQQQQQ', 1, 5, offsets[0], 0x1000, 0x1000, 8, 16, 1)
    else:
        head += struct.pack(o + '8I', 1, offsets[0], 0x1000, 0x1000, 8, 16, 5, 1)
    return head + b''.join(parts) + sections


class Elf(ReaderCase):
    def read(self, data):
        file = elf.File(data)
        return file, list(file.symbols()), file.build_id()

    def test_fields(self):
        for wide in True, False:
            for order in 1, 2:
                file, symbols, build_id = self.read(made_elf(wide, order))
                self.assertEqual((file.kind, file.machine, file.entry, build_id), (2, 62, 0x1004, 'abcd'))
                self.assertEqual(symbols, [('main', 0x1004, 4, elf.STT_FUNC, elf.STB_GLOBAL, 1, elf.SHT_SYMTAB),
                                           ('label', 0x1002, 0, elf.STT_NOTYPE, elf.STB_LOCAL, 1, elf.SHT_SYMTAB)])
                self.assertEqual(file.loads()[0][3:], (0x1000, 8, 16))
                self.assertEqual([file.bytes_at(a, 4) for a in (0x1000, 0x1006, 0x1008, 0xfff)],
                                 [b'\0\1\2\3', b'\6\7', b'', b''])
                path = self.write('file', made_elf(wide, order))
                self.assertEqual(elf.symbols(path), {'main': 0x1004, 'label': 0x1002})
                self.assertEqual({s.name for s in elf.functions(path)}, {'main', 'label'})
                self.assertEqual(elf.code_of(path), (0x1000, bytes(range(8))))

    def test_damaged(self):
        for wide in True, False:
            data = made_elf(wide, 1)
            self.refuses_cuts(self.read, data)
            self.assertGreater(self.harmless(self.read, data), 0)
        self.refused(self.read, b'#!/bin/sh' + bytes(100), 'is no ELF file')


cases.main()
