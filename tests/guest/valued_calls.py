# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls with values, as replays show them."""
import re

from gttest.commands import printed
from gttest.results import need


def number(text):
    """uftrace shows large numbers in hex, of 64 bits."""
    text = text.strip()
    if not text.startswith('0x'):
        return text
    value = int(text, 16)
    return str(value - (1 << 64) if value >> 63 else value)


def shown(names, *command, value=str):
    """The calls of those functions that a replay shows, at their returns; each value through `value`."""
    def call(name, arguments, result):
        arguments = ', '.join(value(a) for a in arguments.split(', '))
        return f'{name}({arguments}) = {value(result)}'
    calls, opened, names = [], [], '|'.join(names)
    for line in printed([*command]).splitlines():
        entry = re.match(rf'[^|]*(?:\||^)\s*({names})\((.*?)\)(?: = (.*))?( \{{|;)$', line)
        end = re.match(rf'[^|]*(?:\||^)\s*\}}(?: = (.*);)? /\* ({names}) \*/$', line)
        if entry and entry[4] == ';':
            calls.append(call(entry[1], entry[2], entry[3] or '?'))
        elif entry:
            opened.append((entry[1], entry[2]))
        elif end:
            name, arguments = opened.pop()
            need(name == end[2], f'{name} ends as {end[2]}')
            calls.append(call(name, arguments, end[1] or '?'))
    return calls
