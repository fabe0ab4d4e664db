#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace events in a Linux kernel: types from its BTF, strings of the guest's programs, and the tasks that run.

Programs in the guest open files whose names have their process ids, and print these; the kernel opens no others of
that name, and returns from each call on the same task.

usage: guest_events_test.py ARCH SERIES
"""
import json
import re
import sys

from gttest import boots, qemus
from gttest.commands import printed
from gttest.paths import GUESTTRACE
from gttest.results import in_folder, need, read_text, write

COMMANDS = '''for i in 1 2 3 4; do sh -c 'echo PID $$; exec cat /marker-$$ 2>/dev/null'; done
cat /marker-odd 2>/dev/null
'''
EVENTS = '''# the kernel's own prototypes, and one of a function by another name
guest.do_sys_open*
vcpu at=do_sys_openat2@return open_done(int64_t ret) "ret=%"PRId64
'''
ENOENT = -2


def check(arch, series, folder):
    line = boots.command(arch, qemus.of_series(arch, series), folder, commands=COMMANDS)
    done = boots.run([GUESTTRACE, 'record', '-q', '--guest-events', write(f'{folder}/events', EVENTS), '-o',
                      f'{folder}/trace', '--', *line])
    console = done.stdout.decode(errors='replace')
    need('GUEST ENDS' in console, 'the guest did not end:', console[-2000:], done.stderr)
    declared = read_text(f'{folder}/trace.events')
    need(re.search(r'^do_sys_openat2\(int dfd, const char \*filename, void \*how\) "', declared, re.M), declared)
    found = [json.loads(text) for text in printed([GUESTTRACE, 'events', 'simpletrace', '--json', f'{folder}/trace']).splitlines()]
    pids = [int(pid) for pid in re.findall(r'PID (\d+)', console)]
    need(len(pids) == 4, console)
    opened = [r for r in found if r['event'] == 'do_sys_openat2' and '/marker-' in r['args']['filename']]
    need([(r['args']['filename'], r['pid'], r['tid']) for r in opened[:4]] == [(f'/marker-{p}', p, p) for p in pids],
         pids, opened)
    need(opened[4]['args']['filename'] == '/marker-odd' and len(opened) == 5, opened)
    need({r['args']['dfd'] for r in opened} == {-100}, opened)
    for entry in opened:
        back = next(r for r in found[found.index(entry):] if r['event'] == 'open_done' and r['tid'] == entry['tid'])
        need(back['args'] == {'__cpu': '0x0', 'ret': ENOENT}, back)


if __name__ == '__main__':
    sys.exit(in_folder('guest-events', lambda folder: check(*sys.argv[1:3], folder)))
