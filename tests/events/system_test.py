#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The backends ftrace and syslog with the kernel's tracefs and with a listener at /dev/log.

usage: system_test.py tracefs|syslog FIRE

FIRE is fire.c: threads, each of which numbers its events."""
import os
import re
import subprocess
import sys

import own_mounts
from gttest.results import need, read_text

THREADS, EVENTS = 8, 500


def fire(program, backend):
    """Its process id."""
    with subprocess.Popen([program, f'hm_two,backends={backend}', '--', 'count', str(EVENTS),
                           str(THREADS)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        error = child.communicate(timeout=own_mounts.LIMIT)[1]
    need(child.returncode == 0 and not error, 'fire:', child.returncode, error)
    return child.pid


def check(events):
    """(thread, number) of each event: all are there, those of a thread one after the other."""
    numbers = {}
    for thread, number in events:
        numbers.setdefault(int(thread), []).append(int(number))
    need(sorted(numbers) == list(range(THREADS)), 'threads', sorted(numbers))
    for thread, found in numbers.items():
        need(found == list(range(EVENTS)), 'events of thread', thread, found)


def test_tracefs(program, folder):
    with own_mounts.tracefs(folder) as own:
        fire(program, 'ftrace')
        need(read_text(f'{own}/tracing_on') == '1\n', 'tracing is off')
        lines = own_mounts.traced(own)
        found = [re.fullmatch(r'hm_two a (\d+) b (\d+)', line) for line in lines]
        need(all(found), lines[:10])
        check(match.groups() for match in found)


def test_syslog(program, folder):
    with own_mounts.log(folder) as messages:
        pid = fire(program, 'syslog')
    form = re.compile(r'<30>\w{3} [ \d]\d \d\d:\d\d:\d\d %s\[%d\]: hm_two a (\d+) b (\d+)' %
                      (os.path.basename(program), pid))  # 30: LOG_DAEMON, LOG_INFO
    found = [form.fullmatch(message) for message in messages]
    need(all(found), [m for m, f in zip(messages, found) if not f][:3])
    check(match.groups() for match in found)


what, fired = sys.argv[1:3]
own_mounts.main(lambda folder: {'tracefs': test_tracefs, 'syslog': test_syslog}[what](fired, folder))
