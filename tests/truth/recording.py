# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of calls from a uftrace data directory, decoded here."""
import collections
import glob
import os
import re
import struct

import elf

ENTRY, EXIT = 0, 1
MAP = re.compile(r'([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \S+ (\S+)')
DLOP = re.compile(r'DLOP timestamp=(\d+)\.(\d+) \S+ \S+ base=([0-9a-f]+) libname="([^"]+)"')


class Bad(Exception):
    pass


class Recording:
    def __init__(self, path):
        self.path = path
        self.maps, self.loads = [], []
        for name in glob.glob(f'{path}/sid-*.map'):
            with open(name, encoding='utf-8') as f:
                for m in map(MAP.match, f):
                    if m and m[3].startswith('/'):
                        self.maps.append((int(m[1], 16), int(m[2], 16), os.path.realpath(m[3])))
        with open(f'{path}/task.txt', encoding='utf-8') as f:
            for m in filter(None, map(DLOP.match, f)):
                time = int(m[1]) * 10**9 + int(m[2])
                self.loads.append((time, int(m[3], 16), os.path.realpath(m[4])))
        with open(f'{path}/guesttrace.stats', encoding='utf-8') as f:
            self.stats = {k: int(v) for k, v in (line.strip().split('=') for line in f)}

    def streams(self):
        """{task id: bytes of its records}."""
        result = {}
        for name in glob.glob(f'{self.path}/[0-9]*.dat'):
            with open(name, 'rb') as f:
                result[int(os.path.basename(name)[:-4])] = f.read()
        return result

    def where(self, addr, time):
        """(object, link-time address)."""
        found = [(start, path) for start, end, path in self.maps if start <= addr < end] or \
            [(base, path) for loaded, base, path in self.loads
             if loaded <= time and base <= addr < base + span(path)]
        if not found:
            return '???', addr
        base, path = found[-1]
        return path, addr - base + elf.load(path).load_base

    def calls(self):
        """{(caller, callee): calls}, each an (object, link-time address of the entry); a caller is
        None where nobody called. The discipline of the records is checked on the way."""
        counts = collections.Counter()
        for tid, data in self.streams().items():
            pairs = collections.Counter()
            for time, callers, callee in pairs_of(f'{tid}.dat', data):
                pairs[callers, callee, time if self.loads else 0] += 1
            for (callers, callee, time), n in pairs.items():
                counts[self.caller(callers, time), self.where(callee, time)] += n
        return counts

    def caller(self, callers, time):
        """The dynamic linker's resolver goes on to the function on behalf of its own caller."""
        for addr in callers:
            place = addr and self.where(addr, time)
            if len(callers) == 1 or not place or not elf.is_resolver(*place):
                return place
        return None


def pairs_of(name, data):
    """(time, callers, callee) of each ENTRY: run-time addresses, or None. An EXIT with an ENTRY at the
    same instruction is a tail call: callers are the function that gave way, and who had called it."""
    if len(data) % 16:
        raise Bad(f'{name}: a cut record')
    stack, last, left = [], 0, None
    for time, word in struct.iter_unpack('<QQ', data):
        if time < last:
            raise Bad(f'{name}: time {time} after {last}')
        if time != last:
            left = None
        last = time
        addr, depth = word >> 16, word >> 6 & 1023
        if word >> 2 & 15 != 10:
            raise Bad(f'{name}: bad record {word:#x}')
        if word & 3 == ENTRY:
            if depth != len(stack) & 1023:
                raise Bad(f'{name}: an ENTRY of depth {depth} with {len(stack)} calls open')
            callers = left or (stack[-1][:1] if stack else (None,))
            yield time, callers, addr
            stack.append((addr, callers[0]))
            left = None
        elif word & 3 == EXIT and stack and depth == len(stack) - 1 & 1023 and stack[-1][0] == addr:
            left = stack.pop()
        else:
            raise Bad(f'{name}: record {word:#x} is no EXIT of the innermost open call')
    if stack:
        raise Bad(f'{name}: {len(stack)} calls are open at the end')


def span(path):
    return max(vaddr + size for vaddr, _, size in elf.load(path).loads)
