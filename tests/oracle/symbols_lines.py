# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of functions as symbols_tool --functions prints them, compared with the rows that readelf decodes."""
import os
import re

DWARF = [("-gdwarf-2",), ("-gdwarf-3", "-O2"), ("-gdwarf-4",), ("-gdwarf-5", "-O2"), ("-g", "-O3", "-flto"),
        ("-gdwarf-4", "-O0", "-static"), ("-g", "-gz"), ("-gdwarf-4", "-gz=zlib", "-O2"), ("-g", "-gdwarf64"),
        ("-g", "-no-pie", "-ffunction-sections", "-Wl,--gc-sections"), ("-gdwarf-4", "-fdebug-types-section")]
ROW = re.compile(r"^(\S+) +(\d+|-) +(0x[0-9a-f]+)", re.MULTILINE)


def rows_of(text):
    """(address, line, base name) of each row that is of a line."""
    return [(int(address, 16), int(line), os.path.basename(name)) for name, line, address in ROW.findall(text)
            if line not in "-0"]


def numbers_of(lines):
    """10-12,20: the set."""
    ends = [part.partition("-") for part in lines.split(",")]
    return {n for first, _, last in ends for n in range(int(first), int(last or first) + 1)}


def compare_lines(found, rows):
    """What is said of each function, what the rows say, and how many functions have a row at their entry."""
    rows, starts, seen, ours, theirs = rows_of(rows), {}, 0, {}, {}
    found = [line.split(" ", 4) for line in found]
    for _, _, line, _, file in found:
        starts.setdefault(file, set()).add(int(line))
    for lo, hi, line, lines, file in found:
        lo, hi, line, base, mine = int(lo, 16), int(hi, 16), int(line), os.path.basename(file), numbers_of(lines)
        entry = [(r[1], r[2]) for r in rows if r[0] == lo]
        own = {r[1] for r in rows if lo <= r[0] < hi and r[2] == base}
        seen += bool(entry)
        ours[lo] = (line, base, own - mine, file[0])
        theirs[lo] = (*(entry or [(line, base)])[0], set(), "/")
        # between two lines, where no other function begins
        for a, b in zip(sorted(own), sorted(own)[1:]):
            gap, between = any(a < s <= b for s in starts[file]), set(range(a + 1, b))
            if (gap and between & mine) or (not gap and not between <= mine):
                ours[lo] += (a, b)
    return ours, theirs, seen
