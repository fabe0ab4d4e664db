# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs commands under limits and takes their times."""
import ctypes
import glob
import json
import os
import resource
import select
import shutil
import statistics
import struct
import subprocess
import threading
import time

SECONDS = 120               # a run that takes longer is killed
FILE_BYTES = 6 << 30        # a recording that grows further too
WARM_BYTES = 2 << 30
TURN_NS = 100_000_000       # of a process that shares a CPU; the most that Linux gives


class Failed(Exception):
    """A run did not do what it should."""


class Run:
    def __init__(self, wall, cpu, output):
        self.wall, self.cpu, self.output = wall, cpu, output


def limits(realtime):
    def set_them():
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if realtime:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    return set_them


def last_lines(path):
    with open(path, errors='replace') as f:
        return ' | '.join(f.read().strip().splitlines()[-3:])


def processor_time(pid):
    """Seconds that a process has used."""
    with open('/proc/%d/stat' % pid) as f:
        fields = f.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def read_output(process, since, watch):
    """All that a process prints, and when it printed `since` (clock, processor time), if ever."""
    output, begun = b'', None
    fd = process.stdout.fileno()
    while True:
        if watch:
            watch(process.pid)
        if select.select([fd], [], [], 0.01 if watch else None)[0]:
            piece = os.read(fd, 65536)
            if not piece:
                return output, begun
            output += piece
            if since and not begun and since in output:
                begun = time.monotonic(), processor_time(process.pid)


def run(command, scratch, realtime=False, since=None, watch=None, seconds=SECONDS):
    """The time from start to end of a command whose exit status must be 0, or from when it printed
    `since`. `watch` is called again and again while it runs: not for runs whose time matters."""
    err_path = os.path.join(scratch, 'err')
    with open(err_path, 'wb') as err:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.monotonic(), 0
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=err, preexec_fn=limits(realtime))
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            output, since_begun = read_output(process, since, watch)
            status = process.wait()  # without a timeout: that one would poll
        finally:
            timer.cancel()
            process.kill()
        end = time.monotonic()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if status != 0:
        raise Failed('%s: status %d: %s' % (os.path.basename(command[0]), status,
                                            last_lines(err_path)))
    if since:
        if not since_begun:
            raise Failed('never printed %r: %r' % (since, output[-200:]))
        begun = since_begun
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(end - begun[0], cpu - begun[1], output)


def share_cpu(cpu):
    """The calling process shares a CPU with others, by turns that are so long (Linux 6.12 and later)
    that it does not matter that each begins with the others' caches: by turns of a few ms all take a
    fifth more time, and what is compared comes too near to each other."""
    os.sched_setaffinity(0, {cpu})
    attributes = struct.pack('IIQiIQQQ', 48, os.SCHED_OTHER, 0, 0, 0, TURN_NS, 0, 0)
    number = {'x86_64': 314, 'aarch64': 274, 'riscv64': 274}.get(os.uname().machine)
    if number:
        ctypes.CDLL(None).syscall(number, 0, attributes, 0)  # sched_setattr; older: no effect


def standard_error(values):
    """Of their mean."""
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0


def at_once(commands):
    """Seconds of processor time that each command takes, of all its threads; all run at once on this
    process's last CPU, so that its bad moments hit them alike."""
    cpu = max(os.sched_getaffinity(0))
    running = [subprocess.Popen(c, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                preexec_fn=lambda: share_cpu(cpu))
               for c in commands]
    seconds = []
    for process in running:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds.append(used.ru_utime + used.ru_stime)
    for command, process in zip(commands, running):
        if process.returncode != 0:
            raise Failed('status %d: %s' % (process.returncode, ' '.join(command)))
    return seconds


def pipeline(commands, measured, realtime=False):
    """The time from the start of the first to the end of the last of commands that are joined by
    pipes, and the peak memory in bytes of the one whose program is `measured`."""
    begun, processes, source = time.monotonic(), [], subprocess.DEVNULL
    for command in commands:
        last = command is commands[-1]
        process = subprocess.Popen(command, stdin=source, stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL if last else subprocess.PIPE,
                                   preexec_fn=limits(realtime))
        if processes:
            source.close()
        processes.append(process)
        source = process.stdout
    peak = 0
    for command, process in zip(commands, processes):
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Failed('%s: status %d: %s' % (os.path.basename(command[0]), process.returncode,
                                                process.stderr.read()[-300:].decode()))
        if command[0] == measured:
            peak = used.ru_maxrss * 1024
        process.stderr.close()
    return time.monotonic() - begun, peak


def remove(path):
    """A recording: a folder, a file, or the parts of one."""
    for p in (path, path + '.old', path + '.parts', *glob.glob(glob.escape(path) + '.[0-9]*')):
        if os.path.isdir(p):
            shutil.rmtree(p, ignore_errors=True)
        elif os.path.exists(p):
            os.unlink(p)


def warm(scratch, size):
    """Writes and deletes a file as large as a recording. A virtual machine gets its memory from its
    host when it first touches it, which costs several times the write; without this, the first to
    write after a pause pays for that."""
    path = os.path.join(scratch, 'warm')
    piece = bytes(1 << 20)
    with open(path, 'wb', buffering=0) as f:
        for _ in range(min(size, WARM_BYTES) >> 20):
            f.write(piece)
    os.unlink(path)
    os.sync()  # what the run before wrote is not this one's to wait for


def file_system(path):
    """The type of the file system that holds a folder."""
    best, kind = '', '?'
    with open('/proc/mounts') as f:
        for line in f:
            _, where, what = line.split()[:3]
            inside = os.path.realpath(path) + '/'
            if inside.startswith(where.rstrip('/') + '/') and len(where) >= len(best):
                best, kind = where, what
    return kind


guesttrace = None       # the command, set by bench.py


def statistics_of(recording):
    """The numbers in a recording's guesttrace.stats; of a compact file, what `guesttrace info` says."""
    if os.path.isfile(recording) or os.path.isfile(recording + '.1'):
        done = subprocess.run([guesttrace, 'info', '--json', recording], capture_output=True, text=True)
        if done.returncode:
            raise Failed('no statistics: %s' % done.stderr.strip())
        return json.loads(done.stdout)
    path = os.path.join(recording, 'guesttrace.stats')
    numbers = {}
    try:
        with open(path) as f:
            for line in f:
                key, _, value = line.strip().partition('=')
                numbers[key] = int(value) if value.isdigit() else value
    except OSError as e:
        raise Failed('no statistics: %s' % e)
    return numbers


def sync_files(path):
    start = time.monotonic()
    files = [os.path.join(path, name) for name in os.listdir(path)] if os.path.isdir(path) else [path]
    for name in files:
        fd = os.open(name, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
    return time.monotonic() - start


class Pairs:
    """What bare and recorded runs in turn have shown."""

    def __init__(self):
        self.bare, self.recorded, self.stats, self.sync = [], [], {}, []

    def numbers(self):
        def median(values):
            return statistics.median(values)
        ratios = [r.wall / b.wall for b, r in zip(self.bare, self.recorded)]
        cpu = [r.cpu / max(b.cpu, 1e-3) for b, r in zip(self.bare, self.recorded)]
        out = {
            'bare': median([r.wall for r in self.bare]),
            'recorded': median([r.wall for r in self.recorded]),
            'ratio': median(ratios), 'ratio_min': min(ratios), 'ratio_max': max(ratios),
            'cpu_ratio': median(cpu),
            'records': self.stats['records'], 'bytes': self.stats['bytes'],
        }
        if self.sync:
            out['sync'] = median(self.sync)
        return out


def pairs_at_once(bare, recorded, count, data, statistics_of):
    """The figures of both commands run at once, `count` times: processor time, the mean of its ratios
    and the standard error of that."""
    rounds = []
    for _ in range(count + 1):  # the first fills caches
        remove(data)
        rounds.append(at_once([bare, recorded]))
        stats = statistics_of(data)
    remove(data)
    ratios = [r / b for b, r in rounds[1:]]
    return {'bare': statistics.median(b for b, _ in rounds[1:]),
            'recorded': statistics.median(r for _, r in rounds[1:]),
            'ratio': statistics.mean(ratios), 'error': standard_error(ratios),
            'records': stats['records'], 'bytes': stats['bytes']}


def pairs(bare, recorded, count, data, scratch, statistics_of, realtime=False, sync=False,
          since=None, expect=None):
    """Runs both commands in turn, `count` times. What they print is the same, or has `expect`.
    statistics_of(data) gives at least 'records' and 'bytes' of what was recorded."""
    result = Pairs()
    size = 64 << 20
    for turn in range(count + 1):
        # The first turn fills caches and tells how much is written; it does not count.
        remove(data)
        warm(scratch, size)
        b = run(bare, scratch, realtime, since)
        r = run(recorded, scratch, realtime, since)
        stats = statistics_of(data)
        size = stats['bytes']
        if not expect and b.output != r.output:
            raise Failed('printed something else when recorded')
        if expect and not (expect in b.output and expect in r.output):
            raise Failed('did not print %r: %r' % (expect, r.output[-200:]))
        if sync:
            seconds = sync_files(data)
        if turn:
            result.bare.append(b)
            result.recorded.append(r)
            if sync:
                result.sync.append(seconds)
        result.stats = stats
    remove(data)
    return result
