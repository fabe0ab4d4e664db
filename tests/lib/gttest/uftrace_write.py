# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the files of uftrace's data directory, for tests of what reads them: docs/formats/uftrace.md."""
import os
import struct

from gttest.results import write
from gttest.uftrace import ENTRY, EXIT, MAGIC

MASK = (1 << 48) - 1  # of addresses
EVENTS = 0x80         # the feature that events.txt is there
FEATURES = 0x62       # sessions, relative addresses, the deepest stack
SECTIONS = 0b10001001  # of info: exename, cmdline, taskinfo
STACK = 'ffffffffffff-ffffffffffff rw-p 00000000 00:00 0 [stack]\n'
END = 0xfffffffff000


def record(time, kind, depth, addr):
    return struct.pack('<QQ', time, kind | MAGIC << 3 | depth << 6 | (addr & MASK) << 16)


def records(*items):
    """Of (time, kind, depth, address) each."""
    return b''.join(record(*item) for item in items)


def calls(addrs, time=0):
    """Each address is called and returns, 1 ns each; a negative one is what is open until the end."""
    items, opened = [], []
    for addr in addrs:
        items.append((time + 1, ENTRY, len(opened), abs(addr)))
        if addr < 0:
            opened.append(-addr)
        else:
            items.append((time + 2, EXIT, len(opened), addr))
        time += 2
    while opened:
        addr = opened.pop()
        items.append((time, EXIT, len(opened), addr))
    return records(*items)


def info(tids, name='guest', features=FEATURES):
    head = b'Ftrace!\0' + struct.pack('<IHBBQQHHI', 4, 40, 1, 2, features, SECTIONS, 1024, 0, 0)
    return head + (f'exename:{name}\ncmdline:{name}\ntaskinfo:lines=2\ntaskinfo:nr_tid={len(tids)}\n'
                   f'taskinfo:tids={",".join(map(str, tids))}\n').encode()


def tasks(sid, tids, name='guest'):
    """task.txt: one session, of process 1, from time 1 on."""
    return f'SESS timestamp=0.000000001 pid=1 sid={sid} exename="{name}"\n' + \
        ''.join(f'TASK timestamp=0.000000001 tid={tid} pid=1\n' for tid in tids)


def mappings(start=0, end=END, name='guest'):
    """A map of one module."""
    return f'{start:012x}-{end:012x} r-xp 00000000 00:00 0 {name}\n{STACK}'


def symbols(names, name='guest', kind='t', end=None):
    """A .sym file: {relative address: name}, and where the last one ends."""
    rows = [f'{addr:016x} {kind} {what}\n' for addr, what in sorted(names.items())]
    if end is not None:
        rows.append(f'{end:016x} ? __sym_end\n')
    return f'# symbols: {len(names)}\n# path name: {name}\n' + ''.join(rows)


def directory(path, data, names, sid='00112233aabbccdd', console='', events=None):
    """A whole one, of the module "guest". data: {tid: bytes}; names: {address: name}; console: lines "S.NNNNNNNNN
    TEXT" of extern.dat; events: {id: "provider:name"}."""
    os.mkdir(path)
    write(f'{path}/info', info(list(data), features=FEATURES | (EVENTS if events else 0)))
    write(f'{path}/task.txt', tasks(sid, list(data)))
    write(f'{path}/sid-{sid}.map', mappings())
    write(f'{path}/guest.sym', symbols(names, end=max(names) + 16).encode(errors='surrogateescape'))
    for tid, content in data.items():
        write(f'{path}/{tid}.dat', content)
    if console:
        write(f'{path}/extern.dat', console)
    if events:
        write(f'{path}/events.txt', ''.join(f'EVENT: {i} {name}\n' for i, name in events.items()))
    return path
