# SPDX-License-Identifier: GPL-2.0-or-later
"""Sums of the calls of a uftrace directory, made from its records: what views and exports have to have.

A path is a tuple of names, the outermost first. A call that is open at the end ends with the task's last record.
"""
import collections

from gttest import uftrace


class Sum:
    """Of all calls of a path, or of a function."""

    def __init__(self):
        self.calls = self.total = self.self = 0

    def add(self, calls, total, own):
        self.calls += calls
        self.total += total
        self.self += own

    def __iter__(self):
        return iter((self.calls, self.total, self.self))


def calls_of(records):
    """(depth, address, begin, end) of each call of a task, in the order of their ends."""
    stack, time = [], 0
    for time, kind, _, addr, _ in records:
        if kind == uftrace.ENTRY:
            stack.append((addr, time))
        elif kind == uftrace.EXIT and stack:
            addr, begin = stack.pop()
            yield len(stack), addr, begin, time
    while stack:
        addr, begin = stack.pop()
        yield len(stack), addr, begin, time


def paths_of(records, name, window=(0, uftrace.LAST), depth=1 << 30, min_time=0):
    """{path: Sum} of one task; name(address) names a function. `window`: the first and the last time."""
    sums, inside = collections.defaultdict(Sum), []
    # Ends come before those of callers; so what a call has called is known when it ends.
    for level, addr, begin, end in calls_of(records):
        begin, end = max(begin, window[0]), min(end, window[1])
        while len(inside) <= level + 1:
            inside.append([])
        below, inside[level + 1] = inside[level + 1], []
        if begin > end:
            continue
        if level >= depth or end - begin < min_time:
            inside[level] += below
            continue
        inside[level].append((addr, begin, end, below))
    add_calls(sums, (), inside[0] if inside else [], name)
    return dict(sums)


def add_calls(sums, path, calls, name):
    work = [(path, call) for call in calls]
    while work:
        path, (addr, begin, end, below) = work.pop()
        path = *path, name(addr)
        sums[path].add(1, end - begin, end - begin - sum(e - b for _, b, e, _ in below))
        work += [(path, call) for call in below]


def functions_of(paths):
    """{name: Sum} of paths; a function's total counts only calls that are not inside another one of it."""
    sums = collections.defaultdict(Sum)
    for path, (calls, total, own) in paths.items():
        sums[path[-1]].add(calls, 0 if path[-1] in path[:-1] else total, own)
    return dict(sums)


def edges_of(paths):
    """{(caller, callee): Sum}, totals as functions_of() has them; the caller of a first function is None."""
    sums = collections.defaultdict(Sum)
    for path, (calls, total, own) in paths.items():
        caller = path[-2] if len(path) > 1 else None
        sums[caller, path[-1]].add(calls, 0 if path[-1] in path[:-1] else total, own)
    return dict(sums)
