# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots of Debian's kernels to power-off: the machines, recording one, and reading the result fast.

A machine is QEMU's usual one of its architecture, with the devices that Debian's kernels have built in.
"""
import os

import initrd  # of scripts/
from gttest import compilers, paths, recordings, uftrace
from gttest.commands import printed, run
from gttest.results import Skip, need, read_bytes, write

FETCH_SECONDS = 300
SECONDS = 500


def kernel(name):
    """The folder with vmlinuz and busybox. name: of scripts/kernels: ARCH, ARCH-RELEASE."""
    done = run([os.path.join(paths.SCRIPTS, 'kernels'), name], timeout=FETCH_SECONDS)
    if done.returncode != 0:
        said = done.stderr.decode(errors='replace').strip().splitlines()
        raise Skip((said or ['scripts/kernels failed'])[-1])
    return os.path.join(paths.CACHE, 'kernels', name)


def arch_of(name):
    """The architecture of a kernel's name."""
    return name.split('-')[0]


def command(name, emulator, folder, commands=initrd.COMMANDS, append='', options=(), more=()):
    """The command line of a machine that boots the kernel of that name, runs the commands and powers off.
    more: what else initrd.image() takes: folders, files."""
    arch, files = arch_of(name), kernel(name)
    data = initrd.image(read_bytes(os.path.join(files, 'busybox')), commands, *more)
    image = write(os.path.join(folder, 'initrd'), data)
    return [emulator, *initrd.machine(arch, files, image, append), *options]


def program(arch, folder, name):
    """The bytes of a program for the guest: tests/boot/NAME.c, static."""
    return read_bytes(compilers.compile_to(f'{folder}/{name}', arch, paths.source('boot', f'{name}.c'), '-O1', '-Wall',
                                           '-Werror', '-static'))


def check_returns(arch, stats):
    """All matched. A PC's firmware and the first steps of its kernel have two that do not."""
    unknown = stats['anomaly.unknown-return']
    need(unknown <= (2 if arch == 'x86_64' else 0), unknown, 'returns that match no call')


def record_told(out, line, options=(), **more):
    """What the guest printed, and what `guesttrace record` did."""
    done = recordings.record(out, options, line, **{'seconds': SECONDS, **more})
    need(b'GUEST ENDS' in done.stdout, 'the guest did not end:', done.stdout[-2000:], done.stderr)
    return done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')


def record(out, line, options=()):
    return record_told(out, line, options)[0]


def tool(*args):
    """Rows of trace_tool.c's output."""
    text = printed([paths.built('boot', 'trace_tool'), *args])
    return [line.split() for line in text.splitlines()]


class Boot:
    """A recording: its tasks, and how often each function was called."""

    def __init__(self, out):
        self.out = out
        self.trace = uftrace.Trace(out)
        self.stats = self.trace.stats
        self.tasks = {}  # task: (calls, first time, last time, functions open at the end)
        self.kernel = 1 << 64  # the time of its first call
        for tid, calls, first, last, kernel, *chain in tool('check', out):
            self.tasks[int(tid)] = (int(calls), int(first), int(last),
                                    [self.name(int(addr, 16)) for addr in chain])
            self.kernel = min(self.kernel, int(kernel) or self.kernel)
        self.calls = self.count()

    def name(self, addr):
        """Of the kernel and firmware, which every session knows."""
        return self.trace.name(min(self.trace.pid_of), 1 << 63, addr)[1]

    def count(self, *window):
        """{function: calls}, of a window of time if given."""
        found = {}
        for (name, _), calls in self.count_pairs(*window).items():
            found[name] = found.get(name, 0) + calls
        return found

    def count_pairs(self, *window):
        """{(function, its caller): calls}"""
        found = {}
        for addr, calls, caller in tool('count', self.out, *map(str, window)):
            pair = self.name(int(addr, 16)), self.name(int(caller, 16))
            found[pair] = found.get(pair, 0) + int(calls)
        return found

    def calls_of(self, name):
        """(entry, exit) times of a function's calls, in order."""
        addrs = {row[0] for row in tool('count', self.out) if self.name(int(row[0], 16)) == name}
        return sorted((int(e), int(x)) for a in addrs for _, e, x in tool('calls', self.out, a))

    def comms(self):
        """Names that tasks have, or had for a while."""
        names = {os.path.basename(exename) for _, _, _, exename in self.trace.sessions}
        names |= {name for _, _, name in uftrace.comms(self.out)}
        return names
