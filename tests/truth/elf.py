# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of a 64-bit ELF file by link-time address, read without the code under test."""
import bisect
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import readelf  # noqa: E402

STT_NOTYPE, STT_FUNC, STT_IFUNC = 0, 2, 10
SHT_SYMTAB, SHT_DYNSYM, SHF_EXECINSTR = 2, 11, 4
PAGE = 4096


def cstring(table, at):
    return table[at:table.index(b'\0', at)].decode(errors='replace')


class Sections:
    """The section headers of one file: (name, type, flags, addr, offset, size, link)."""

    def __init__(self, data):
        self.data = data
        at, = struct.unpack_from('<Q', data, 40)
        size, count, names = struct.unpack_from('<HHH', data, 58)
        raw = [struct.unpack_from('<IIQQQQII', data, at + i * size) for i in range(count)]
        text = data[raw[names][4]:raw[names][4] + raw[names][5]] if count else b''
        self.all = [(cstring(text, r[0]), r[1], r[2], r[3], r[4], r[5], r[6]) for r in raw]

    def named(self, name):
        return next((s for s in self.all if s[0] == name), None)

    def build_id(self):
        note = self.named('.note.gnu.build-id')
        return self.data[note[4] + 16:note[4] + note[5]].hex() if note else ''

    def symbols(self):
        """(address, size, end of the section, type, name) of what may be a function."""
        for section in self.all:
            if section[1] not in (SHT_SYMTAB, SHT_DYNSYM):
                continue
            strings = self.all[section[6]]
            table = self.data[strings[4]:strings[4] + strings[5]]
            for at in range(section[4], section[4] + section[5], 24):
                name, info, _, index, addr, size = struct.unpack_from('<IBBHQQ', self.data, at)
                if 0 < index < len(self.all) and self.all[index][2] & SHF_EXECINSTR and \
                        info & 15 in (STT_NOTYPE, STT_FUNC, STT_IFUNC):
                    end = self.all[index][3] + self.all[index][5]
                    yield addr, size, end, info & 15, cstring(table, name)


class Elf:
    def __init__(self, path):
        self.path = path
        with open(path, 'rb') as f:
            self.data = f.read()
        at, = struct.unpack_from('<Q', self.data, 32)
        size, count = struct.unpack_from('<HH', self.data, 54)
        headers = [struct.unpack_from('<IIQQQQQQ', self.data, at + i * size) for i in range(count)]
        self.loads = [(h[3], h[2], h[5]) for h in headers if h[0] == 1]
        self.load_base = min(vaddr for vaddr, _, _ in self.loads) & -PAGE
        self.sections = Sections(self.data)
        self.plt = [(s[3], s[3] + s[5]) for s in self.sections.all if '.plt' in s[0] and s[2] & 4]
        self.names = {}
        self._read_symbols()

    def _read_symbols(self):
        tables = [self.sections]
        build_id = self.sections.build_id()
        debug = f'/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug'
        if build_id and os.path.exists(debug):
            with open(debug, 'rb') as f:
                tables.append(Sections(f.read()))
        self.stripped = not any(s[1] == SHT_SYMTAB for table in tables for s in table.all)
        sizes, limits, typed = {}, {}, {}
        for table in tables:
            for addr, size, limit, kind, name in table.symbols():
                if not name or (kind == STT_NOTYPE and name.startswith('.')):
                    continue
                self.names.setdefault(addr, set()).add(name)
                sizes[addr] = max(sizes.get(addr, 0), size)
                limits[addr] = limit
                typed[addr] = typed.get(addr, False) or kind != STT_NOTYPE
        # Labels inside a function that says its size are no functions.
        inside = 0
        for addr in sorted(sizes):
            if not typed[addr] and addr < inside:
                del self.names[addr], sizes[addr]
            elif typed[addr]:
                inside = max(inside, addr + sizes[addr])
        self._add_frames(sizes)
        self.starts = sorted(sizes)
        self.ends = [addr + sizes[addr] if sizes[addr] else limits[addr] for addr in self.starts]
        self.by_name = {n: addr for addr in self.starts for n in self.names.get(addr, ())}

    def _add_frames(self, sizes):
        """Functions of .eh_frame that begin in no symbol's code."""
        covered, symbols = 0, sorted(sizes)
        self.unnamed = set()
        for addr, size in sorted(readelf.Elf(self.path).frames()):
            while symbols and symbols[0] <= addr:
                covered = max(covered, symbols[0] + sizes[symbols[0]])
                if symbols[0] == addr:
                    sizes[addr] = sizes[addr] or size
                symbols.pop(0)
            if addr >= covered and addr not in sizes and not self.in_plt(addr):
                sizes[addr] = size
                self.unnamed.add(addr)

    def is_unnamed(self, addr):
        return addr in self.unnamed

    def function(self, addr):
        """The entry of the function around the address; None: of none. NAME.cold is NAME."""
        i = bisect.bisect_right(self.starts, addr) - 1
        if i < 0 or addr >= self.ends[i]:
            return None
        for name in self.names.get(self.starts[i], ()):
            if '.cold' in name and name[:name.index('.cold')] in self.by_name:
                return self.by_name[name[:name.index('.cold')]]
        return self.starts[i]

    def name(self, addr):
        """Every name of the function that begins there, the shortest first."""
        names = sorted(self.names.get(addr, ()), key=lambda n: (len(n), n))
        return '/'.join(names[:3]) or f'{addr:#x}'

    def in_plt(self, addr):
        return any(lo <= addr < hi for lo, hi in self.plt)

    def covers(self, addr):
        return any(vaddr <= addr < vaddr + size for vaddr, _, size in self.loads)

    def bytes_at(self, addr, size):
        for vaddr, offset, filesz in self.loads:
            if vaddr <= addr < vaddr + filesz:
                at = offset + addr - vaddr
                return self.data[at:at + size]
        return b''

    def text_start(self):
        return self.sections.named('.text')[3]

    def is_call(self, addr):
        """True where the instruction there is a call: E8, or FF /2 behind any prefixes."""
        code = self.bytes_at(addr, 16).lstrip(bytes([0xf2, 0x3e, 0x2e, 0x66, *range(0x40, 0x50)]))
        return code[:1] == b'\xe8' or (code[:1] == b'\xff' and code[1] >> 3 & 7 == 2)


_cache = {}


def load(path):
    """The file's functions; None: no such file."""
    if path not in _cache:
        _cache[path] = Elf(path) if os.path.isfile(path) else None
    return _cache[path]


def is_resolver(path, addr):
    elf = load(path)
    return bool(elf) and any(n.startswith('_dl_runtime_resolve') for n in elf.names.get(addr, ()))


NO_SYMBOLS = 'code without symbols', None


def caller(path, addr):
    """What a caller is called in comparisons: (object, entry of the function around the address).
    Code without symbols is all one: a part that the compiler moved has no name that says whose."""
    elf = load(path)
    if not elf or elf.stripped:
        return NO_SYMBOLS
    return path, elf.function(addr)
