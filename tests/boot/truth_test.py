#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The trace against the guest itself: Linux's own function tracer counts calls of chosen functions by
each of their callers in a window, and the recording must have as many in the same one. At most 10 of a
million returns match no call.

usage: truth_test.py KERNEL SERIES [cpu=MODEL] [WORD...]

KERNEL: as for scripts/kernels. WORD: more for the kernel's command line (nokaslr).

The window lies between two lines that a guest's process writes into the tracer's log itself.
"""
import re
import sys

from gttest import boots, qemus
from gttest.commands import printed
from gttest.results import Skip, in_folder, need

MARKER = 'tracing_mark_write'
# Not every kernel has each of them, or lets its tracer see it.
CHOSEN = '''
    do_sys_openat2 path_openat vfs_read vfs_write vfs_statx iterate_dir filp_close dput pipe_read
    pipe_write kmem_cache_alloc kmem_cache_free free_unref_page handle_mm_fault filemap_fault
    copy_page_range vm_area_dup unmap_vmas exit_mmap mmput kernel_clone copy_process wake_up_new_task
    do_exit do_wait begin_new_exec load_elf_binary schedule try_to_wake_up finish_task_switch.isra.0
    scheduler_tick sched_tick update_process_times hrtimer_interrupt rcu_core __do_softirq
    handle_softirqs'''.split()
LEAST = 25  # functions that have to be left
UNMATCHED = 10 / 1000000
TRACE = '''mount -t tracefs tracefs /sys/kernel/tracing
cd /sys/kernel/tracing
echo 0 >tracing_on
echo 16384 >buffer_size_kb
for f in %s; do
    echo $f >>set_ftrace_filter
done 2>/dev/null
echo function >current_tracer
echo 1 >tracing_on
echo window >trace_marker
ls -lR /proc/sys/kernel >/dev/null
cat /proc/meminfo | sort | wc -l
i=0
while [ $i -lt 20 ]; do
    /bin/true
    i=$((i + 1))
done
echo window >trace_marker
echo 0 >tracing_on
grep entries-in trace
awk '/tracing_mark_write: window/ { on = !on; marks++; next }
     on && !/^#/ { sub(/^.*: /, ""); n[$1 " " $2]++ }
     END { for (f in n) print "COUNT", n[f], f; print "MARKS", marks }' trace'''


def one_name(name):
    """Of a system call's function, which has several."""
    return re.sub('^__(do|se|x64)_sys_', '__sys_', name)


def guest_counts(console):
    kept = re.search(r'entries-in-buffer/entries-written: (\d+)/(\d+)', console)
    need(kept and kept[1] == kept[2], "the guest's buffer was too small:", kept and kept[0])
    need('MARKS 2' in console, 'the guest saw another window:', console[-3000:])
    found = re.findall(r'^COUNT (\d+) (\S+) <-(\S+)\r?$', console, re.M)
    return {(name, one_name(caller)): int(n) for n, name, caller in found}


def recorded_counts(boot, *window):
    found = {}
    for (name, caller), n in boot.count_pairs(*window).items():
        found[name, one_name(caller)] = found.get((name, one_name(caller)), 0) + n
    return found


def compare(guest, least, most):
    """Between the calls that end and begin the window an interrupt may hit: so there are two counts."""
    wrong = []
    functions = {name for name, _ in guest}
    for pair in sorted(set(guest) | {p for p in most if p[0] in functions}):
        n, low, high = guest.get(pair, 0), least.get(pair, 0), most.get(pair, 0)
        if not low <= n <= high:
            wrong.append(f'{pair[0]} by {pair[1]}: the guest counted {n}, recorded were {low}'
                         + (f' to {high}' if high > low else ''))
    return wrong


def machine(arch, series, cpu):
    """The QEMU, and its options for the CPU model."""
    qemu = qemus.of_series(arch, series)
    if cpu and not re.search(rf'\b{cpu}\b', printed([qemu, '-cpu', 'help'])):
        raise Skip(f'QEMU {series} has no {cpu}')
    return qemu, ['-cpu', cpu] if cpu else []


def check_returns(stats):
    wrong = sum(stats[f'anomaly.{name}'] for name in ('missed-return', 'unknown-return', 'guessed-frame'))
    need(wrong <= UNMATCHED * stats['matched'], wrong, 'returns match no call,', stats['matched'], 'do')


def check(kernel, series, words, folder):
    cpu = ''.join(w[4:] for w in words if w.startswith('cpu='))
    qemu, options = machine(boots.arch_of(kernel), series, cpu)
    line = boots.command(kernel, qemu, folder, TRACE % ' '.join(CHOSEN),
                         ' '.join(w for w in words if not w.startswith('cpu=')), options)
    console = boots.record(f'{folder}/data', line)
    guest = guest_counts(console)
    functions = {name for name, _ in guest}
    need(len(functions) >= LEAST and functions <= set(CHOSEN), 'the guest counted', functions)
    boot = boots.Boot(f'{folder}/data')
    check_returns(boot.stats)
    marks = boot.calls_of(MARKER)
    need(len(marks) == 2, len(marks), 'calls of', MARKER, marks)
    (first, inside), (end, last) = marks
    wrong = compare(guest, recorded_counts(boot, inside, end), recorded_counts(boot, first, last))
    need(not wrong, f'{len(wrong)} of {len(guest)} pairs differ:', *('\n  ' + w for w in wrong))
    print(f'good: {sum(guest.values())} calls of {len(functions)} functions by {len(guest)} callers')


def main():
    kernel, series, *words = sys.argv[1:]
    return in_folder(f'truth-{kernel}', lambda folder: check(kernel, series, words, folder))


if __name__ == '__main__':
    sys.exit(main())
