#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Linux panics while a flight recorder records it: each snapshot has the calls up to panic(), those that the
kernel itself prints.

usage: panic_test.py KERNEL SERIES [long]

long: it has worked for a minute and a half before, and the ring is small.
"""
import os
import re
import sys

from gttest import boots, qemus
from gttest.commands import must, printed
from gttest.paths import GUESTTRACE
from gttest.recordings import record_until
from gttest.results import in_folder, need

WORK = 'ls -lR /sys/kernel /sys/bus >/dev/null\n'
SYSRQ, EXIT = WORK + 'echo c >/proc/sysrq-trigger', WORK + 'exit 3'
OPTIONS = ['--last', '16M']
BEFORE = 5000000  # ns, instructions: its task may have waited for another one
SECONDS = 90  # of the guest
LONG = f'''up=0
while [ $up -lt {SECONDS} ]; do
    ls -lR /sys/kernel /sys/bus >/dev/null
    read -r up rest </proc/uptime
    up=${{up%%.*}}
done
echo works for $up seconds
echo c >/proc/sysrq-trigger'''


def calls(path, *options):
    """(ns, task, depth, kind, function) of each line of replay --flat."""
    found = []
    for line in printed([GUESTTRACE, 'replay', '--no-pager', '--flat', *options, path]).splitlines():
        time, tid, depth, kind, *rest = line.split(None, 5)
        if kind in ('enter', 'leave', 'open') and rest[1] != 'linux:schedule':
            found.append((int(time.replace('.', '')), tid, int(depth), kind, rest[1]))
    return found


def printed_chain(console):
    """What the kernel prints as the calls that are open in panic(), the innermost first; None where it does not know: a
    return address at a function's beginning is that of a call at the end of the one before. The cold part of a function
    belongs to it."""
    at = re.search(r'panic - not syncing: .*?(?i:call trace):(.*?)(?:</TASK>|---\[|Kernel Offset)', console, re.S)
    need(at, 'the kernel prints no call trace:', console[-3000:])
    found = [(name, int(offset, 16)) for name, offset in re.findall(r'\]  ([\w.]+)\+0x([0-9a-f]+)', at[1])]
    names = [name.removesuffix('.cold') if offset else None for name, offset in found]
    need('panic' in names[:6], names)
    return names[names.index('panic'):]


def span(path):
    """ns of its first and last record."""
    found = re.search(r'^time +: .*, from ([\d.]+) s to ([\d.]+) s$', printed([GUESTTRACE, 'info', path]), re.M)
    return [int(text.replace('.', '')) for text in found.groups()]


def check_panic(path, console, goes_on=True):
    """The calls that are open at panic() are those that the kernel prints; what was called just before is there, and
    what panic() called."""
    entered = [call for call in calls(path, '-C', 'panic') if call[3] == 'enter']
    chain = [name for *_, name in entered]
    need(chain.count('panic') == 1 and chain[-1] == 'panic', path, 'has these calls of panic():', chain)
    wanted = printed_chain(console)
    need(len(wanted) >= 6 and all(name in (own, None) for own, name in zip(chain[::-1], wanted)) and len(chain) >= len(wanted), path,
         'has', chain[::-1], 'the kernel has', wanted)
    time, tid, depth = entered[-1][:3]
    at = time - span(path)[0]
    part = calls(path, '--task', tid, '--from', f'{at - BEFORE}ns', '--to', f'{at + BEFORE}ns')
    at = part.index(entered[-1])
    need(sum(c[3] == 'leave' for c in part[:at]) > 10, 'nothing was called before', part[:at])
    inside = [c[-1] for c in part[at + 1:] if c[3] == 'enter' and c[2] in (depth + 1, depth + 2)]  # newer ones have vpanic()
    need('console_verbose' in inside or not goes_on, 'panic() calls', inside)


def machine(kernel, series, folder, commands, append, reboots):
    line = boots.command(kernel, qemus.of_series(boots.arch_of(kernel), series), folder, commands, append=append)
    return [word for word in line if word != '-no-reboot' or not reboots]


def record_console(kernel, series, folder, commands, last, seconds):
    """A line of the console makes a snapshot; the kernel hangs. The snapshot's path, and what the kernel printed."""
    out = f'{folder}/console'
    done = record_until(lambda: os.path.exists(out), out, ['--last', last, '-T', 'console:Kernel panic'],
                        machine(kernel, series, folder, commands, '', False), seconds)
    return out, done.stdout.decode(errors='replace')


def check_sysrq(kernel, series, folder):
    check_panic(*record_console(kernel, series, folder, SYSRQ, '16M', 100))


def check_long(kernel, series, folder):
    """Of minutes the ring has the last moment, without a gap."""
    out, console = record_console(kernel, series, folder, LONG, '2M', 500)
    worked = re.search(r'works for (\d+) seconds', console)
    need(worked and int(worked[1]) >= SECONDS, console[-3000:])
    check_panic(out, console)
    first, last = span(out)
    need(first > last * 0.8, 'the ring has', first, 'to', last)


def check_reset(kernel, series, folder):
    """A call makes a snapshot, and the reset another one; the machine boots again."""
    out = f'{folder}/reset'
    done = record_until(lambda: os.path.exists(out + '.1'), out, [*OPTIONS, '-T', 'panic@snapshot,count=1'],
                        machine(kernel, series, folder, EXIT, 'panic=1', True))
    console = done.stdout.decode(errors='replace')
    check_panic(out, console, False)
    check_panic(out + '.1', console)


def check_end(kernel, series, folder):
    """A reset that ends QEMU."""
    out = f'{folder}/end'
    done = must([GUESTTRACE, 'record', '-o', out, *OPTIONS, '--', *machine(kernel, series, folder, EXIT, 'panic=1', False)])
    need(not os.path.exists(out + '.1'), 'there are two snapshots')
    check_panic(out, done.stdout.decode(errors='replace'))


def check(kernel, series, folder):
    for part in check_sysrq, check_reset, check_end:
        part(kernel, series, folder)


def main():
    kernel, series, *how = sys.argv[1:]
    return in_folder(f'panic-{kernel}', lambda folder: (check_long if how else check)(kernel, series, folder))


if __name__ == '__main__':
    sys.exit(main())
