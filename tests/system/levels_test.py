#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records machines whose programs run at several privilege levels, each level a task of its own.

usage: levels_test.py aarch64|worlds|riscv64|virtual|x86_64

The programs are levels/levels.c with levels/start_NAME.S; worlds (EL3 and the three worlds below it)
has levels/worlds.c, too. virtual: riscv64 with a virtual machine. QEMU before 9.0 is refused.
"""
import collections
import os
import sys

from gttest import boards, paths, qemus, uftrace
from gttest.recordings import check_directory, record
from gttest.results import need, same_lines

BOARDS = {  # architecture, QEMU's arguments
    'aarch64': ('aarch64', ['-M', 'virt,virtualization=on', '-cpu', 'cortex-a57', '-kernel', '{elf}']),
    'worlds': ('aarch64', ['-M', 'virt,secure=on', '-cpu', 'max,x-rme=on', '-semihosting-config',
                           'enable=on', '-kernel', '{elf}']),
    'riscv64': ('riscv64', ['-M', 'virt', '-bios', 'none', '-kernel', '{elf}']),
    'virtual': ('riscv64', ['-M', 'virt', '-cpu', 'rv64,h=true', '-bios', 'none', '-kernel', '{elf}']),
    'x86_64': ('x86_64', ['-M', 'pc', '-cpu', 'max', '-net', 'none', '-no-reboot', '-bios', '{image}']),
}
LEVELS = {  # the tasks of vCPU 0, as the trees below
    'aarch64': [(102, 'cpu0 NS-EL2'), (101, 'cpu0 NS-EL1'), (100, 'cpu0 NS-EL0')],
    'worlds': [(103, 'cpu0 EL3'), (101, 'cpu0 NS-EL1'), (105, 'cpu0 S-EL1'), (109, 'cpu0 R-EL1')],
    'riscv64': [(103, 'cpu0 M'), (101, 'cpu0 S'), (100, 'cpu0 U')],
    'virtual': [(103, 'cpu0 M'), (101, 'cpu0 S'), (105, 'cpu0 VS'), (104, 'cpu0 VU')],
    'x86_64': [(104, 'cpu0 RealMode'), (100, 'cpu0 Ring0'), (103, 'cpu0 Ring3')],
}
REFUSED = (b'guesttrace-uftrace: argument trace-privilege-level=on: this QEMU does not let plugins '
           b'read registers; QEMU 9.0 and later do\n')

USER = """\
user_main
  leaf
  user_asks
    trap
  user_nested
    user_nested
      user_nested
        user_asks
          trap
        leaf
      leaf
    leaf
  guarded_a
    leaf
  guarded_b
    leaf
"""
# The vectors are calls where they hit. What is left at the end: the handlers that switch the machine
# off, what never returns, and what each of those was jumped to from.
MONITOR = """\
_start
  top_main
    top_nested
      leaf
    leaf
enter_world
""" + ''.join('top_vectors\n' + ''.join('  ' * n + 'top_serve\n' for n in range(1, world + 2)) +
              '  ' * (world + 2) + 'leaf\nenter_world\n' for world in (0, 1, 2, 1, 0, 1)) + """\
top_vectors
exit
"""
TREES = {
    'aarch64': ["""\
_start
  top_main
    top_nested
      leaf
    leaf
  top_vectors
    top_serve
      top_serve
        top_serve
          leaf
  top_vectors
    top_serve
      top_serve
        leaf
  top_vectors
    top_serve
      leaf
  top_vectors
  power_off
""", """\
middle_main
  leaf
  middle_asks
    trap_top
    leaf
middle_run
  middle_vectors
    middle_serve
      leaf
      middle_asks
        trap_top
        leaf
  middle_vectors
    middle_serve
      leaf
      middle_asks
        trap_top
        leaf
  middle_vectors
  pass_on
""", USER],
    'riscv64': ["""\
top_main
  top_nested
    leaf
  leaf
top_vector
  top_serve
    top_serve
      top_serve
        leaf
top_vector
  top_serve
    top_serve
      leaf
top_vector
  top_serve
    leaf
top_vector
  top_fault
    leaf
top_vector
  top_fault
    leaf
top_vector
""", """\
middle_main
  leaf
  middle_asks
    trap_top
    leaf
middle_run
  middle_vector
    middle_serve
      leaf
      middle_asks
        trap_top
        leaf
  middle_vector
    middle_serve
      leaf
      middle_asks
        trap_top
        leaf
  middle_vector
""", USER],
    'worlds': [MONITOR, """\
nonsecure_main
  leaf
  ask
    trap_world
    leaf
  ask
    trap_world
    leaf
  ask
    trap_world
    leaf
""", """\
secure_start
  secure_main
    leaf
    ask
      trap_world
      leaf
    ask
      trap_world
""", """\
realm_start
  realm_main
    leaf
    ask
      trap_world
"""],
    'virtual': ["""\
top_main
  top_nested
    leaf
  leaf
top_vector
  top_serve
    top_serve
      top_serve
        leaf
top_vector
  top_serve
    top_serve
      leaf
top_vector
  top_serve
    leaf
top_vector
""", """\
host_main
  leaf
""", """\
middle_main
  leaf
  middle_asks
    trap_top
    leaf
middle_vector
  middle_serve
    leaf
    middle_asks
      trap_top
      leaf
middle_vector
  middle_serve
    leaf
    middle_asks
      trap_top
      leaf
middle_vector
""", USER],
    'x86_64': ["""\
real_main
  real_leaf
  real_leaf
""", """\
start32
start64
  top_main
    top_nested
      leaf
    leaf
  top_vector
    top_serve
      top_serve
        leaf
  top_vector
    top_serve
      leaf
  top_vector
""", USER],
}
HANDLERS = {'aarch64': 7, 'worlds': 7, 'riscv64': 9, 'virtual': 7, 'x86_64': 3}
UNRETURNED = {'aarch64': 6, 'worlds': 18, 'riscv64': 3, 'virtual': 2, 'x86_64': 3}
SHARED = {'leaf', 'ask', 'trap_world'}
BEGUN = {'worlds': 2}


def build(name, folder):
    """The program, and QEMU's arguments for it."""
    arch, arguments = BOARDS[name]
    sources = [f'start_{name}.S', 'levels.c', *(['worlds.c'] if name == 'worlds' else [])]
    image = boards.build(arch, 'levels', folder, [paths.source('system', 'levels', s) for s in sources])
    return image.elf, image.words(arguments)


def names(out):
    """{task: name} of the COMM records."""
    return {tid: name for _, tid, name in uftrace.comms(out)}


def check_tree(trace, tid, expected):
    same_lines(trace.tree(tid), expected.splitlines(), f'task {tid}: the calls')


def check_qemu(name, elf, command, out):
    record(out, ['--privilege-levels', '--symbols', elf], command)
    trace = uftrace.Trace(out)
    need(names(out) == dict(LEVELS[name]), 'tasks are named', names(out))
    need(trace.tids() == sorted(dict(LEVELS[name])), 'tasks', trace.tids())
    for (tid, _), expected in zip(LEVELS[name], TREES[name]):
        check_tree(trace, tid, expected)
    known = {'count.handlers': HANDLERS[name], 'count.begun': BEGUN.get(name, 0)}
    for key, value in trace.stats.items():
        need(value == known.get(key, 0) or not key.startswith(('anomaly.', 'count.')), f'{key} is {value}')
    need(trace.stats['calls'] == trace.stats['matched'] + UNRETURNED[name], 'calls', trace.stats)
    check_directory(out)


def counts_of(out):
    """How often each function was called that is of one level: others count as code of the level that called them first."""
    trace = uftrace.Trace(out)
    called = [trace.name(tid, uftrace.LAST, r.addr)[1] for tid in trace.tids() for r in trace.records(tid) if r.kind == 'enter']
    return collections.Counter(name for name in called if name not in SHARED)


def check_filters(name, elf, command, out):
    """Calls that a filter by level leaves are those of the level's tree."""
    levels = {task.split()[1]: tree for (_, task), tree in zip(LEVELS[name], TREES[name])}
    wanted = {('--privilege', level): [tree] for level, tree in levels.items()}
    wanted['--kernel-only',] = [tree for tree in levels.values() if tree is not USER]
    if USER in levels.values():
        wanted['--user-only',] = [USER]
    for i, (options, trees) in enumerate(wanted.items()):
        record(f'{out}-{i}', ['--symbols', elf, *options], command)
        expected = collections.Counter(name for name in ' '.join(trees).split() if name not in SHARED)
        got = counts_of(f'{out}-{i}')
        need(got == expected, options, 'leaves', got - expected, 'and not', expected - got)


def check_refused(command, out):
    done = record(out, ['--privilege-levels'], command, status=125)
    need(REFUSED in done.stderr, 'the reason is not printed:', done.stderr)
    need(not os.path.exists(out), 'a refused recording left a directory')


def check(name, version, qemu, folder, built):
    elf, arguments = built
    command = [qemu, *qemus.QUIET, '-m', '64', *arguments]
    if qemus.number(version) < qemus.TELLS_REGISTERS:
        check_refused(command, f'{folder}/{version}')
    else:
        check_qemu(name, elf, command, f'{folder}/{version}')
        check_filters(name, elf, command, f'{folder}/{version}-filtered')


def main():
    name = sys.argv[1]
    return qemus.on_each(BOARDS[name][0], f'levels-{name}', lambda folder: build(name, folder),
                         lambda *qemu: check(name, *qemu))


if __name__ == '__main__':
    sys.exit(main())
