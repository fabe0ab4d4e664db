# SPDX-License-Identifier: GPL-2.0-or-later
"""What readelf prints of an ELF file: segments, sections, symbols, the functions of .eh_frame."""
import re

from gttest.commands import printed

SYMBOL = re.compile(r"^\s*\d+: ([0-9a-f]+)\s+(0x[0-9a-f]+|\d+) (\w+)\s+(\w+)\s+\w+\s+"
                    r"(?:\[[^]]*\]\s+)?(\w+)(?: (.*))?$")
FDE = re.compile(r"^[0-9a-f]+ \w+ [0-9a-f]+ FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)$")
CIE = re.compile(r"^([0-9a-f]+) \w+ \w+ CIE$")
# what a frame that is there already begins with: a part of a function
PART = re.compile(r"^  DW_CFA_(def_cfa|offset)")


class Elf:
    """What readelf says of a file; addresses relative to the lowest page that is loaded."""

    def __init__(self, path, base=None):
        self.path = path
        self.loads, self.sections, self.symbols = [], {}, []
        for line in printed(["readelf", "-lSsW", path]).splitlines():
            m = re.match(r"\s*LOAD\s+0x\w+ 0x(\w+) 0x\w+ 0x\w+ 0x(\w+) (...)", line)
            if m:
                self.loads.append((int(m[1], 16), int(m[2], 16), "E" in m[3]))
            m = re.match(r"\s*\[\s*(\d+)\] (\S*)\s+([A-Z][\w+]+)\s+(\w+) \w+ (\w+) \w+\s+(\w*)\s", line)
            if m:
                self.sections[int(m[1])] = (m[2], int(m[4], 16), int(m[5], 16), "X" in m[6])
            m = re.match(r"Symbol table '(\S+)'", line)
            if m:
                table = m[1]
            m = SYMBOL.match(line)
            if m:
                self.symbols.append((table, int(m[1], 16), int(m[2], 0), m[3], m[4], m[5], m[6] or ""))
        if base is None:
            base = min(v for v, _, _ in self.loads) & ~0xfff
        self.base = base

    def frames(self):
        """[(begin, size)] of the functions of .eh_frame."""
        found, ours, begins, signal, cie = [], False, False, set(), None
        for line in printed(["readelf", "--debug-dump=no-follow-links", "--debug-dump=frames",
                             self.path]).splitlines():
            if line.startswith("Contents of"):
                ours = ".eh_frame " in line
            elif not ours:
                continue
            elif CIE.match(line):
                cie, begins = CIE.match(line)[1], False
            elif FDE.match(line):
                m = FDE.match(line)
                lo, hi = int(m[2], 16), int(m[3], 16)
                begins = lo < hi and int(m[1], 16) not in signal
                if begins:
                    found.append((lo, hi - lo))
            elif re.match(r'  Augmentation: +"z\w*S', line):
                signal.add(int(cie, 16))
            elif begins and line.startswith("  DW_CFA_") and "nop" not in line and \
                    "negate_ra_state" not in line and "window_save" not in line:
                if PART.match(line):
                    found.pop()
                begins = False
        return found

    def section_end(self, number, addr):
        name, lo, size, _ = self.sections.get(int(number) if number.isdigit() else -1, ("", 0, 0, False))
        return lo + size if lo <= addr < lo + size else None
