#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records Debian's Linux from the first instruction to power-off.

usage: boot_test.py KERNEL SERIES [CPUS]

KERNEL: as for scripts/kernels. SERIES of QEMU: 7.2, 10.0, 11.1; vCPUs run at the same time. KEEP=1 in the environment keeps the
recording, and says where it is.
"""
import json
import os
import re
import sys

from gttest import boots, paths, qemus, uftrace_check
from gttest.commands import run
from gttest.recordings import SEVERE as USUAL
from gttest.results import Failure, in_folder, need, read_text, skip

MATCHED = 0.99999
SEVERE = [*USUAL, 'left-handler']
NAMED = 0.995  # a page that the kernel maps a second time has no name there
DOCS = os.path.join(paths.ROOT, 'docs', 'reading-a-trace.md')
# Functions that every boot calls; the last ones are a system call's path.
CALLED = {
    'aarch64': ['start_kernel', 'el0t_64_sync_handler', 'el0_svc', 'invoke_syscall',
                '__arm64_sys_getdents64'],
    'riscv64': ['do_trap_ecall_u', '__riscv_sys_getdents64'],
    'x86_64': ['do_syscall_64', 'iterate_dir'],
}
COMMON = ['rest_init', 'kernel_init', 'kernel_init_freeable', 'kthreadd', 'do_idle',
          'run_init_process', 'kernel_execve', 'load_elf_binary', 'vfs_read', 'do_exit',
          'kernel_power_off']
ONCE = ['rest_init', 'kernel_init', 'kernel_init_freeable', 'kthreadd', 'kernel_power_off']
COMMS = {'init', 'kthreadd', 'ls', 'cat', 'sort', 'true', 'poweroff'}
# Where a thread waits that is not running, or has died: nothing it calls there returns before it runs.
WAITS = re.compile(r'(__schedule|__switch_to(_asm)?|cpu_switch_to|finish_task_switch.*|'
                   r'ret_from_fork(_asm)?)$')
# Where the other vCPUs wait: idle, or halted by the one that switches the machine off.
HALTS = re.compile(r'(cpu_do_idle|arch_cpu_idle|default_idle.*|local_cpu_stop|cpu_park_loop|'
                   r'ipi_cpu_stop|ipi_stop|stop_this_cpu)$')
POWER_OFF = {'machine_power_off', 'kernel_power_off', 'native_machine_power_off'}
KERNEL_HALF = 1 << 47
PART = 20000000, 300000000  # ns of the boot, by the clocks of one and of several vCPUs


def check_counters(stats):
    """Who reads the counters finds out what they mean."""
    explained = set(re.findall(r'^\| `([\w-]+)` \|', read_text(DOCS), re.M))
    for key, value in stats.items():
        kind, _, name = key.partition('.')
        need(kind not in ('anomaly', 'count', 'rule') or name in explained, key, 'is explained nowhere')
        need(key != 'lost_records' or value == 0, value, 'records were lost')


def check_matched(stats):
    severe = {name: stats[f'anomaly.{name}'] for name in SEVERE}
    need(stats['calls'] > 5000000, 'only', stats['calls'], 'calls')
    total = stats['matched'] + sum(severe.values())
    need(stats['matched'] >= MATCHED * total,
         f'{100 * stats["matched"] / total:.4f} % of {total} returns matched;', severe)


def check_names(arch, boot):
    called = {name.split('.')[0] for name, n in boot.calls.items() if n}  # without a compiler's suffix
    missing = [name for name in COMMON + CALLED[arch] if name not in called]
    need(not missing, 'no calls of', missing)
    repeated = {name: boot.calls[name] for name in ONCE if boot.calls[name] != 1}
    need(not repeated, 'calls of', repeated)
    kernel = unnamed = 0
    for addr, calls, _ in boots.tool('count', boot.out):
        if int(addr, 16) >= KERNEL_HALF:
            kernel += int(calls)
            unnamed += int(calls) if boot.name(int(addr, 16)).startswith('0x') else 0
    need(unnamed <= (1 - NAMED) * kernel, unnamed, 'of', kernel, 'calls in the kernel have no name')


def check_files(boot):
    """The text files; trace_tool has checked the records."""
    known = uftrace_check.check_texts(boot.out)
    need(set(boot.tasks) <= set(known), 'tasks without a line:', set(boot.tasks) - set(known))


def check_order(boot):
    """The path to the first user process, each call inside the one before, or in its place."""
    outer = boot.calls_of('kernel_init')[0]
    end = outer[1]
    for name in ['run_init_process', 'kernel_execve']:
        found = [(e, x) for e, x in boot.calls_of(name) if outer[0] <= e <= outer[1] and x <= end]
        need(found, 'no call of', name, 'in its caller:', outer, boot.calls_of(name)[:5])
        outer = found[0]


def check_open(boot):
    """What the end of the recording closed is what the machine left: threads that wait, the one that
    switched the machine off, and threads of a firmware that gave way to the kernel long ago."""
    running = 0
    for tid, (calls, _, last, chain) in boot.tasks.items():
        inside = any(WAITS.match(name) or HALTS.match(name) for name in chain)
        off = POWER_OFF & set(chain)
        running += bool(off)
        need(calls and (not chain or inside or off or last < boot.kernel),
             f'task {tid} of {calls} calls ends in', ' > '.join(chain))
    need(running == 1, running, 'tasks are in', POWER_OFF)


def check_tasks(boot, series, cpus):
    comms = boot.comms()
    if series == '7.2':  # plugins cannot read registers there
        need(len(boot.tasks) > 20, 'only', len(boot.tasks), 'tasks:', sorted(comms))
        return
    need(COMMS <= comms, 'no task is called', COMMS - comms, 'but', sorted(comms))
    idle = {f'swapper/{n}' for n in range(cpus)}
    need(idle <= comms, 'no task is called', idle - comms, 'but', sorted(comms))
    need(any(c.startswith('kworker/') for c in comms), 'no kworker:', sorted(comms))


def check_programs(kernel, boot, series):
    """A program that takes the place of another one leaves none of its calls open."""
    if series == '7.2':
        return
    with open(os.path.join(boots.kernel(kernel), 'busybox'), 'rb') as f:
        entry = int.from_bytes(f.read(32)[24:], 'little')
    callers = {int(caller, 16): int(calls) for addr, calls, caller in boots.tool('count', boot.out)
               if int(addr, 16) == entry}
    need(set(callers) == {0} and callers[0] > 50, f'programs begin at {entry:#x}, called from', callers)


def uftrace(out, command, *arguments):
    done = run(['uftrace', command, '--no-pager', '-d', out, *arguments], timeout=None)
    need(done.returncode == 0 and not done.stderr and done.stdout, 'uftrace', command, ': status',
         done.returncode, done.stderr[-500:])
    return done.stdout.decode(errors='replace')


def check_console(boot):
    """Each line of the console at its time: the last ones stand before the machine is switched off."""
    with open(f'{boot.out}/extern.dat', encoding='utf-8') as f:
        lines = [line.split(' ', 1) for line in f.read().splitlines()]
    times = [int(time.replace('.', '')) for time, _ in lines]
    need(times == sorted(times), 'the times of console lines fall')
    wanted = 'GUEST ENDS'
    at = [time for time, (_, text) in zip(times, lines) if text == wanted]
    need(len(at) == 1, len(at), 'lines of the console say', wanted, 'of', lines)
    begin, off = boot.calls_of('kernel_execve')[0][1], boot.calls_of('kernel_power_off')[0]
    need(begin < at[0] < off[1], wanted, 'is at', at[0], 'not within', begin, off)


def between(begin, end):
    return '~'.join(f'{t // 10**9}.{t % 10**9:09}' for t in (begin, end))


def check_readers(boot, cpus):
    """What they can do with 400 MB in seconds; the smaller recordings of other tests meet them all."""
    if not uftrace_check.reader():
        skip('no uftrace to try')
        return
    begin = boot.calls_of('kernel_init')[0][0] - 1000
    part, short = (between(begin, begin + n) for n in (PART[cpus > 1], PART[cpus > 1] // 10))
    if cpus == 1:
        report = uftrace(boot.out, 'report', '-s', 'call')
        found = re.search(r' (\d+)  vfs_read$', report, re.M)
        need(found and int(found[1]) == boot.calls.get('vfs_read'),
             'uftrace report has another number of calls of vfs_read than', boot.calls.get('vfs_read'))
    tasks = uftrace(boot.out, 'report', '--task', '-r', part)
    need('TASK NAME' in tasks.upper(), 'no tasks in report --task:', tasks[:1000])
    graph = uftrace(boot.out, 'graph', '-D', '5', '-r', part, 'kernel_init')
    need('kernel_init_freeable' in graph, 'uftrace graph kernel_init:', graph[:1000])
    replay = uftrace(boot.out, 'replay', '-D', '3', '-F', 'kernel_init', '-r', part)
    need('kernel_init_freeable' in replay, 'uftrace replay -F kernel_init:', replay[:1000])
    events = json.loads(uftrace(boot.out, 'dump', '--chrome', '-r', short))['traceEvents']
    need(len(events) > 1000, 'uftrace dump --chrome has only', len(events), 'events')


def check_boot(kernel, series, cpus, folder):
    arch = boots.arch_of(kernel)
    line = boots.command(kernel, qemus.of_series(arch, series), folder, options=['-smp', str(cpus)])
    out = f'{folder}/data'
    boots.record(out, line)
    boot = boots.Boot(out)
    findings = []
    for check in [lambda: check_counters(boot.stats), lambda: check_matched(boot.stats),
                  lambda: check_files(boot), lambda: check_names(arch, boot), lambda: check_order(boot),
                  lambda: check_open(boot), lambda: check_tasks(boot, series, cpus),
                  lambda: check_programs(kernel, boot, series), lambda: check_console(boot),
                  lambda: check_readers(boot, cpus)]:
        try:
            check()
        except Failure as bad:
            findings.append(str(bad)[:4000])
    need(not findings, '\n'.join(findings), f'\n{boot.stats}')
    print(f'good: {boot.stats["calls"]} calls in {len(boot.tasks)} tasks')


def main():
    kernel, series, *more = sys.argv[1:]
    cpus = int(more[0]) if more else 1
    return in_folder(f'boot-{kernel}', lambda folder: check_boot(kernel, series, cpus, folder))


if __name__ == '__main__':
    sys.exit(main())
