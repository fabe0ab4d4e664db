# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots of Debian's kernels to power-off: the machines, recording one, and reading the result fast.

A machine is QEMU's usual one of its architecture, with the devices that Debian's kernels have built in.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, '..', '..', 'scripts')
sys.path += [SCRIPTS, os.path.join(HERE, '..', 'system')]
import initrd  # noqa: E402
import qemus  # noqa: E402
from qemus import Failure, need  # noqa: E402

FETCH_SECONDS = 300


class Skip(Exception):
    """It cannot run here."""


def kernel(arch):
    """The folder with vmlinuz and busybox."""
    done = subprocess.run([os.path.join(SCRIPTS, 'kernels'), arch], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=FETCH_SECONDS)
    if done.returncode != 0:
        raise Skip((done.stderr.strip().splitlines() or ['scripts/kernels failed'])[-1])
    cache = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    return os.path.join(cache, 'guesttrace', 'kernels', arch)


def qemu(arch, series):
    """The QEMU of a series (7.2, 10.0): this system's or a fetched one."""
    for version, path in qemus.find(arch):
        if version.startswith(series + '.'):
            return path
    raise Skip(f'no QEMU {series} for {arch}')


def command(arch, emulator, folder, commands=initrd.COMMANDS, append='', options=(), more=()):
    """The command line of a machine that boots, runs the commands and powers off. more: what else
    initrd.image() takes: folders, files."""
    files = kernel(arch)
    image = os.path.join(folder, 'initrd')
    with open(os.path.join(files, 'busybox'), 'rb') as f:
        data = initrd.image(f.read(), commands, *more)
    with open(image, 'wb') as f:
        f.write(data)
    return [emulator, *initrd.machine(arch, files, image, append), *options]


def compiler(arch):
    """For programs of the guest."""
    name = f'{arch}-linux-gnu-gcc'
    if not shutil.which(name):
        raise Skip(f'no {name}')
    return name


def program(arch, folder, name):
    """A program for the guest: NAME.c of here, static."""
    qemus.build([compiler(arch), '-O1', '-Wall', '-Werror', '-static', '-o', f'{folder}/{name}',
                 f'{HERE}/{name}.c'])
    with open(f'{folder}/{name}', 'rb') as f:
        return f.read()


def check_returns(arch, stats):
    """All matched. A PC's firmware and the first steps of its kernel have two that do not."""
    unknown = stats['anomaly.unknown-return']
    need(unknown <= (2 if arch == 'x86_64' else 0), unknown, 'returns that match no call')


def record_told(out, line, options=()):
    """What the guest printed, and what `guesttrace record` did."""
    done = qemus.record(out, list(options), line)
    need(b'GUEST ENDS' in done.stdout, 'the guest did not end:', done.stdout[-2000:], done.stderr)
    return done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')


def record(out, line, options=()):
    return record_told(out, line, options)[0]


def tool(*args):
    """Rows of trace_tool.c's output."""
    done = subprocess.run([os.environ['TRACE_TOOL'], *args], capture_output=True, text=True,
                          check=False)
    need(done.returncode == 0, 'trace_tool', args[0], 'says:', done.stderr)
    return [line.split() for line in done.stdout.splitlines()]


class Boot:
    """A recording: its tasks, and how often each function was called."""

    def __init__(self, out):
        self.out = out
        self.trace = qemus.tracing.Trace(out)
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
        path = f'{self.out}/perf-cpu0.dat'
        if os.path.exists(path):
            names |= comm_records(path)
        return names


def comm_records(path):
    """Names in COMM records: u32 type 3, u16 misc, u16 size, u32 pid, u32 tid, the name padded."""
    with open(path, 'rb') as f:
        data = f.read()
    names, at = set(), 0
    while at + 8 <= len(data):
        kind, size = (int.from_bytes(data[at + i:at + i + n], 'little') for i, n in ((0, 4), (6, 2)))
        if kind == 3:
            names.add(data[at + 16:at + size].split(b'\0')[0].decode(errors='replace'))
        at += max(size, 8)
    return names


def main(name, check):
    """Runs check(folder) with a folder of its own; the test's exit status. KEEP=1 in the environment
    keeps the folder, and says where it is."""
    folder = tempfile.mkdtemp(prefix=f'guesttrace-{name}-')
    try:
        check(folder)
    except Skip as why:
        print(f'SKIP: {why}')
        return 77
    except (Failure, OSError, subprocess.SubprocessError) as bad:
        print(bad)
        return 1
    finally:
        if os.environ.get('KEEP'):
            print(folder)
        else:
            shutil.rmtree(folder)
    return 0


__all__ = ['Boot', 'Failure', 'Skip', 'command', 'kernel', 'main', 'need', 'qemu', 'qemus', 'record', 'tool']
