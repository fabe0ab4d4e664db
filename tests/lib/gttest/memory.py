# SPDX-License-Identifier: GPL-2.0-or-later
"""What a process has in memory, and what of it is a flight recorder's."""
import os
import re

from gttest.results import need, read_text

MIB, CHUNK = 1 << 20, 16384
PAGES = 8 * CHUNK  # parts of a pool are whole pages of every system


def most_resident(pid):
    """Bytes that the process has had in memory at most."""
    return int(re.search(r'^VmHWM:\s+(\d+) kB$', read_text(f'/proc/{pid}/status'), re.M)[1]) << 10


def mapped(pid, folder):
    """{file of the folder: bytes that the process has mapped of it}"""
    found = {}
    for start, end, path in re.findall(r'^([0-9a-f]+)-([0-9a-f]+) (?:\S+ +){4}(/.*)$', read_text(f'/proc/{pid}/maps'), re.M):
        if path.startswith(folder + '/'):
            name = path[len(folder) + 1:]
            found[name] = found.get(name, 0) + int(end, 16) - int(start, 16)
    return found


def pool_limit(last, tasks):
    """docs/record.md: a quarter of what was asked for, at least 1 MiB; a chunk for each task."""
    return max(last // 4, MIB, tasks * CHUNK) + PAGES


def check_flight(out, pid, number, last, tasks):
    """A recorder with --last of so many bytes and so many tasks has no more, at any time: neither its ring nor its pool becomes
    smaller again. number: the recorder's of its process."""
    folder, pool, ring = f'{out}.parts', f'.guesttrace-{pid}.ring', f'.guesttrace-{number}.last'
    need({name for name in os.listdir(folder) if name.startswith('.guesttrace-')} == {ring, pool}, os.listdir(folder))
    size, mapping = os.stat(f'{folder}/{ring}'), mapped(pid, folder)
    need(size.st_size <= last and size.st_blocks * 512 <= last + 65536, 'the ring of', last, 'bytes has', size)
    need(mapping.pop('.now', 0) <= 4096, 'the clock of a machine is mapped with more than a page')
    need(set(mapping) <= {pool} and mapping.get(pool, 0) <= pool_limit(last, tasks), 'mapped:', mapping)
    need(os.path.getsize(f'{folder}/{pool}') == mapping.get(pool, 0), 'the pool has', os.path.getsize(f'{folder}/{pool}'), mapping)
