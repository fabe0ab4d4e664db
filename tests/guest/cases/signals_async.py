# SPDX-License-Identifier: GPL-2.0-or-later
"""Each function was recorded as often as the guest says on standard error, below the right one."""
import collections
import re


def check(trace, own, traced):
    said = dict(re.findall(r'(\w+) (\d+)(?= |\n)', traced.stderr.decode().split('\n')[0] + '\n'))
    counts, callers = collections.Counter(), collections.defaultdict(set)
    for tid in trace.tids():
        above = []
        for line in trace.tree(tid, lambda path, name: name in own):
            depth = (len(line) - len(line.lstrip())) // 2
            del above[depth:]
            above.append(line.strip())
            counts[line.strip()] += 1
            callers[line.strip()].add(above[-2] if depth else '')
    if {k: int(v) for k, v in said.items()} != counts:
        raise Failure(f'the guest says {said}, recorded are {counts}')
    if callers['leaf'] != {'middle'} or callers['middle'] != {'main'}:
        raise Failure(f'callers: {dict(callers)}')
