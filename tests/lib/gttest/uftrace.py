# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads uftrace's data directory: records, task.txt, maps, symbols, info, COMM records, and guesttrace's counters.

The formats are those of docs/formats/uftrace.md. A record is two little-endian words of 64 bits: the time; and
type (2 bits), more (1), 5 (3 bits), depth (10), address (48). What is not of that form raises Failure.

An address is named as uftrace names it: by the session's map (or a library's line in task.txt that is not later than
the record), the module's .sym file and the relative address.
"""
import array
import bisect
import collections
import glob
import os
import re
import struct
import sys

from gttest.results import Failure, need, read_bytes, read_text

ENTRY, EXIT, LOST, EVENT = range(4)
SCHED_IN, SCHED_OUT = 200001, 200002  # events: a task goes on, is suspended
VCPU = 1001000  # event, plus its number: a task goes on on that one
KINDS = {ENTRY: 'enter', EXIT: 'leave'}
MAGIC = 5
DEPTHS = 1023                # depths are masked with it
SIZE = 16                    # of a record
LAST = 1 << 63               # a time after all records
PAYLOAD = {100005: 16, 100006: 16, 100011: 8}  # bytes after uftrace's own events that have arguments
Call = collections.namedtuple('Call', 'kind time depth addr')
Line = collections.namedtuple('Line', 'kind time fields')  # of task.txt


# ---- records -----------------------------------------------------------------------------------------

def read_records(data, name='records', cut_ok=True):
    """(time, kind, depth, address, offset) of each record. A file may end anywhere, unless cut_ok is False."""
    at, last, unpack = 0, len(data) - SIZE, struct.Struct('<QQ').unpack_from
    while at <= last:
        time, word = unpack(data, at)
        kind = word & 3
        if word >> 3 & 7 != MAGIC:
            raise Failure(f'{name} offset {at}: magic {word >> 3 & 7}')
        yield time, kind, word >> 6 & DEPTHS, word >> 16, at
        at += SIZE
        if word & 4:
            need(kind == EVENT and word >> 16 in PAYLOAD, f'{name} offset {at - SIZE}:', 'arguments')
            at += PAYLOAD[word >> 16]
    need(cut_ok or at == len(data), f'{name}: the last record is cut')


def words_of(data):
    """The second words of records without arguments, for counting millions of them."""
    words = array.array('Q', data[:len(data) & ~(SIZE - 1)])[1::2]
    if sys.byteorder == 'big':
        words.byteswap()
    return words


def count_calls(data):
    """How often each call and return was recorded: {(kind, depth, address): times}."""
    words = collections.Counter(words_of(data))
    return {(KINDS[word & 3], word >> 6 & DEPTHS, word >> 16): n for word, n in words.items()
            if word & 3 in KINDS}


def tids_of(directory):
    """The tasks that have a file of records."""
    names = (os.path.basename(p)[:-4] for p in glob.glob(glob.escape(directory) + '/*.dat'))
    return sorted(int(name) for name in names if name.isdigit())


# ---- text files --------------------------------------------------------------------------------------

TASK_LINE = re.compile(
    r'(SESS) timestamp=(\d+)\.(\d{9}) pid=(\d+) sid=([0-9a-f]{16}) exename="([^"]+)"'
    r'|(TASK) timestamp=(\d+)\.(\d{9}) tid=(\d+) pid=(\d+)'
    r'|(FORK) timestamp=(\d+)\.(\d{9}) pid=(\d+) ppid=(\d+)'
    r'|(DLOP) timestamp=(\d+)\.(\d{9}) tid=(\d+) sid=([0-9a-f]{16}) base=([0-9a-f]+) libname="([^"]+)"')
FIELDS = {'SESS': ('pid', 'sid', 'exename'), 'TASK': ('tid', 'pid'), 'FORK': ('pid', 'ppid'),
          'DLOP': ('tid', 'sid', 'base', 'libname')}
NUMBERS = {'pid': 10, 'ppid': 10, 'tid': 10, 'base': 16}
MAP_LINE = re.compile(r'([0-9a-f]+)-([0-9a-f]+) .{4} [0-9a-f]+ \S+ \d+ +(\S+)(?: build-id:[0-9a-f]*)?$')
SYMBOL_LINE = re.compile(r'([0-9a-f]{16}) (?:[0-9a-f]{8} )?(\S) (.+)$')  # uftrace 0.17 writes sizes, too


def read_task_text(text):
    """[Line] of task.txt. pid, ppid, tid and base are numbers."""
    need(not text or text.endswith('\n'), 'task.txt: the last line is cut')
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        match = TASK_LINE.fullmatch(line)
        need(match, f'task.txt line {number}: {line!r}')
        kind, second, ns, *values = (g for g in match.groups() if g is not None)
        fields = {k: int(v, NUMBERS[k]) if k in NUMBERS else v for k, v in zip(FIELDS[kind], values)}
        lines.append(Line(kind, int(second) * 10**9 + int(ns), fields))
    return lines


def read_tasks(directory):
    return read_task_text(read_text(f'{directory}/task.txt'))


def read_map_text(text, name='map'):
    """[(first address, first one after it, path)] of a sid-ID.map, the stack's line included."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        match = MAP_LINE.match(line)
        need(match, f'{name} line {number}: {line!r}')
        rows.append((int(match[1], 16), int(match[2], 16), match[3]))
    return rows


def read_map(directory, sid):
    path = f'{directory}/sid-{sid}.map'
    return read_map_text(read_text(path), path)


def modules_of(directory, sid):
    """A map without the stack."""
    return [row for row in read_map(directory, sid) if row[2] != '[stack]']


class Symbols:
    """One .sym file: addresses relative to the module, their types and names."""

    def __init__(self, text, name='symbols'):
        self.addrs, self.types, self.names = [], [], []
        self.path = None
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith('# path name: '):
                self.path = line[13:].strip()
            if line.startswith('#'):
                continue
            match = SYMBOL_LINE.match(line)
            need(match, f'{name} line {number}: {line!r}')
            need(not self.addrs or int(match[1], 16) > self.addrs[-1],
                 f'{name} line {number}: not after the one before')
            self.addrs.append(int(match[1], 16))
            self.types.append(match[2])
            self.names.append(match[3].removesuffix('()'))

    def name(self, rel):
        i = bisect.bisect_right(self.addrs, rel) - 1
        return None if i < 0 or self.types[i] == '?' else self.names[i]

    def functions(self):
        """{relative address: name}"""
        return {a: n for a, t, n in zip(self.addrs, self.types, self.names) if t != '?'}


def read_symbols(path):
    return Symbols(read_text(path), path)


def read_info(data):
    """(features, mask of the sections, [lines of text]) of an info file."""
    need(data[:8] == b'Ftrace!\0', 'info: bad magic')
    need(len(data) >= 40, 'info: the header is cut')
    version, size, endian, _, features, mask, _ = struct.unpack('<IHBBQQH', data[8:34])
    need((version, size, endian) == (4, 40, 1), 'info: bad header', version, size, endian)
    return features, mask, data[40:].decode().split('\n')


def task_info(lines):
    """{key: value} of the lines taskinfo: of an info file."""
    return dict(re.split('[:=]', line[9:], maxsplit=1) for line in lines if line.startswith('taskinfo:'))


def read_comms(data):
    """[(pid, tid, name)] of a perf-cpuN.dat: u32 type 3, u16 misc, u16 size, u32 pid, u32 tid, the name padded."""
    found, at = [], 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from('<I2xH', data, at)
        need(size >= 8, f'perf data offset {at}: a record of {size} bytes')
        if kind == 3:
            need(at + size <= len(data) and size >= 16, f'perf data offset {at}: a COMM record is cut')
            pid, tid = struct.unpack_from('<II', data, at + 8)
            found.append((pid, tid, data[at + 16:at + size].split(b'\0')[0].decode(errors='replace')))
        at += size
    return found


def comms(directory):
    """read_comms(), or nothing where the recording has no such file."""
    path = f'{directory}/perf-cpu0.dat'
    return read_comms(read_bytes(path)) if os.path.exists(path) else []


def stats(directory):
    """{counter: value} of guesttrace.stats; empty where there is none."""
    path = f'{directory}/guesttrace.stats'
    if not os.path.exists(path):
        return {}
    return {k: int(v) if v.isdigit() else v for k, v in (line.split('=', 1) for line in read_text(path).splitlines())}


# ---- a recording -------------------------------------------------------------------------------------

class Trace:
    """A directory, its addresses named."""

    def __init__(self, directory):
        self.directory = directory
        self.symbols = {}
        for path in glob.glob(glob.escape(directory) + '/*.sym'):
            s = read_symbols(path)
            self.symbols[s.path] = s
        self.sessions = []   # (time, pid, sid, exename)
        self.pid_of = {}     # tid -> pid of its last TASK or FORK line
        self.parents = {}    # forked child -> parent
        self.libraries = []  # (time, sid, base, path)
        self._read_tasks()
        self.maps = {sid: modules_of(directory, sid) for _, _, sid, _ in self.sessions}
        self.stats = stats(directory)
        self.known = {}      # (tid, addr) -> name(), where that does not depend on the time

    def _read_tasks(self):
        for kind, time, word in read_tasks(self.directory):
            if kind == 'SESS':
                self.sessions.append((time, word['pid'], word['sid'], word['exename']))
            elif kind == 'TASK':
                self.pid_of[word['tid']] = word['pid']
            elif kind == 'FORK':
                self.pid_of[word['pid']] = word['pid']
                self.parents[word['pid']] = word['ppid']
            else:
                self.libraries.append((time, word['sid'], word['base'], word['libname']))

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
                return path, self._symbol(path, addr - lo) or f'{addr:#x}'
        loaded = [l for l in self.libraries if l[1] == sid and l[0] <= time and l[2] <= addr]
        if loaded:
            _, _, base, path = max(loaded, key=lambda l: (l[2], l[0]))
            return path, self._symbol(path, addr - base) or f'{addr:#x}'
        return None, f'{addr:#x}'

    def _symbol(self, path, rel):
        return self.symbols[path].name(rel) if path in self.symbols else None

    def tids(self):
        return tids_of(self.directory)

    def data(self, tid):
        return read_bytes(f'{self.directory}/{tid}.dat')

    def records(self, tid):
        """The calls and returns of a task."""
        for time, kind, depth, addr, _ in read_records(self.data(tid), f'{tid}.dat'):
            if kind in KINDS:
                yield Call(KINDS[kind], time, depth, addr)

    def counts(self, tid):
        return count_calls(self.data(tid))

    def calls_of(self, name):
        """How often a function of that name was entered, by all tasks."""
        return sum(times for tid in self.tids() for (kind, _, addr), times in self.counts(tid).items()
                   if kind == 'enter' and self.name(tid, LAST, addr)[1] == name)

    def tree(self, tid, own=lambda path, name: True):
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


def check_stack(data, name, on_entry):
    """Checks that times never fall, and that every EXIT is that of the innermost ENTRY; none is open at the
    end. on_entry(time, callers, address) is called for each ENTRY. An EXIT with an ENTRY at the same instruction is
    a tail call: callers are the function that gave way, and who had called it."""
    stack, last, left = [], 0, None
    need(len(data) % SIZE == 0, f'{name}: a cut record')
    for time, kind, depth, addr, at in read_records(data, name):
        need(time >= last, f'{name}: time {time} after {last}')
        if time != last:
            left = None
        last = time
        if kind == ENTRY:
            need(depth == len(stack) & DEPTHS, f'{name}: an ENTRY of depth {depth} with {len(stack)} calls open')
            callers = left or (stack[-1][:1] if stack else (None,))
            on_entry(time, callers, addr)
            stack.append((addr, callers[0]))
            left = None
        elif kind == EXIT and stack and depth == len(stack) - 1 & DEPTHS and stack[-1][0] == addr:
            left = stack.pop()
        else:
            raise Failure(f'{name} offset {at}: no EXIT of the innermost open call')
    need(not stack, f'{name}: {len(stack)} calls are open at the end')


def narrow(text):
    """What `uftrace replay` prints, with numbers of tasks as narrow as in 0.13: later ones have a column more."""
    wide = re.compile(r'\[ ([ \d]{6})\]')
    return wide.sub(r'[\1]', re.sub(r'(?m)^(#.*TID) ', r'\1', text)) if wide.search(text) else text
