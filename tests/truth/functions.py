# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of a 64-bit ELF file by link-time address, read without the code under test."""
import bisect
import os
import re

from gttest import elf, readelf
from gttest.commands import printed
from gttest.elf import SHT_SYMTAB, STT_FUNC, STT_IFUNC, STT_NOTYPE

PAGE = 4096


def functions_of(file):
    """(address, size, end of the section, type, name) of what may be a function."""
    for s in file.symbols():
        if s.name and 0 < s.section < len(file.sections) and s.kind in (STT_NOTYPE, STT_FUNC, STT_IFUNC):
            section = file.sections[s.section]
            if section.flags & elf.SHF_EXECINSTR:
                yield s.addr, s.size, section.addr + section.size, s.kind, s.name


class Elf:
    def __init__(self, path):
        self.path = path
        self.file = elf.read(path)
        self.loads = [(s.vaddr, s.offset, s.filesz) for s in self.file.loads()]
        self.load_base = min(vaddr for vaddr, _, _ in self.loads) & -PAGE
        self.plt = [(s.addr, s.addr + s.size) for s in self.file.sections
                    if '.plt' in s.name and s.flags & elf.SHF_EXECINSTR]
        self.names = {}
        self._read_symbols()

    def _read_symbols(self):
        files = [self.file]
        build_id = self.file.build_id()
        debug = f'/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug'
        if build_id and os.path.exists(debug):
            files.append(elf.read(debug))
        self.stripped = not any(s.kind == SHT_SYMTAB for file in files for s in file.sections)
        sizes, limits, typed = {}, {}, {}
        for file in files:
            for addr, size, limit, kind, name in functions_of(file):
                if kind == STT_NOTYPE and name.startswith('.'):
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
        return self.file.bytes_at(addr, size)

    def text_start(self):
        return self.file.named('.text').addr

    def is_call(self, addr):
        """True where the instruction there is a call: E8, or FF /2 behind any prefixes."""
        code = self.bytes_at(addr, 16).lstrip(bytes([0xf2, 0x3e, 0x2e, 0x66, *range(0x40, 0x50)]))
        return code[:1] == b'\xe8' or (code[:1] == b'\xff' and code[1] >> 3 & 7 == 2)


def runs_on(path, addr, entry):
    """Whether the function at addr runs on into the one at entry, without a jump or a return before it."""
    if not addr < entry:
        return False
    text = printed(['objdump', '-d', '--no-show-raw-insn', f'--start-address={addr:#x}', f'--stop-address={entry:#x}',
                    path])
    insns = [word for word in re.findall(r'^ +[0-9a-f]+:\t(?:(?:bnd|notrack|data16|cs) )*(\w+)', text, re.M)
             if not word.startswith(('nop', 'xchg'))]
    return bool(insns) and not insns[-1].startswith(('ret', 'jmp', 'hlt', 'ud2', 'call'))


_cache = {}


def load(path):
    """The file's functions; None: no such file."""
    if path not in _cache:
        _cache[path] = Elf(path) if os.path.isfile(path) else None
    return _cache[path]


def is_resolver(path, addr):
    file = load(path)
    return bool(file) and any(n.startswith('_dl_runtime_resolve') for n in file.names.get(addr, ()))


NO_SYMBOLS = 'code without symbols', None


def caller(path, addr):
    """What a caller is called in comparisons: (object, entry of the function around the address).
    Code without symbols is all one: a part that the compiler moved has no name that says whose."""
    file = load(path)
    if not file or file.stripped:
        return NO_SYMBOLS
    return path, file.function(addr)
