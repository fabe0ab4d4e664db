# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a uftrace data directory as trees of calls, by the files alone.

An address is named as uftrace names it: by the session's map (or a library's line in task.txt that is
not later than the record), the module's .sym file and the relative address.
"""
import array
import bisect
import collections
import glob
import os
import re
import struct

Call = collections.namedtuple('Call', 'kind time depth addr')
KINDS = {0: 'enter', 1: 'leave'}


class Symbols:
    """One .sym file."""

    def __init__(self, path):
        self.addrs, self.names, self.types = [], [], []
        self.path = None
        with open(path, encoding='utf-8') as f:
            for line in f:
                if line.startswith('# path name: '):
                    self.path = line[13:].strip()
                if line.startswith('#'):
                    continue
                addr, kind, name = line.rstrip('\n').split(' ', 2)
                self.addrs.append(int(addr, 16))
                self.types.append(kind)
                self.names.append(name[:-2] if name.endswith('()') else name)

    def name(self, rel):
        i = bisect.bisect_right(self.addrs, rel) - 1
        if i < 0 or self.types[i] == '?':
            return None
        return self.names[i]


class Trace:
    def __init__(self, directory):
        self.directory = directory
        self.symbols = {}
        for path in glob.glob(glob.escape(directory) + '/*.sym'):
            s = Symbols(path)
            self.symbols[s.path] = s
        self.sessions = []   # (time, pid, sid, exename)
        self.pid_of = {}     # tid -> pid of its last TASK or FORK line
        self.parents = {}    # forked child -> parent
        self.libraries = []  # (time, sid, base, path)
        self.lines = []
        self._read_tasks()
        self.maps = {sid: self._read_map(sid) for _, _, sid, _ in self.sessions}
        self.stats = self._read_stats()
        self.known = {}      # (tid, addr) -> name(), where that does not depend on the time

    def _read_tasks(self):
        with open(f'{self.directory}/task.txt', encoding='utf-8') as f:
            self.lines = f.read().splitlines()
        for line in self.lines:
            word = dict(re.findall(r'(\w+)=("[^"]*"|\S+)', line))
            second, ns = word['timestamp'].split('.')
            time = int(second) * 10**9 + int(ns)
            if line.startswith('SESS'):
                self.sessions.append((time, int(word['pid']), word['sid'], word['exename'][1:-1]))
            elif line.startswith('TASK'):
                self.pid_of[int(word['tid'])] = int(word['pid'])
            elif line.startswith('FORK'):
                self.pid_of[int(word['pid'])] = int(word['pid'])
                self.parents[int(word['pid'])] = int(word['ppid'])
            elif line.startswith('DLOP'):
                self.libraries.append((time, word['sid'], int(word['base'], 16),
                                       word['libname'][1:-1]))

    def _read_map(self, sid):
        rows = []
        with open(f'{self.directory}/sid-{sid}.map', encoding='utf-8') as f:
            for line in f:
                span, _, _, _, _, path = line.split()[:6]
                lo, hi = (int(x, 16) for x in span.split('-'))
                if path != '[stack]':
                    rows.append((lo, hi, path))
        return rows

    def _read_stats(self):
        path = f'{self.directory}/guesttrace.stats'
        if not os.path.exists(path):
            return {}
        with open(path, encoding='utf-8') as f:
            return {k: int(v) for k, v in (line.strip().split('=') for line in f)}

    def _session(self, tid, time):
        pid = self.pid_of.get(tid, tid)
        seen = set()
        while pid not in seen:
            seen.add(pid)
            mine = [s for s in self.sessions if s[1] == pid and s[0] <= time]
            if mine:
                return mine[-1][2]
            pid = self.parents.get(pid, pid)
        return None

    def name(self, tid, time, addr):
        """(module's path, function); (None, hex) where nothing is known."""
        if self.libraries or len(self.sessions) > 1:
            return self._find_name(tid, time, addr)
        if (tid, addr) not in self.known:
            self.known[tid, addr] = self._find_name(tid, time, addr)
        return self.known[tid, addr]

    def _find_name(self, tid, time, addr):
        sid = self._session(tid, time)
        for lo, hi, path in self.maps.get(sid, []):
            if lo <= addr < hi:
                found = self.symbols[path].name(addr - lo) if path in self.symbols else None
                return path, found or f'{addr:#x}'
        loaded = [l for l in self.libraries if l[1] == sid and l[0] <= time and l[2] <= addr]
        if loaded:
            _, _, base, path = max(loaded, key=lambda l: (l[2], l[0]))
            found = self.symbols[path].name(addr - base) if path in self.symbols else None
            return path, found or f'{addr:#x}'
        return None, f'{addr:#x}'

    def tids(self):
        return sorted(int(os.path.basename(p)[:-4])
                      for p in glob.glob(glob.escape(self.directory) + '/*.dat')
                      if os.path.basename(p)[:-4].isdigit())

    def records(self, tid):
        with open(f'{self.directory}/{tid}.dat', 'rb') as f:
            data = f.read()
        for time, word in struct.iter_unpack('<QQ', data[:len(data) & ~15]):
            if word & 3 in KINDS:
                yield Call(KINDS[word & 3], time, word >> 6 & 1023, word >> 16)

    def counts(self, tid):
        """How often each call and return was recorded: {(kind, depth, address): times}."""
        with open(f'{self.directory}/{tid}.dat', 'rb') as f:
            data = f.read()
        words = collections.Counter(array.array('Q', data[:len(data) & ~15])[1::2])
        return {(KINDS[word & 3], word >> 6 & 1023, word >> 16): n for word, n in words.items()
                if word & 3 in KINDS}

    def tree(self, tid, own):
        """Lines of the task's calls of functions for which own(path, name) holds, each indented by
        how many such calls are open."""
        lines, open_calls = [], []
        for call in self.records(tid):
            if call.kind == 'enter':
                path, name = self.name(tid, call.time, call.addr)
                mine = own(path, name)
                if mine:
                    lines.append('  ' * sum(open_calls) + name)
                open_calls.append(mine)
            elif open_calls:
                open_calls.pop()
        return lines
