# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of calls from callgrind's profile, by our rules.

callgrind counts as a call whatever a call instruction does, any control transfer to an address with
a symbol, and any into another object. Ours: a call instruction, or a jump (or return, or running on)
to the entry of another function. The profile has each transfer's site, so the second is exactly got
from the first: the instruction there tells whether it is a call. To functions that only .eh_frame knows
callgrind counts jumps as what they are.
"""
import collections
import os
import re

import functions

POSITION = re.compile(r'0x([0-9a-f]+) ')
AGAIN = re.compile(r"'\d+$")  # callgrind's name of a function that is open already


def real(path):
    return os.path.realpath(path) if path.startswith('/') else path


# cost: inclusive, of all its calls; inner: to a function that was open already, as its name says
Edge = collections.namedtuple('Edge', 'from_object site object target count jump cost inner', defaults=(0, False))


def edges(path):
    """Every caller-callee pair, and jump, of a profile written with --dump-instr=yes,
    --collect-jumps=yes and without compression."""
    obj, callee_obj, pending, inner = '???', None, None, False
    with open(path, encoding='utf-8', errors='replace') as f:
        for line in f:
            key, _, value = line.rstrip('\n').partition('=')
            if key == 'ob':
                obj = real(value)
            elif key in ('cob', 'job'):
                callee_obj = real(value)
            elif key == 'cfn':
                inner = AGAIN.search(value) is not None
            elif key == 'calls':
                count, target = value.split()[:2]
                pending = (callee_obj or obj, int(target, 16), int(count), False)
            elif key in ('jump', 'jcnd'):
                count, target = value.split()[:2]
                pending = (callee_obj or obj, int(target, 16), int(count.split('/')[0]), True)
            elif pending:
                site = int(POSITION.match(line)[1], 16)
                jump = pending[-1]
                yield Edge(obj, site, *pending, 0 if jump else int(line.split()[-1]), inner and not jump)
                callee_obj = pending = None


READING = re.compile(r'-- Reading syms from (/.*)$')
BIAS = re.compile(r'--\s+svma 0x([0-9a-f]+), avma 0x([0-9a-f]+)')


def biases(path):
    """[(object, run-time minus link-time address)] from valgrind's log with -v -v."""
    found, obj = [], None
    with open(path, encoding='utf-8', errors='replace') as f:
        for line in f:
            reading, bias = READING.search(line), BIAS.search(line)
            if reading:
                obj = os.path.realpath(reading[1])
            elif bias and obj:
                found.append((obj, int(bias[2], 16) - int(bias[1], 16)))
                obj = None
    return found


def place(addr, where):
    """The object and link-time address of a run-time address, which callgrind shows of sections
    other than .text."""
    for obj, bias in where:
        if functions.load(obj).covers(addr - bias):
            return obj, addr - bias
    return '???', addr


def placed(edge, where):
    if edge.from_object == '???':
        obj, site = place(edge.site, where)
        edge = edge._replace(from_object=obj, site=site)
    if edge.object == '???':
        obj, target = place(edge.target, where)
        edge = edge._replace(object=obj, target=target)
    return edge


def is_call(edge):
    """True where our rules call it a call."""
    source, target = functions.load(edge.from_object), functions.load(edge.object)
    if not target or target.in_plt(edge.target):
        return False
    if edge.jump and not target.is_unnamed(edge.target):
        return False
    if source and not edge.jump and source.is_call(edge.site):
        return True
    if target.function(edge.target) != edge.target:
        return False
    return (edge.from_object, source and source.function(edge.site)) != (edge.object, edge.target)


def in_plt(obj, addr):
    return bool(functions.load(obj)) and functions.load(obj).in_plt(addr)


def through_stubs(found):
    """The same edges, with each that ends in a PLT stub which callgrind did not take for one joined
    to where the stub leads."""
    stubs = {(e.object, e.target) for e in found if in_plt(e.object, e.target)}
    leads = {}
    for edge in found:
        if in_plt(edge.from_object, edge.site):
            stub = max(t for o, t in stubs if o == edge.from_object and t <= edge.site)
            leads.setdefault((edge.from_object, stub), []).append(edge)
    for edge in found:
        out = leads.get((edge.object, edge.target))
        if out:
            if len({(e.object, e.target) for e in out}) != 1:
                raise ValueError(f'a PLT stub at {edge.target:#x} that leads to several functions')
            yield edge._replace(object=out[0].object, target=out[0].target)
        elif not in_plt(edge.from_object, edge.site):
            yield edge


def read(path, log):
    """The calls of a profile and its log, as edges."""
    where = biases(log)
    return [e for e in through_stubs([placed(e, where) for e in edges(path)]) if is_call(e)]


def calls(found):
    """{(caller, callee): calls}, as recording.Recording.calls has them."""
    counts = collections.Counter()
    for edge in found:
        counts[functions.caller(edge.from_object, edge.site), (edge.object, edge.target)] += edge.count
    return counts
