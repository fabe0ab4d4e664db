# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of calls from a uftrace data directory, by the objects' link-time addresses."""
import collections
import os

import functions
from gttest import uftrace
from gttest.recordings import record_files


class Recording:
    def __init__(self, path):
        self.path = path
        lines = uftrace.read_tasks(path)
        sids = {x.fields['sid'] for x in lines if x.kind == 'SESS'}
        self.maps = [(start, end, os.path.realpath(file)) for sid in sids
                     for start, end, file in uftrace.read_map(path, sid) if file.startswith('/')]
        self.loads = [(x.time, x.fields['base'], os.path.realpath(x.fields['libname'])) for x in lines
                      if x.kind == 'DLOP']
        self.stats = uftrace.stats(path)

    def streams(self):
        """{task id: bytes of its records}."""
        return record_files(self.path)

    def placed(self):
        """The calls of all tasks by link-time addresses, without times: from QEMU 8.1 on the host chooses where libraries
        are mapped, and the dynamic linker sorts them by that."""
        return sorted([(kind, depth, self.where(addr, time)) for time, kind, depth, addr, _ in
                       uftrace.read_records(data, f'{tid}.dat')] for tid, data in self.streams().items())

    def where(self, addr, time):
        """(object, link-time address)."""
        found = [(start, path) for start, end, path in self.maps if start <= addr < end] or \
            [(base, path) for loaded, base, path in self.loads
             if loaded <= time and base <= addr < base + span(path)]
        if not found:
            return '???', addr
        base, path = found[-1]
        return path, addr - base + functions.load(path).load_base

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
            if len(callers) == 1 or not place or not functions.is_resolver(*place):
                return place
        return None


def pairs_of(name, data):
    """(time, callers, callee) of each ENTRY: see uftrace.check_stack."""
    pairs = []
    uftrace.check_stack(data, name, lambda *pair: pairs.append(pair))
    return pairs


def span(path):
    return max(vaddr + size for vaddr, _, size in functions.load(path).loads)
