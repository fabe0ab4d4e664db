# SPDX-License-Identifier: GPL-2.0-or-later
"""pprof's profile.proto, read from its published field numbers: the whole of a file, as plain Python values.
Everything that a reader may rely on is checked: numbers that are there, texts that are UTF-8.
"""
import collections
import gzip

from gttest.results import need

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

Location = collections.namedtuple('Location', 'mapping address function line')
Function = collections.namedtuple('Function', 'name system_name file line')
Sample = collections.namedtuple('Sample', 'stack values labels')  # stack: names of functions, outermost first


def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 64, 'a number is cut at', at)
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """{number: [value]} of a message: numbers, or bytes."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        need(key & 7 in (VARINT, BYTES), 'field of type', key & 7)
        value, at = varint(data, at)
        if key & 7 == BYTES:
            need(at + value <= len(data), 'a field is cut at', at)
            value, at = data[at:at + value], at + value
        found[key >> 3].append(value)
    return found


def packed(values):
    out = []
    for data in values:
        at = 0
        while at < len(data):
            value, at = varint(data, at)
            out.append(value)
    return out


class Profile:
    def __init__(self, data):
        need(data[4:8] == bytes(4), 'gzip has a time')
        top = fields(gzip.decompress(data))
        self.texts = [t.decode() for t in top[6]]
        need(self.texts and self.texts[0] == '', 'the first text is not empty')
        need(len(set(self.texts)) == len(self.texts), 'a text is there twice')
        self.types = [self.value_type(t) for t in top[1]]
        self.default = self.text(top[14])
        self.comments = [self.texts[t] for t in top[13]]
        self.duration = one(top[10])
        self.mappings = self.table(top[3], lambda m: self.text(m[5]))
        self.functions = self.table(top[5], lambda f: Function(self.text(f[2]), self.text(f[3]), self.text(f[4]),
                                                               one(f[5])))
        self.locations = self.table(top[4], self.location)
        self.samples = [self.sample(fields(s)) for s in top[2]]

    def text(self, number):
        return self.texts[one(number)]

    def value_type(self, data):
        t = fields(data)
        return self.text(t[1]), self.text(t[2])

    @staticmethod
    def table(rows, make):
        """{id: row}."""
        found = [fields(r) for r in rows]
        ids = [one(f[1]) for f in found]
        need(all(ids) and len(set(ids)) == len(ids), 'an id is 0, or there twice')
        return {i: make(f) for i, f in zip(ids, found)}

    def location(self, f):
        need(len(f[4]) == 1, 'a location of', len(f[4]), 'lines')
        line = fields(f[4][0])
        return Location(self.mappings[one(f[2])] if f[2] else None, one(f[3]), self.functions[one(line[1])],
                        one(line[2]))

    def sample(self, f):
        values = packed(f[2])
        need(len(values) == len(self.types), 'a sample of', len(values), 'values')
        labels = {}
        for label in map(fields, f[3]):
            labels[self.text(label[1])] = self.text(label[2]) if label[2] else one(label[3])
        stack = [self.locations[i].function.name for i in packed(f[1])]
        return Sample(tuple(reversed(stack)), values, labels)


def one(values):
    """A field that is there once; 0 where it is not."""
    need(len(values) < 2, 'a field is there', len(values), 'times')
    return values[0] if values else 0
