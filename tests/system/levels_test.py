#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records a machine whose program runs at three privilege levels, each level a task of its own.

usage: levels_test.py ARCH

The program is levels/levels.c with levels/start_ARCH.S. QEMU before 9.0 is refused.
"""
import difflib
import os
import shutil
import struct
import sys
import tempfile

import qemus
from qemus import Failure, need

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ['-O1', '-g0', '-Wall', '-Wextra', '-Werror', '-ffreestanding', '-nostdlib', '-static',
         '-fno-pie', '-no-pie', '-fno-stack-protector', '-fno-optimize-sibling-calls',
         '-fno-asynchronous-unwind-tables', '-Wl,--build-id=none', '-Wl,-z,noexecstack']
BOARDS = {  # compiler's prefix, its flags, where the image and the rest are, QEMU's arguments
    'aarch64': ('aarch64-linux-gnu-', ['-mgeneral-regs-only', '-mstrict-align'], 0x40080000,
                0x40100000, ['-M', 'virt,virtualization=on', '-cpu', 'cortex-a57']),
    'riscv64': ('riscv64-linux-gnu-', ['-mcmodel=medany'], 0x80000000, 0x80100000,
                ['-M', 'virt', '-bios', 'none']),
}
LEVELS = {  # the tasks of vCPU 0, from the top down
    'aarch64': [(102, 'cpu0 NS-EL2'), (101, 'cpu0 NS-EL1'), (100, 'cpu0 NS-EL0')],
    'riscv64': [(103, 'cpu0 M'), (101, 'cpu0 S'), (100, 'cpu0 U')],
}
REFUSED = (b'guesttrace-uftrace: argument trace-privilege-level=on: this QEMU does not let plugins '
           b'read registers; QEMU 9.0 and later do\n')

# The vectors are calls where they hit. What is left at the end: the handlers that switch the machine
# off, what never returns, and what each of those was jumped to from.
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
"""],
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
"""],
}
HANDLERS = {'aarch64': 7, 'riscv64': 9}
UNRETURNED = {'aarch64': 6, 'riscv64': 3}
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


def build(arch, folder):
    prefix, flags, base, ram, _ = BOARDS[arch]
    elf = f'{folder}/levels.elf'
    qemus.build([prefix + 'gcc', *FLAGS, *flags, '-T', f'{HERE}/tree/tree.ld',
                 f'-Wl,--defsym=BASE={base},--defsym=RAM={ram}', '-o', elf,
                 f'start_{arch}.S', 'levels.c'], cwd=f'{HERE}/levels')
    return elf


def names(out):
    """{task: name} of the COMM records."""
    with open(f'{out}/perf-cpu0.dat', 'rb') as f:
        data = f.read()
    return {tid: name.rstrip(b'\0').decode()
            for _, _, _, _, tid, name, _, _, _ in struct.iter_unpack('<IHHII16sIIQ', data)}


def check_tree(trace, tid, expected):
    lines, wanted = trace.tree(tid, lambda path, name: True), expected.splitlines()
    if lines != wanted:
        print('\n'.join(difflib.unified_diff(wanted, lines, 'expected', 'recorded', lineterm='')))
        raise Failure(f'task {tid}: the calls differ')


def check_qemu(arch, elf, command, out):
    qemus.record(out, ['--privilege-levels', '--symbols', elf], command)
    trace = qemus.tracing.Trace(out)
    need(names(out) == dict(LEVELS[arch]), 'tasks are named', names(out))
    need(trace.tids() == sorted(dict(LEVELS[arch])), 'tasks', trace.tids())
    for (tid, _), expected in zip(LEVELS[arch], (*TREES[arch], USER)):
        check_tree(trace, tid, expected)
    for key, value in trace.stats.items():
        wanted = HANDLERS[arch] if key == 'doubt.handlers' else 0
        need(value == wanted or not key.startswith('doubt.'), f'{key} is {value}')
    need(trace.stats['calls'] == trace.stats['matched'] + UNRETURNED[arch], 'calls', trace.stats)
    qemus.check_directory(out)


def check_refused(command, out):
    done = qemus.record(out, ['--privilege-levels'], command, status=1)
    need(REFUSED in done.stderr, 'the reason is not told:', done.stderr)
    need(not os.path.exists(out), 'a refused recording left a directory')


def main():
    arch = sys.argv[1]
    if not shutil.which(BOARDS[arch][0] + 'gcc'):
        print(f'SKIP: no compiler for {arch}')
        return 77
    found = qemus.find(arch)
    folder = tempfile.mkdtemp(prefix=f'guesttrace-levels-{arch}-')
    failed = 0
    try:
        elf = build(arch, folder)
        for version, qemu in found:
            command = [qemu, '-display', 'none', '-serial', 'none', '-monitor', 'none', '-m', '64',
                       *BOARDS[arch][4], '-kernel', elf]
            try:
                if int(version.split('.')[0]) < 9:
                    check_refused(command, f'{folder}/{version}')
                else:
                    check_qemu(arch, elf, command, f'{folder}/{version}')
                print(f'QEMU {version}: good')
            except (Failure, OSError) as bad:
                failed += 1
                print(f'QEMU {version}: {bad}')
    finally:
        if os.environ.get('KEEP'):
            print(folder)
        else:
            shutil.rmtree(folder)
    return 1 if failed else 0 if found else 77


if __name__ == '__main__':
    sys.exit(main())
