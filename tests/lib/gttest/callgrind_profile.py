# SPDX-License-Identifier: GPL-2.0-or-later
"""callgrind's profile format, read from its published grammar: what guesttrace exports, strictly.

Names are compressed, positions are lines, each function is there once.
"""
import collections
import re

from gttest.results import need

Place = collections.namedtuple('Place', 'object file name')
HEADER = ('version', 'creator', 'cmd', 'part', 'positions', 'event', 'events')
NAME = re.compile(r'\((\d+)\)(?: (.+))?')


class Profile:
    """event; total; costs: {Place: (line, self)}; edges: {(caller, callee): (calls, inclusive, callee's line)}"""

    def __init__(self, data):
        self.costs, self.edges = {}, {}
        self.known = {'ob': {}, 'fl': {}, 'fn': {}}
        self.header = {}
        lines = iter(data.decode().split('\n'))
        need(next(lines) == '# callgrind format', 'the first line')
        for line in lines:
            if line == '':
                continue
            key, _, value = line.partition(': ')
            need(value and key in HEADER, 'header', repr(line))
            self.header[key] = value
            if key == 'events':
                break
        need(self.header['version'] == '1' and self.header['positions'] == 'line', self.header)
        self.event = self.header['events']
        self.body(lines)
        need(self.total == sum(own for _, own in self.costs.values()), 'totals:', self.total)

    def name(self, kind, text):
        match = NAME.fullmatch(text)
        need(match, f'{kind}={text}')
        names, number = self.known[kind], match[1]
        if match[2] is None:
            need(number in names, f'{kind}={text} is not known')
        else:
            need(number not in names and match[2] not in names.values(), f'{kind}={text} is known')
            names[number] = match[2]
        return names[number]

    def body(self, lines):
        place, called, calls = {}, {}, None
        self.total = None
        for line in lines:
            need(self.total is None or line == '', 'after totals:', line)
            key, _, value = line.partition('=')
            if line.startswith('totals: '):
                self.total = int(line[8:])
            elif key in ('ob', 'fl', 'fn'):
                place[key] = self.name(key, value)
            elif key in ('cob', 'cfi', 'cfn'):
                called[{'cob': 'ob', 'cfi': 'fl', 'cfn': 'fn'}[key]] = self.name(
                    {'cob': 'ob', 'cfi': 'fl', 'cfn': 'fn'}[key], value)
            elif key == 'calls':
                calls = [int(v) for v in value.split(' ')]
            elif line:
                position, cost = (int(v) for v in line.split(' '))
                here = Place(place['ob'], place['fl'], place['fn'])
                if calls:
                    there = Place(called.get('ob', here.object), called.get('fl', here.file), called['fn'])
                    need((here, there) not in self.edges, 'twice:', here, there)
                    self.edges[here, there] = calls[0], cost, calls[1]
                    calls, called = None, {}
                else:
                    need(here not in self.costs, 'twice:', here)
                    self.costs[here] = position, cost
        need(self.total is not None, 'no totals')

    def inclusive(self):
        """{Place: inclusive cost}, as callgrind_annotate has it: what all its callers say; else its own and what
        it called."""
        called, calling = collections.Counter(), collections.Counter()
        for (caller, callee), (_, cost, _) in self.edges.items():
            called[callee] += cost
            calling[caller] += cost
        return {p: called[p] if p in called else own + calling[p] for p, (_, own) in self.costs.items()}
