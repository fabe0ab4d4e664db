# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a flight recorder's snapshot stops a guest that calls all the time."""
import os
import subprocess
import tempfile
import threading
import time

import measure
import workloads
from table import Column, Row, Table, one, wanted

SECONDS, WAIT, SNAPSHOTS = 60, 45, 4
MOST_MS = 1


def size_of_ring(folder):
    sizes = [os.stat(os.path.join(folder, n)).st_size for n in os.listdir(folder) if n.endswith('.last')
             and n != '.guesttrace.last'] if os.path.isdir(folder) else []
    return max(sizes, default=0)


def wait_for_ring(folder, size):
    """Until it is full, or as full as a slow machine makes it in time."""
    end = time.monotonic() + WAIT
    while size_of_ring(folder) < size * 15 // 16 and time.monotonic() < end:
        time.sleep(0.1)


def take(bench, socket):
    """A snapshot; when it began and ended, by the guest's clock in ms, and its bytes."""
    begun = time.monotonic()
    done = subprocess.run([bench.guesttrace, 'ctl', socket, 'snapshot'], capture_output=True, text=True)
    ended = time.monotonic()
    if done.returncode:
        raise measure.Failed('no snapshot: ' + done.stderr.strip())
    path = done.stdout.split()[-1]
    size = os.stat(path).st_size
    os.unlink(path)
    return begun * 1000, ended * 1000, size


def longest(lines, spans):
    """The longest stop, in ms, of the guest's periods that overlap a snapshot, and of the others."""
    during, otherwise, last = 0, 0, lines[0][0]
    for end, us in lines[1:]:
        inside = any(begun <= end and last <= ended for begun, ended, _ in spans)
        during, otherwise = max(during, us * inside), max(otherwise, us * (not inside))
        last = end
    return during / 1000, otherwise / 1000


def snapshots(bench, mb=64):
    qemu = bench.qemus('user', 'x86_64')[0]
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, 'control')
        plugin = bench.plugin('uftrace', 'output=' + bench.data, 'summary=off', 'format=compact', f'last={mb}M',
                              'control=' + socket)
        command = workloads.with_plugin(workloads.program('pauses.c', str(SECONDS))(bench.context, qemu), plugin)
        guest = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                 preexec_fn=measure.limits(bench.realtime))
        output = []
        reader = threading.Thread(target=lambda: output.extend(guest.stdout))
        reader.start()
        try:
            wait_for_ring(bench.data + '.parts', mb << 20)
            spans = []
            for _ in range(SNAPSHOTS):
                spans.append(take(bench, socket))
                time.sleep(0.5)
        finally:
            guest.kill()
            guest.wait()
            reader.join()
            measure.remove(bench.data)
    during, otherwise = longest([tuple(map(int, line.split())) for line in output if line.endswith('\n')], spans)
    return {'bytes': min(s for _, _, s in spans), 'took': max(e - b for b, e, _ in spans), 'during': during,
            'otherwise': otherwise, 'wanted': MOST_MS}


TABLE = Table(
    [Row('snapshot', 'of 64 MB, four times', one(snapshots))],
    [Column('snapshots', 16), Column('what', 0)],
    [Column('MB', 6), Column('it took, ms', 11), Column('longest stop during it, ms', 26),
     Column('otherwise, ms', 13), Column('wanted', 6)],
    lambda r: ['`%s`' % r['row'], r['words']],
    lambda r: ['%.1f' % (r['bytes'] / 1e6), '%.0f' % r['took'], '%.2f' % r['during'], '%.2f' % r['otherwise'],
               wanted(r['during'], most=r['wanted'], form='%.0f')],
    'A snapshot of a flight recorder, and the guest')
