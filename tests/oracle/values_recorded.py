# SPDX-License-Identifier: GPL-2.0-or-later
"""The values of a directory, byte for byte, by guesttrace.values: see docs/recording-files.md and docs/formats/uftrace.md."""
import collections
import re
import struct

from gttest import uftrace
from gttest.results import need, read_bytes, read_text

Item = collections.namedtuple('Item', 'place format size name')
Call = collections.namedtuple('Call', 'kind name values')  # kind 'e', 'r'; {parameter's name, or "": bytes}


def specs(directory):
    """{function: (items of arguments, items of results)}"""
    found = {}
    for line in read_text(f'{directory}/guesttrace.values').splitlines():
        words = line.split(' ')
        if words[0] == 'function':
            spec = found.setdefault(words[2], ([], []))
        elif words[0] in ('arg', 'fparg', 'ret', 'field'):
            item = Item(words[0], words[2], int(words[3]), '' if words[0] == 'ret' else words[4])
            spec[words[0] == 'ret'].append(item)
    return found


def read_values(data, at, items):
    """({name: bytes}, where they end); texts are left out."""
    begin, values = at, {}
    for item in items:
        size = item.size
        if item.format in 'sSC':
            size = struct.unpack_from('<H', data, at)[0] + 2
        else:
            values[item.name] = data[at:at + size]
        at += size
        at += -(at - begin) % 4
    return values, at + -(at - begin) % 8


def plain(symbol):
    """f<N> of a symbol of that function, whatever C++ or a compiler's clone has made of it; None: another function's."""
    mangled = re.match(r'_Z(\d)', symbol)
    name = symbol[3:3 + int(mangled[1])] if mangled else re.sub(r'\..*', '', symbol)
    return name if re.fullmatch(r'f\d+', name) else None


def calls(directory, addresses, task=None):
    """[Call] of the functions {address: name} in a directory of one task, in order."""
    known, found = specs(directory), []
    tids = [task] if task else uftrace.tids_of(directory)
    for tid in tids:
        data, at = read_bytes(f'{directory}/{tid}.dat'), 0
        while at + 16 <= len(data):
            _, word = struct.unpack_from('<QQ', data, at)
            at += 16
            kind, more, name = word & 3, word >> 2 & 1, addresses.get(word >> 16)
            need(word >> 3 & 7 == uftrace.MAGIC, 'no record at', at - 16)
            if kind not in uftrace.KINDS:
                continue
            values = {}
            if more:
                need(name in known, 'values of', hex(word >> 16), name)
                values, at = read_values(data, at, known[name][kind == uftrace.EXIT])
            if name:
                found.append(Call('er'[kind == uftrace.EXIT], plain(name), values))
    return found
