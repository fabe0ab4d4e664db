#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The keys of --json of each verb are those that docs/ has, no more and no fewer: of recordings that have everything."""
import json
import shutil
import struct
import sys

import initcalls_test

from gttest import functions, uftrace, uftrace_write, valued
from gttest.commands import must, printed
from gttest.documented import documented, keys
from gttest.paths import GUESTTRACE
from gttest.results import equal, write

MAIN, F = 16, 32
EVENT = 1000001


def lines(*command, status=0):
    return [json.loads(line) for line in must([GUESTTRACE, *command], status).stdout.decode().splitlines()]


def made(t):
    """With an event, a vCPU, lost records, a line of the console, a task that gets another name, source lines, an open call."""
    data = uftrace_write.records((1000, uftrace.ENTRY, 0, MAIN), (1200, uftrace.EVENT, 1, uftrace.VCPU), (1500, uftrace.ENTRY, 1, F),
                                 (1600, uftrace.EVENT, 2, EVENT), (1700, uftrace.EXIT, 1, F), (1800, uftrace.LOST, 0, 3), (2000, uftrace.ENTRY, 1, F))
    path = uftrace_write.directory(f'{t.folder}/data', {7: data}, {MAIN: 'main', F: 'f'}, console='0.000001550 hello\n',
                                   events={EVENT: 'a:b', uftrace.VCPU: 'guesttrace:cpu0'})
    write(f'{path}/perf-cpu0.dat', b''.join(struct.pack('<IHHII16sIIQ', 3, 0, 48, 1, 7, name, 1, 7, time)
                                            for time, name in ((1000, b'first'), (1650, b'second'))))
    write(f'{path}/guest.dbg', f'F: {MAIN:x} main\nL: 3 a.c\nF: {F:x} f\nL: 9 a.c\n')
    return path


def test_report(t):
    path, printed_keys = made(t), set()
    for by in 'function', 'task', 'module':
        printed_keys |= keys(json.loads(printed([GUESTTRACE, 'report', '--json', '--by', by, path])))
    values = json.loads(printed([GUESTTRACE, 'report', '--json', '--by', 'open:retval', valued.make(f'{t.folder}/valued')]))
    boot = initcalls_test.make(t, initcalls_test.boot().data, name='boot')
    printed_keys |= keys(json.loads(printed([GUESTTRACE, 'report', '--json', '--by', 'initcall', boot])))
    equal(printed_keys | keys(values), documented('readers.md', 'report'), 'keys')


def test_graph(t):
    equal(keys(json.loads(printed([GUESTTRACE, 'graph', '--json', made(t)]))), documented('readers.md', 'graph'), 'keys')


def test_replay(t):
    program = f'{t.folder}/marked'
    machine = made(t)
    shutil.copytree(machine, program)
    write(f'{program}/guesttrace.stats', 'machine=0\n')
    found = keys(lines('replay', '--json', machine)) | keys(lines('replay', '--json', program)) | keys(lines('replay', '--json', valued.make(f'{t.folder}/valued')))
    equal(found, documented('readers.md', 'replay'), 'keys')


def test_diff(t):
    one = made(t)
    two = uftrace_write.directory(f'{t.folder}/two', {7: uftrace_write.records((1000, uftrace.ENTRY, 0, MAIN), (9000, uftrace.EXIT, 0, MAIN))},
                                  {MAIN: 'main', F: 'f'})
    equal(keys(lines('diff', '--json', one, two, status=1)), documented('readers.md', 'diff'), 'keys')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
