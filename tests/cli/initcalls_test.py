#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`report --by initcall` of made recordings: which calls are initcalls, with their times and results."""
import csv
import io
import json
import struct
import sys

from gttest import functions, uftrace, uftrace_write
from gttest.commands import must, printed, run
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, write
from gttest.valued import MORE

EVENT_OUT, EVENT_IN = 200002, 200001
NAMES = ['do_one_initcall', 'initcall_blacklisted', 'memset', 'odd', 'a_init', 'b_init.cold', 'c_init', 'inner', 'jumped_to', 'console_init', 'n_tty_init',
         'con_a', 'con_b', 'do_initcalls', 'trace_initcall_finish_cb', 'linux_begins', 'do_one_initcalls']
AT = {name: 16 * (i + 1) for i, name in enumerate(NAMES)}
SPECS = 'guesttrace values 1\nmodule - guest\nfunction 10 do_one_initcall\nret - d 4 - - -\n'


class Calls:
    """Records of a task, 1 ns a step."""

    def __init__(self, time=1000):
        self.time, self.depth, self.data, self.begin = time, 0, b'', {}

    def put(self, kind, depth, addr, more=b''):
        self.data += uftrace_write.record(self.time, kind | (MORE if more else 0), depth, addr) + more

    def enter(self, name, step=1):
        self.time += step
        self.begin.setdefault(name, self.time)
        self.put(uftrace.ENTRY, self.depth, AT[name])
        self.depth += 1

    def leave(self, name, result=None, step=1):
        self.time += step
        self.depth -= 1
        self.put(uftrace.EXIT, self.depth, AT[name], b'' if result is None else struct.pack('<iI', result, 0))

    def sleep(self, time):
        self.time += 1
        self.put(uftrace.EVENT, self.depth, EVENT_OUT)
        self.time += time
        self.put(uftrace.EVENT, self.depth, EVENT_IN)

    def call(self, *names, step=1):
        for name in names:
            self.enter(name, step)
            self.leave(name)


def boot():
    """A boot's initcalls; the last one has not returned."""
    c = Calls()
    c.enter('console_init')
    c.call('n_tty_init', 'con_a', 'con_b')
    c.leave('console_init')
    c.enter('do_initcalls')
    # it sleeps for 500 of 506 ns, and calls more
    c.enter('do_one_initcall')
    c.call('initcall_blacklisted', 'memset')
    c.enter('a_init')
    c.call('inner')
    c.sleep(500)
    c.leave('a_init', step=3)
    c.call('trace_initcall_finish_cb')
    c.leave('do_one_initcall', -19)
    # it jumps into another function, in which it sleeps again, then into a third one
    c.enter('do_one_initcall')
    c.enter('b_init.cold')
    c.leave('b_init.cold')
    c.enter('jumped_to', 0)
    c.sleep(40)
    c.leave('jumped_to')
    c.enter('inner', 0)
    c.leave('inner', step=5)
    c.call('memset')
    c.leave('do_one_initcall', 0)
    # no more than a name that begins so
    c.enter('do_one_initcalls')
    c.call('inner')
    c.leave('do_one_initcalls')
    c.enter('do_one_initcall')
    c.enter('c_init')
    return c


def rows_of(path, *options):
    return json.loads(printed([GUESTTRACE, 'report', '--no-pager', '--by', 'initcall', '--json', *options, path]))['rows']


def make(t, data, tid=7, specs=SPECS, name='data'):
    path = f'{t.folder}/{name}'
    uftrace_write.directory(path, {tid: data}, {addr: function for function, addr in AT.items()})
    if specs:
        write(f'{path}/guesttrace.values', specs)
    return path


def brief(rows):
    return [(row['initcall'], row['total_ns'], row['slept_ns'], row['wall_ns'], row['begin_ns'], row.get('result'), row['open']) for row in rows]


def test_boot(t):
    """Those that sleep, jump away, have not returned; of the console; with their results."""
    c, first = boot(), 1001
    path = make(t, c.data)
    begin = {name: time - first for name, time in c.begin.items()}
    want = [('con_a', 1, 0, 1, begin['con_a'], None, 0), ('con_b', 1, 0, 1, begin['con_b'], None, 0),
            ('a_init', 6, 500, 506, begin['a_init'], '-19', 0), ('b_init.cold', 8, 40, 48, begin['b_init.cold'], '0', 0),
            ('c_init', 0, 0, 0, begin['c_init'], None, 1)]
    equal(brief(rows_of(path, '-s', 'begin')), want, 'in order of time')
    equal([row['initcall'] for row in rows_of(path)], ['b_init.cold', 'a_init', 'con_a', 'con_b', 'c_init'], 'by the time that ran')
    equal([row['initcall'] for row in rows_of(path, '-s', 'wall', '-l', '1')], ['a_init'], 'by wall time')
    equal({(row['tid'], row['module']) for row in rows_of(path)}, {(7, 'guest')}, 'where they ran')
    compact = f'{t.folder}/one.gtrace'
    must([GUESTTRACE, 'export', '-f', 'compact', '-o', compact, path])
    equal(brief(rows_of(compact, '-s', 'begin')), want, 'of a compact file')
    table = list(csv.reader(io.StringIO(printed([GUESTTRACE, 'report', '--csv', '--by', 'initcall', '-s', 'begin', path]))))
    equal(table[0], ['total_ns', 'self_ns', 'slept_ns', 'wall_ns', 'begin_ns', 'tid', 'open', 'module', 'file', 'line', 'result', 'initcall'], 'columns')
    equal([row[-2:] for row in table[1:]], [[row[5] or '', row[0]] for row in want], 'CSV')
    text = printed([GUESTTRACE, 'report', '--no-pager', '--by', 'initcall', path])
    need('Begin         TID        Open  Result  Module  Initcall' in text and ' -19     guest   a_init\n' in text, text)


def test_what_they_all_call(t):
    """A function that no list has, and that do_one_initcall calls itself each time."""
    c = Calls()
    for i in range(40):
        AT[f'init_{i}'] = 0x1000 + 16 * i
        c.enter('do_one_initcall')
        c.call('odd', f'init_{i}')
        c.leave('do_one_initcall')
    path = make(t, c.data, specs='')
    equal([row['initcall'] for row in rows_of(path, '-s', 'begin')], [f'init_{i}' for i in range(40)], 'initcalls')


def test_without(t):
    """Other programs have none, whatever their functions are called."""
    c = Calls()
    c.enter('console_init')
    c.call('con_a', 'con_b')
    c.leave('console_init')
    path = make(t, c.data, specs='')
    done = run([GUESTTRACE, 'report', '--by', 'initcall', path])
    equal(done.returncode, 1, 'exit status')
    need(b'no initcalls are there' in done.stderr and not done.stdout, done.stderr)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
