# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings that are made up: random calls of a few tasks, of functions with any name."""
import collections
import os
import random

from gttest import call_sums, uftrace, uftrace_write
from gttest.results import write

SID = '00112233aabbccdd'
TIDS = [7, 8, 5000000]
PLAIN = ['main', 'f', 'g', 'fib', 'walk', 'put', 'get', 'read', 'write', 'sort', 'done', 'last']
HOSTILE = [b'main', b'a"b\\c', b'semi;colon;', b'(3) number', b'bad \xff\xfe utf\xc3', b'\xe2\x82\xac',
           b'tab\tcr\resc\x1b[1m', b'# comment', b'fn=(1) x', b'x' * (1 << 20), b'calls=1 2', b'</script><b>']
FIRST = 0x1000


def random_calls(seed, n, step=lambda number: 5, names=len(PLAIN), deep=20):
    """n records, and the returns of what is open then."""
    number = random.Random(seed)
    items, stack, time = [], [], 1000
    while len(items) < n or stack:
        time += step(number)
        if stack and (len(items) >= n or len(stack) > deep or number.random() < 0.5):
            addr = stack.pop()
            items.append((time, uftrace.EXIT, len(stack), addr))
        else:
            addr = FIRST + 16 * number.randrange(names)
            items.append((time, uftrace.ENTRY, len(stack), addr))
            stack.append(addr)
    return uftrace_write.records(*items)


class Made:
    """A directory at `path`, and what its records are."""

    def __init__(self, path, names=None, n=2000, tids=None, **how):
        self.path, self.tids = path, tids or TIDS
        self.names = [x if isinstance(x, bytes) else x.encode() for x in names or PLAIN]
        os.mkdir(path)
        write(f'{path}/info', uftrace_write.info(self.tids))
        write(f'{path}/task.txt', uftrace_write.tasks(SID, self.tids))
        write(f'{path}/sid-{SID}.map', uftrace_write.mappings())
        head = f'# symbols: {len(self.names)}\n# path name: guest\n'.encode()
        write(f'{path}/guest.sym', head + b''.join(
            b'%016x t %s\n' % (FIRST + 16 * i, name) for i, name in enumerate(self.names))
            + b'%016x ? __sym_end\n' % (FIRST + 16 * len(self.names)))
        self.data = {}
        for seed, tid in enumerate(self.tids):
            self.data[tid] = random_calls(seed, n, names=len(self.names), **how)
            write(f'{path}/{tid}.dat', self.data[tid])

    def name(self, addr):
        return self.names[(addr - FIRST) // 16].decode(errors='surrogateescape')

    def paths(self, tid, **window):
        """{path: Sum} of a task."""
        return call_sums.paths_of(uftrace.read_records(self.data[tid]), self.name, **window)

    def all_paths(self):
        """The same of all tasks."""
        sums = collections.defaultdict(call_sums.Sum)
        for tid in self.tids:
            for path, s in self.paths(tid).items():
                sums[path].add(*s)
        return sums
