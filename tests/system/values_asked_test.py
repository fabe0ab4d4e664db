#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What readers are asked of values is what the guest has printed: report --by and --hist, replay --where, the exports to
Chrome and Perfetto, and names of objects by a user's table.

usage: values_asked_test.py ARCH
"""
import collections
import json
import re
import sys

import values_test
from gttest import packed, paths, perfetto, qemus
from gttest.commands import must, printed, run
from gttest.paths import GUESTTRACE
from gttest.recordings import record
from gttest.results import equal, in_folder, need, read_bytes, write

COMPARE = {'==': int.__eq__, '!=': int.__ne__, '<': int.__lt__, '>': int.__gt__, '<=': int.__le__, '>=': int.__ge__}


def said(console):
    """[{name or retval: number}] of each call of many that the guest printed."""
    lines = re.findall(r'^many\((.*)\) = (-?\d+)\r?$', console, re.M)
    need(len(lines) == 8, 'the guest says', console)
    return [{**{name: int(n) for name, n in re.findall(r'(\w+)=(-?\d+)', values)}, 'retval': int(result)}
            for values, result in lines]


def names_of(console):
    """What the guest's packets are called: on x86_64 both the same, as they are in read-only memory."""
    return re.findall(r'^send\(p=.*?, name=(".*?"), .*flags=(\d+)\)', console, re.M)


def rows(out, *options):
    """{value: calls}"""
    text = printed([GUESTTRACE, 'report', '--json', *options, out])
    return {row['value']: row['calls'] for row in json.loads(text)['rows']}


def power_of_two(n):
    """The row of a number in a histogram."""
    if n in (0, 1, -1):
        return str(n)
    low = 1 << abs(n).bit_length() - 1
    first, last = (low, 2 * low - 1) if n > 0 else (1 - 2 * low, -low)
    return f'{first} .. {last}'


def check_sums(out, calls, packets):
    for name in calls[0]:
        equal(rows(out, '--by', f'many:{name}'), dict(collections.Counter(str(c[name]) for c in calls)), name)
        equal(rows(out, '--by', f'many:{name}', '--hist'),
              dict(collections.Counter(power_of_two(c[name]) for c in calls)), f'histogram of {name}')
    equal(rows(out, '--by', 'send:p.name'), dict(collections.Counter(name for name, _ in packets)), 'members')
    equal(rows(out, '--by', 'words:s'), {'"plain"': 1, r'"a\tb"': 1, 'NULL': 1}, 'texts')
    equal(rows(out, '--by', 'words:state'), {'BUSY': 1, 'IDLE': 2}, 'enumerations')


def shown(out, condition):
    """d of each call of many that is shown: no other call has it."""
    done = run([GUESTTRACE, 'replay', '--no-pager', '-f', 'none', '-D', '1', '--where', condition, out])
    text = done.stdout.decode(errors='surrogateescape')
    calls = [line for line in text.splitlines() if '/*' not in line and line.strip() and line[0] != '#']
    found = [re.match(r'many\(.* d=(\d+),', line.strip()) for line in calls]
    need(all(found) and done.returncode == (0 if found else 1), condition, 'shows', text, done.stderr)
    return [int(match[1]) for match in found]


def check_where(out, calls):
    conditions = [[(name, operator, call[name])] for name in ('a', 'c', 'd', 'j', 'retval') for operator in COMPARE
                  for call in (calls[0], calls[3], calls[7])]
    conditions += [[('c', '>', 1 << 42), ('retval', '<', 7 << 40), ('j', '!=', 1)], [('a', '>=', -3), ('j', '>', -4)]]
    for condition in conditions:
        want = [c['d'] for c in calls if all(COMPARE[o](c[name], n) for name, o, n in condition)]
        text = 'many:' + ' && '.join(f'{name} {operator} {n}' for name, operator, n in condition)
        equal(shown(out, text), want, text)


def check_exports(out, folder, calls):
    """The arguments at the begin, the result at the end."""
    must([GUESTTRACE, 'export', '--format', 'chrome', '-o', f'{folder}/chrome', out])
    must([GUESTTRACE, 'export', '--format', 'perfetto', '-o', f'{folder}/perfetto', out])
    begins, ends, stack = [], [], []
    for e in json.loads(read_bytes(f'{folder}/chrome'))['traceEvents']:
        if e['ph'] == 'B' and e['tid'] == 1:
            stack.append(e)
        elif e['ph'] == 'E' and e['tid'] == 1:
            begin = stack.pop()
            if begin['name'] == 'many':
                begins.append(begin['args'])
                ends.append(e['args'])
    want = [{name: n for name, n in c.items() if name != 'retval'} for c in calls]
    equal(begins, want, "Chrome's arguments")
    equal(ends, [{'retval': c['retval']} for c in calls], "Chrome's results")
    trace = perfetto.Trace(read_bytes(f'{folder}/perfetto'))
    equal([e.values for e in trace.events if e.name == 'many'], want, "Perfetto's arguments")
    results = [e.values.get('retval') for e in trace.events if e.type == perfetto.END and trace.thread(e.track)[1] == 1]
    want = [c['retval'] for c in calls]
    equal([n for n in results if n in want], want, "Perfetto's results")
    send = next(e.values for e in trace.events if e.name == 'send')
    need(send['p.length'] == 1500 and send['p.kind'] == -2 and send['p.name'] == '"first"' and send['p'].startswith('0x'), send)


def check_names(folder, qemu, machine, packets):
    """A packet is shown with what the table says, and nothing for a path that it does not have."""
    table, out = f'{folder}/table', f'{folder}/named.gtrace'
    write(table, '# STRUCT NAME PATH\npacket called name\npacket bytes length\npacket none no.such->member\n')
    record(out, ['-q', '-a', '--object-names', table, '--symbols', machine.elf],
           machine.command_on_stdio(qemu, '-smp', '2'))
    text = printed([GUESTTRACE, 'replay', '--no-pager', '-f', 'none', '-F', 'send', out])
    found = re.findall(r'^ *send\(p=0x\w+\{(.*?)\}, flags=(\d+)\)', text, re.M)
    equal(found, [(f'called={name}, bytes=1500', flags) for name, flags in packets], 'packets')


def check_convention(folder, qemu, machine):
    """A calling convention that guests of the target do not have is refused by the plugins."""
    events = write(f'{folder}/events', 'many(int a) "%d"\n')
    for tool, what in ('uftrace', f'output={folder}/no,argument=many@arg1'), ('events', f'guest-events={events}'):
        done = run([*machine.command(qemu), '-plugin', f'{paths.plugin(tool)},{what},abi=i386-regparm'])
        need(done.returncode and b'abi=i386-regparm: guests of target' in done.stderr, tool, done)


def check(folder):
    arch = sys.argv[1]
    qemu = qemus.machines_from(arch, qemus.TELLS_MEMORY)
    machine, out = values_test.build(arch, folder), f'{folder}/data.gtrace'
    done = record(out, ['-q', '-a', '-A', 'send@arg1/*', '--symbols', machine.elf], machine.command_on_stdio(qemu, '-smp', '2'))
    console = done.stdout.decode()
    calls, packets = said(console), names_of(console)
    check_sums(out, calls, packets)
    check_where(out, calls)
    check_exports(out, folder, calls)
    check_convention(folder, qemu, machine)
    check_names(folder, qemu, machine, packets)


if __name__ == '__main__':
    sys.exit(in_folder('values-asked', check))
