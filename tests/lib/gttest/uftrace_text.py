# SPDX-License-Identifier: GPL-2.0-or-later
"""What `uftrace report` and `uftrace graph` print, and guesttrace's graph, which has the same layout."""
import re

from gttest.results import need

UNITS = {'us': 1000, 'ms': 1000000, 's': 1000000000, 'm': 60000000000, 'h': 3600000000000}
SIXTIETHS = {'m', 'h'}    # uftrace prints minutes and seconds, hours and minutes
REPORT = ['total', 'total-avg', 'total-min', 'total-max', 'self', 'self-avg', 'self-min', 'self-max', 'call']
WIDTH, GAP = 10, 2        # of a column, and before it
TIME = r'(\d+\.\d+) +(us|ms|s|m|h)'


def time_text(ns):
    """A time as uftrace prints it, without blanks: "2.345ms"."""
    if ns < 1000000000000:
        unit = 'us' if ns < 1000000 else 'ms' if ns < 1000000000 else 's'
        return f'{ns // UNITS[unit]}.{ns % UNITS[unit] // (UNITS[unit] // 1000):03}{unit}'
    unit = 'm' if ns < 3600000000000 else 'h'
    return f'{ns // UNITS[unit]}.{ns % UNITS[unit] // (UNITS[unit] // 60):03}{unit}'


def ns_of(text):
    """The least time that is printed as this: "2.345 ms"."""
    number, unit = re.fullmatch(TIME, text.strip()).groups()
    whole, part = number.split('.')
    step = UNITS[unit] // (60 if unit in SIXTIETHS else 1000)
    return int(whole) * UNITS[unit] + int(part) * step


def bare(name):
    """Without the parentheses that a name has in a symbol file because uftrace would change its stacks at it."""
    return name.removesuffix('()')


def report(text):
    """{function: {column: text}} of `uftrace report -f` with the columns REPORT."""
    rows = {}
    for line in text.split('\n')[2:]:
        cells = [line[(WIDTH + GAP) * i:(WIDTH + GAP) * (i + 1)].replace(' ', '') for i in range(len(REPORT))]
        name = bare(line[(WIDTH + GAP) * len(REPORT) + GAP:])
        if name:
            rows[name] = {column: cell or '0.000us' for column, cell in zip(REPORT, cells)}
    return rows


class Node:
    """A function in a graph: its calls, its times in ns as they are printed, what it called."""

    def __init__(self, name, calls, total, own):
        self.name, self.calls, self.total, self.own = name, calls, total, own
        self.parts, self.children = 1, []

    def join_names(self):
        """Makes children of one name one, as uftrace does, which does not look at modules."""
        by_name = {}
        for child in self.children:
            by_name.setdefault(child.name, []).append(child)
        self.children = [joined(same) for same in by_name.values()]
        for child in self.children:
            child.join_names()
        return self

    def lines(self, depth=0):
        """Each node once, siblings by name, indented."""
        yield f'{" " * depth}{self.name} calls {self.calls} total {self.total} self {self.own}'
        for child in sorted(self.children, key=lambda c: c.name):
            yield from child.lines(depth + 1)


def joined(nodes):
    """Nodes of one name as one."""
    node = Node(nodes[0].name, *[sum(getattr(n, what) for n in nodes) for what in ('calls', 'total', 'own')])
    node.parts = sum(n.parts for n in nodes)
    node.children = [child for n in nodes for child in n.children]
    return node


def step(ns):
    """What is between a printed time and the next one."""
    return 1 if ns < 1000000 else 1000 if ns < 1000000000 else 1000000 if ns < 1000000000000 else 1000000000


def alike(a, b):
    """Equal trees. The sum of several printed times may be less than the sum, printed."""
    slack = max(a.parts, b.parts) - 1
    return (a.name == b.name and a.calls == b.calls and
            all(abs(x - y) <= slack * step(max(x, y)) for x, y in ((a.total, b.total), (a.own, b.own))) and
            len(a.children) == len(b.children) and
            all(alike(*pair) for pair in zip(*[sorted(n.children, key=lambda c: c.name) for n in (a, b)])))


LINE = re.compile(rf'(?: *{TIME}| {{12}})(?: *{TIME}| {{12}})(?: +\d+\.\d %)? : ((?: \| |   | \+-)*)\((\d+)(?:, \d+ open)?\) (.*)')


def graph(text):
    """[top node] of one graph or several; times "total,self" stand before each line."""
    tops, branch, last, gap = [], {}, None, False
    for line in text.split('\n'):
        match = LINE.fullmatch(line)
        if not match:
            need('(' not in line or line.startswith((' backtrace', '   [', '#')), 'no line of a graph:', line)
            gap = bool(line.strip())
            last = last if gap else None
            continue
        total, total_unit, own, own_unit, where, calls, name = match.groups()
        name = bare(name)
        times = [ns_of(f'{number} {unit}') if number else 0 for number, unit in ((total, total_unit), (own, own_unit))]
        node = Node(name, int(calls), *times)
        level = len(where) // 3
        if where.endswith('+-'):
            if not gap:       # the first child stands right below
                branch[level] = last
            branch[level].children.append(node)
        elif last:
            last.children.append(node)
        else:
            tops.append(node)
        last, gap = node, False
    return tops


def backtraces(text):
    """{(outermost, ..., function): (calls, time)} of `uftrace graph FUNCTION`."""
    found, path = {}, None
    for line in text.split('\n'):
        head = re.match(rf' backtrace #\d+: hit (\d+), time +{TIME}', line)
        if head:
            path, value = [], (int(head.group(1)), head.group(2) + head.group(3))
        elif path is not None and line.startswith('   ['):
            path.append(bare(re.match(r' +\[\d+\] (.*) \(0x[0-9a-f]+\)$', line).group(1)))
        elif path:
            found[tuple(path)] = value
            path = None
    return found
