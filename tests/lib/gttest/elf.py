# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads ELF files, of 32 and 64 bits and both byte orders: segments, sections, symbols, the build-id. What lies
outside of the file raises Failure."""
import collections
import struct

from gttest.results import Failure, need, read_bytes

PT_LOAD = 1
SHT_SYMTAB, SHT_DYNSYM, SHT_NOBITS = 2, 11, 8
SHF_EXECINSTR = 4
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE, STT_IFUNC = 0, 1, 2, 3, 4, 10
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
Segment = collections.namedtuple('Segment', 'kind flags offset vaddr filesz memsz')
Section = collections.namedtuple('Section', 'name kind flags addr offset size link entsize')
Symbol = collections.namedtuple('Symbol', 'name addr size kind binding section table')


class File:
    """The headers are read; symbols() reads the tables."""

    def __init__(self, data, name='ELF file'):
        self.data, self.name = data, name
        need(data[:4] == b'\x7fELF' and len(data) >= 52, name, 'is no ELF file')
        need(data[4] in (1, 2) and data[5] in (1, 2), name, 'class and byte order', data[4], data[5])
        self.wide, self.order = data[4] == 2, '<' if data[5] == 1 else '>'
        word = 'Q' if self.wide else 'I'
        (self.kind, self.machine, _, self.entry, phoff, shoff, _, _, phsize, phnum, shsize, shnum,
         names) = self.unpack(f'HHI{word}{word}{word}IHHHHHH', 16)
        self.segments = [self.segment(phoff + i * phsize) for i in range(phnum)]
        raw = [self.unpack('IIQQQQIIQQ' if self.wide else '10I', shoff + i * shsize) for i in range(shnum)]
        text = self.bytes(raw[names][4], raw[names][5]) if names < shnum else b''
        self.sections = [Section(self.string(text, r[0]) if text else '', r[1], r[2], r[3], r[4], r[5], r[6], r[9])
                         for r in raw]

    def unpack(self, form, at):
        form = self.order + form
        need(0 <= at <= len(self.data) - struct.calcsize(form), self.name, 'ends before offset', at)
        return struct.unpack_from(form, self.data, at)

    def bytes(self, at, size):
        need(0 <= at and 0 <= size and at + size <= len(self.data), self.name, 'ends before offset', at + size)
        return self.data[at:at + size]

    def string(self, table, at):
        need(0 <= at < len(table) and b'\0' in table[at:], self.name, 'has no string at', at)
        return table[at:table.index(b'\0', at)].decode(errors='replace')

    def segment(self, at):
        if self.wide:
            kind, flags, offset, vaddr, _, filesz, memsz, _ = self.unpack('IIQQQQQQ', at)
        else:
            kind, offset, vaddr, _, filesz, memsz, flags, _ = self.unpack('8I', at)
        return Segment(kind, flags, offset, vaddr, filesz, memsz)

    def loads(self):
        return [s for s in self.segments if s.kind == PT_LOAD]

    def named(self, name):
        return next((s for s in self.sections if s.name == name), None)

    def contents(self, section):
        return b'' if section.kind == SHT_NOBITS else self.bytes(section.offset, section.size)

    def build_id(self):
        """Hex digits, or nothing."""
        note = self.named('.note.gnu.build-id')
        return self.contents(note)[16:].hex() if note else ''

    def symbols(self):
        """Those of all tables but the empty one."""
        form = 'IBBHQQ' if self.wide else 'IIIBBH'
        size = struct.calcsize(self.order + form)
        for table in self.sections:
            if table.kind not in (SHT_SYMTAB, SHT_DYNSYM):
                continue
            need(table.link < len(self.sections), self.name, 'has no section', table.link)
            strings = self.contents(self.sections[table.link])
            for at in range(table.offset + size, table.offset + table.size, size):
                row = self.unpack(form, at)
                name, info, _, index, addr, length = row if self.wide else (row[0], *row[3:], *row[1:3])
                yield Symbol(self.string(strings, name), addr, length, info & 15, info >> 4, index, table.kind)

    def bytes_at(self, addr, size):
        """What the file has at an address; less, or nothing, where it has less."""
        for s in self.loads():
            if s.vaddr <= addr < s.vaddr + s.filesz:
                at = s.offset + addr - s.vaddr
                return self.data[at:min(at + size, s.offset + s.filesz)]
        return b''


def read(path):
    return File(read_bytes(path), path)


def defined(path):
    """The symbols of sections that a file defines, as nm lists them: none of sections and source files."""
    return [s for s in read(path).symbols() if s.section and s.kind not in (STT_SECTION, STT_FILE) and s.name]


def symbols(path):
    """{name: address}"""
    return {s.name: s.addr for s in defined(path) if s.table == SHT_SYMTAB}


def functions(path):
    """[Symbol] in executable sections, whatever their type; none of those that assemblers make ($x, .L)."""
    file = read(path)
    return [s for s in file.symbols() if s.name and s.name[0] not in '$.' and
            s.kind in (STT_NOTYPE, STT_FUNC, STT_IFUNC) and 0 < s.section < len(file.sections) and
            file.sections[s.section].flags & SHF_EXECINSTR]


def code_of(path):
    """(address, bytes) of the segment that is executed."""
    file = read(path)
    for s in file.loads():
        if s.flags & 1:
            return s.vaddr, file.bytes(s.offset, s.filesz)
    raise Failure(f'{path}: no code')
