# SPDX-License-Identifier: GPL-2.0-or-later
"""Each function was recorded as often as the guest says on standard error, in its place."""
import collections
import re


def check(trace, own, traced):
    said = {name: int(count) for name, count in
            re.findall(r'(\w+) (\d+) ', traced.stderr.decode().split('\n')[0])}
    counts = collections.Counter()
    for tid in trace.tids():
        above = []
        for line in trace.tree(tid, lambda path, name: name in own):
            depth = (len(line) - len(line.lstrip())) // 2
            del above[depth:]
            above.append(line.strip())
            counts[line.strip()] += 1
            if above[-1] == 'round_of_all' and above != ['main', 'round_of_all']:
                raise Failure(f'a round below {above}')
            if above[-1] == 'catcher' and above[-2] not in ('round_of_all', 'catcher'):
                raise Failure(f'a catcher below {above}')
    bad = {name: (said[name], counts[name]) for name in said if said[name] != counts[name]}
    if bad or not said:
        raise Failure(f'(counted, recorded): {bad}')
