#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine whose state is saved and loaded (states.c): the calls that were open end there, and those that were open
when the state was saved are open again. Of a state that this recording has not seen, the calls that were open are not
known, and their returns are no anomalies. A mark says each.

usage: states_test.py ARCH
"""
import os
import re
import struct
import sys

from gttest import boards, paths, qemus, uftrace
from gttest.commands import printed
from gttest.monitors import Machine
from gttest.recordings import check_directory, check_severe
from gttest.results import need, read_bytes, read_text, write

TIMES = 20 if paths.LONG else 6
KNOWN, UNKNOWN = 'state loaded', 'state loaded: its open calls are not known'
NESTS = {'1': [('first_outer', 2), ('first_inner', 1), ('first_wait', 5)],
         '2': [('second_outer', 7), ('second_middle', 6), ('second_inner', 4), ('second_wait', 3)]}


# ---- a machine -----------------------------------------------------------------------------------------

def build(folder):
    arch = sys.argv[1]
    return boards.build(arch, 'guest', folder, [boards.start_code(arch), paths.source('machine', 'states.c')],
                        '-DSTART_MAIN=begin')


def empty_disk(path, size=64 << 20, cluster=1 << 16):
    """A qcow2 image, which machines save their states in: header, table and block of references, first table."""
    head = struct.pack('>4sIQIIQIIQQIIQ', b'QFI\xfb', 2, 0, 0, 16, size, 0, 1, 3 * cluster, cluster, 1, 0, 0)
    references = struct.pack('>4H', 1, 1, 1, 1)
    write(path, head.ljust(cluster, b'\0') + struct.pack('>Q', 2 * cluster).ljust(cluster, b'\0') +
          references.ljust(cluster, b'\0') + bytes(cluster))


# ---- what must be recorded -----------------------------------------------------------------------------

def works(n):
    return ['+work', *['+leaf', '-leaf'] * n, '-work']


def entered(nest):
    return ['+' + name for name, _ in NESTS[nest]]


def left(nest, known=True):
    events = []
    for name, n in reversed(NESTS[nest]):
        events += works(n) + ['-' + name] * known
    return events


def closed(nest):
    """Without a return."""
    return ['!' + name for name, _ in reversed(NESTS[nest])] + ['!begin']


END = ['+end', '-end']
FIRST = ['+begin'] + entered('1')
SECOND = FIRST + left('1') + entered('2')


def recorded(out):
    """The calls of all tasks in their order, without the start code's; the marks."""
    trace = uftrace.Trace(out)
    calls = [(time, ('+' if kind == 'enter' else '-') + trace.name(tid, uftrace.LAST, addr)[1])
             for tid in trace.tids() for kind, time, _, addr in trace.records(tid)]
    path = f'{out}/extern.dat'
    marks = re.findall(r'(?m)state loaded.*$', read_text(path)) if os.path.exists(path) else []
    calls.sort(key=lambda call: call[0])
    return [name for _, name in calls if name[1:] in KNOWN_NAMES], marks, trace.stats


KNOWN_NAMES = {'begin', 'work', 'leaf', 'end', *[name for nest in NESTS.values() for name, _ in nest]}


def check_recording(out, events, marks, before=0):
    got, said, stats = recorded(out)
    opened = re.findall(r'(?m) open .* (\S+)$', printed([paths.GUESTTRACE, 'replay', '--flat', '--no-pager', out]))
    want = [event[1:] for event in events if event[0] == '!']
    need(sorted(name for name in opened if name in KNOWN_NAMES) == sorted(want), out, 'has open', opened, 'not', want)
    events = [event.replace('!', '-') for event in events]
    need(got == events, out, 'has', got, 'not', events)
    need(said == marks, out, 'has the marks', said, 'not', marks)
    need(stats.get('count.loaded', 0) == len(marks) and stats.get('count.began-before', 0) == before, stats)
    check_severe(stats)
    check_directory(out, readers=False)


# ---- cases ---------------------------------------------------------------------------------------------

class Case:
    def __init__(self, folder, qemu, version, guest):
        self.folder, self.guest, self.disk = folder, guest, f'{folder}/{version}.qcow2'
        self.out = f'{folder}/{version}-'
        self.command = guest.command_on_stdio(qemu, '-drive', f'if=none,id=disk,file={self.disk}')

    def start(self, name='', *more):
        return Machine(self.folder, [*self.command, *more], name and self.out + name, ['--symbols', self.guest.elf])

    def new(self, name='', *more):
        """A machine that waits for the first time, with an empty disk."""
        empty_disk(self.disk)
        machine = self.start(name, *more)
        machine.wait(b'1')
        return machine


def saved_here(case, name, stops, *more):
    """Saved in one nest and loaded in the other, several times: where it was stopped before, too."""
    m = case.new(name, *more)

    def do(line):
        for word in ['stop'] * stops + [line] + ['cont'] * stops:
            m.do(word)

    do('savevm a')
    for _ in range(TIMES):
        m.type(b'x', b'2')
        do('loadvm a')
    m.type(b'q')
    m.finish()
    again = left('1') + entered('2') + closed('2') + FIRST
    check_recording(case.out + name, FIRST + again * TIMES + left('1') + END + ['-begin'], [KNOWN] * TIMES)


def both_ways(case):
    """A later state, too. Stops alone change nothing."""
    m = case.new('both')
    m.do('savevm a')
    m.type(b'x', b'2')
    for _ in range(3):
        m.do('stop')
        m.do('cont')
    m.do('savevm b')
    m.do('loadvm a')
    m.do('loadvm b')
    m.type(b'q')
    m.finish()
    events = SECOND + closed('2') + FIRST + closed('1') + ['+begin'] + entered('2') + left('2') + END + ['-begin']
    check_recording(case.out + 'both', events, [KNOWN] * 2)


def from_before(case):
    """Saved by a QEMU that was not recorded, and loaded: when the machine begins, and while it runs. The return of
    begin is one, too."""
    m = case.new()
    m.do('savevm z')
    m.type(b'x', b'2')
    m.execute('migrate', uri=f'exec:cat > {case.disk}.state')
    while m.execute('query-migrate').get('status') != 'completed':
        pass
    m.kill()
    events = left('1', False) + END
    m = case.start('start', '-loadvm', 'z')
    m.type(b'q')
    m.finish()
    check_recording(case.out + 'start', events, [UNKNOWN], before=4)
    m = case.start('incoming', '-incoming', f'exec:cat {case.disk}.state')
    while m.execute('query-status')['status'] != 'running':
        pass
    m.type(b'q')
    m.finish()
    check_recording(case.out + 'incoming', left('2', False) + END, [UNKNOWN], before=5)
    m = case.start('later')
    m.wait(b'1')
    m.type(b'x', b'2')
    m.do('loadvm z')
    m.type(b'q')
    m.finish()
    check_recording(case.out + 'later', SECOND + closed('2') + events, [UNKNOWN], before=4)


def clock_at(disk):
    """Where the newest state in the image has its clock: that of its section `timer`, after two other numbers."""
    section = disk.rindex(b'\x05timer') + 6 + 4 + 4 + 8 + 8
    return section, struct.unpack_from('>q', disk, section)[0]


def of_one_clock(case):
    """A state that this recording has not seen, whose clock is that of one that it has: it is not taken for it."""
    m = case.new()
    m.type(b'x', b'2')
    m.do('savevm z')
    m.kill()
    place, _ = clock_at(read_bytes(case.disk))
    m = case.start('clock')
    m.wait(b'1')
    m.do('savevm a')
    m.type(b'x', b'2')
    disk = read_bytes(case.disk)
    newest, clock = clock_at(disk)
    need(newest > place, 'the states lie in another order')
    with open(case.disk, 'r+b') as f:
        f.seek(place)
        f.write(struct.pack('>q', clock + 100000))
    m.do('loadvm z')
    m.type(b'q')
    m.finish()
    check_recording(case.out + 'clock', SECOND + closed('2') + left('2', False) + END, [UNKNOWN], before=5)


def check(version, qemu, folder, guest):
    case = Case(folder, qemu, version, guest)
    saved_here(case, 'running', False)
    saved_here(case, 'stopped', True)
    saved_here(case, 'icount', False, '-icount', 'shift=0')
    both_ways(case)
    from_before(case)
    of_one_clock(case)


def main():
    return qemus.on_each(sys.argv[1], 'states', build, check)


if __name__ == '__main__':
    sys.exit(main())
