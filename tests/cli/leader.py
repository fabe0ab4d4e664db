#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stands in for a shell: leader.py FD COMMAND... runs COMMAND as the foreground job of the terminal on
its standard input, tells FD the job's process id, waits, and tells its wait status.

Without a leader in its session a job could not be stopped from the terminal.
"""
import fcntl
import os
import signal
import sys
import termios

report, command = int(sys.argv[1]), sys.argv[2:]
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
go, start = os.pipe()
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.read(go, 1)
    os.close(report)
    os.execv(command[0], command)
os.set_inheritable(0, True)
try:
    os.setpgid(pid, pid)
except PermissionError:  # it has done so itself
    pass
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
os.tcsetpgrp(0, pid)
os.write(report, f'{pid}\n'.encode())
os.write(start, b'\n')
for fd in (1, 2):
    os.dup2(os.open('/dev/null', os.O_WRONLY), fd)
_, status = os.waitpid(pid, 0)
os.write(report, f'{status}\n'.encode())
