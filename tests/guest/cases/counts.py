# SPDX-License-Identifier: GPL-2.0-or-later
"""Each function was recorded as often as it counted itself (standard output: name, count)."""
import collections


def check(trace, own, traced):
    said = {}
    for line in traced.stdout.decode().splitlines():
        name, count = line.split()
        said[name] = int(count)
    got = collections.Counter()
    for tid in trace.tids():
        for call in trace.records(tid):
            if call.kind == 'enter':
                got[trace.name(tid, call.time, call.addr)[1]] += 1
    bad = {name: (count, got[name]) for name, count in said.items() if got[name] != count}
    if bad or len(said) < 30:
        raise Failure(f'{len(said)} functions; (counted, recorded): {bad}')
