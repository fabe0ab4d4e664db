# SPDX-License-Identifier: GPL-2.0-or-later
"""What a trace event costs the thread that fires it: off, and with each backend; beside LTTng-UST, and
beside what a write() of a line takes without us. The reader against babeltrace2 is a row too."""
import os
import select
import shutil
import signal
import statistics as stat
import subprocess

import measure
from table import Column, Missing, Row, Table, wanted

EVENTS = 10000000
MEMORY = '/dev/shm'  # traces that no disk slows down


def program(bench, name):
    path = os.path.join(bench.build, 'bench', 'events_bench_' + name)
    if not os.path.exists(path):
        raise Missing('%s is not built' % path)
    return path


def run(command, env=None):
    """(nanoseconds, events lost)"""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **(env or {})})
    if done.returncode != 0:
        raise measure.Failed('%s: %s' % (command[0], done.stderr.strip()[-200:]))
    ns, lost = done.stdout.split()[-2:]
    return float(ns), int(lost)


def figures(bench, events, take):
    """take() gives (nanoseconds, lost), a few times."""
    found = [take() for _ in range(bench.count + 1)][1:]
    times = [ns for ns, _ in found]
    return {'events': events, 'ns': stat.median(times), 'ns_min': min(times), 'ns_max': max(times),
            'lost': max(lost for _, lost in found)}


def ours(*options, events=EVENTS, threads=1, most=None, output=None):
    def cases(bench):
        def take():
            path = os.path.join(MEMORY if output else bench.folder, 'guesttrace-bench.events')
            words = [o.replace('@', path) for o in options]
            try:
                return run([program(bench, 'own'), str(events), str(threads), *words])
            finally:
                if os.path.exists(path):
                    os.unlink(path)
        yield {'wanted': most, 'threads': threads}, lambda: figures(bench, events, take)
    return cases


def bare(path, events):
    def cases(bench):
        yield {'wanted': None, 'threads': 1}, lambda: figures(
            bench, events, lambda: run([program(bench, 'own'), 'bare', path, str(events)]))
    return cases


class Lttng:
    """A session daemon of our own and a session, in a folder that goes with it."""

    def __init__(self, folder):
        self.dir = os.path.join(folder, 'lttng')
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(self.dir)
        self.env = {'LTTNG_HOME': self.dir, 'HOME': self.dir, 'LTTNG_UST_ALLOW_BLOCKING': '1',
                    'LTTNG_UST_REGISTER_TIMEOUT': '30000'}
        self.name = 'guesttrace-bench-%d' % os.getpid()

    def words(self, *words):
        done = subprocess.run(['lttng', '--no-sessiond', *words], capture_output=True, text=True,
                              timeout=60, env={**os.environ, **self.env})
        if done.returncode != 0:
            raise measure.Failed('lttng %s: %s' % (' '.join(words), done.stderr.strip()[-200:]))

    def __enter__(self):
        subprocess.run(['lttng-sessiond', '--daemonize', '--no-kernel',
                        '--pidfile=' + os.path.join(self.dir, 'pid')], check=True, timeout=60,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env={**os.environ, **self.env})
        self.words('create', self.name, '--output=' + os.path.join(self.dir, 'trace'))
        # As ours by default: a thread whose buffer is full waits.
        self.words('enable-channel', '--userspace', '-s', self.name, '--subbuf-size=1M',
                   '--num-subbuf=8', '--blocking-timeout=inf', 'c')
        self.words('enable-event', '--userspace', '-s', self.name, '-c', 'c', 'bench:*')
        self.words('start', self.name)
        return self

    def __exit__(self, *_):
        subprocess.run(['lttng', '--no-sessiond', 'destroy', self.name], capture_output=True,
                       timeout=60, env={**os.environ, **self.env})
        with open(os.path.join(self.dir, 'pid')) as f:
            pid = int(f.read())
        process = os.pidfd_open(pid)
        os.kill(pid, signal.SIGTERM)
        select.select([process], [], [], 30)
        os.close(process)
        shutil.rmtree(self.dir, ignore_errors=True)


def lttng(events, threads):
    def cases(bench):
        command = [program(bench, 'ust'), str(events), str(threads)]
        for tool in ('lttng', 'lttng-sessiond'):
            if not shutil.which(tool):
                raise Missing('no ' + tool)

        def take():
            with Lttng(MEMORY) as session:
                return run(command, session.env)
        yield {'wanted': None, 'threads': threads}, lambda: figures(bench, events, take)
    return cases


def line(result):
    return ['{:,}'.format(result['events']), '%.1f' % result['ns'],
            '%.1f to %.1f' % (result['ns_min'], result['ns_max']), str(result['lost']),
            wanted(result['ns'], most=result['wanted'], form='%.0f')]


SIMPLE = 'backends=simple'
RECORDING = Table(
    [Row('events-off', 'an event that is off', ours('prefix=off', events=200000000, most=1)),
     Row('events-simple', 'simple, file in memory', ours('bench_two,%s,file=@' % SIMPLE, most=25,
                                                         output=MEMORY)),
     Row('events-lttng', 'LTTng-UST, file in memory', lttng(EVENTS, 1)),
     Row('events-simple-2', 'simple, two threads', ours('bench_two,%s,file=@' % SIMPLE, threads=2,
                                                        output=MEMORY)),
     Row('events-lttng-2', 'LTTng-UST, two threads', lttng(EVENTS, 2)),
     Row('events-disk', 'simple, file on disk', ours('bench_two,%s,file=@' % SIMPLE)),
     Row('events-flight', 'simple, `policy=overwrite`',
         ours('bench_two,%s,policy=overwrite,file=@' % SIMPLE, output=MEMORY)),
     Row('events-log', 'log, to /dev/null', ours('bench_two,backends=log,log=/dev/null',
                                                 events=1000000)),
     Row('events-write', 'a write() of such a line, alone', bare('/dev/null', 1000000))],
    [Column('event', 16), Column('what', 32), Column('threads', 7)],
    [Column('events', 12), Column('ns', 8), Column('spread', 16), Column('lost', 6),
     Column('wanted', 12)],
    lambda r: ['`%s`' % r['row'], r['words'], str(r.get('threads', ''))], line,
    'Trace events: what one costs the thread that fires it')

TABLES = [RECORDING]
