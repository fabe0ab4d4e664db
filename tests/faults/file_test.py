#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compact files of several processes that are killed, that are cut, that are recorded over."""
import array
import fcntl
import glob
import mmap
import os
import random
import re
import shutil
import signal
import subprocess
import time

from gttest import uftrace
from gttest.commands import SECONDS, run
from gttest.paths import GUESTTRACE, LONG
from gttest.results import Skip, common, need, read_bytes, write
from runs import calls_of, main, needs_exit, opened, sanitizers, trace_of

CHILDREN = 3
TIMES = 40 if LONG else 3


def start(t, path, name, count=0):
    """The family, in a process group of its own."""
    out = f'{t.folder}/{name}'
    command = t.command(t.guest('family'), [path, str(CHILDREN), str(count)], (), out)
    return out, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, start_new_session=True)


def counts(path):
    return array.array('Q', read_bytes(path))


def wait_for(p, path, least):
    """Until all have counted so far."""
    end = time.monotonic() + SECONDS
    size = 8 * (CHILDREN + 1)
    while not os.path.exists(path) or os.path.getsize(path) < size:
        need(p.poll() is None and time.monotonic() < end, 'the guest does not begin')
    with open(path, 'rb') as f, mmap.mmap(f.fileno(), size, prot=mmap.PROT_READ) as m:
        while min(array.array('Q', m[:])) < least:
            need(p.poll() is None and time.monotonic() < end, 'the guest does not go on')


def wait_until_unused(out):
    """Until the killed processes are gone, though nobody may wait for them: their locks are."""
    for path in [out + '.parts/.guesttrace.lock', *glob.glob(glob.escape(out) + '.parts/.*.ring')]:
        with open(path, 'rb') as f:
            fcntl.flock(f, fcntl.LOCK_EX)


def ticks(out):
    """How often each process has called tick(), in order of their numbers."""
    trace = trace_of(out)
    return [sum(n for (kind, _, addr), n in trace.counts(tid).items()
                if kind == 'enter' and trace.name(tid, uftrace.LAST, addr)[1] == 'tick') for tid in trace.tids()]


def check_counts(out, path):
    """None that was counted is missing, none is invented."""
    wanted, got = sorted(counts(path)), sorted(ticks(out))
    need(len(wanted) == len(got) and all(w <= g <= w + 1 for w, g in zip(wanted, got)), 'counted', wanted,
         'recorded', got)


def test_all_killed(t):
    r = random.Random(3)
    for i in range(TIMES):
        path = f'{t.folder}/count{i}'
        out, p = start(t, path, f'all{i}')
        with p:
            wait_for(p, path, r.choice([1, 1000, 30000]) + r.randrange(1000))
            os.killpg(p.pid, signal.SIGKILL)
        wait_until_unused(out)
        t.check_all(out, killed=True, readers=i == 0)
        check_counts(out, path)


def test_one_killed(t):
    """The others go on, and the last of them takes what the pool of that one has."""
    path = f'{t.folder}/count'
    out, p = start(t, path, 'one', 5000000 if LONG else 500000)
    with p:
        wait_for(p, path, 1000)
        children = run(['pgrep', '-P', str(p.pid)]).stdout.split()
        need(children, 'all have ended')
        os.kill(int(children[-1]), signal.SIGKILL)
        said = p.communicate(timeout=SECONDS)[1]
    need(p.returncode == 5, p.returncode, said)
    t.check(out, open_ok=True)
    check_counts(out, path)
    t.check_all(out, killed=True, readers=False)


def parent_killed(t, name):
    path = f'{t.folder}/{name}.count'
    out, p = start(t, path, name, 100000)
    with p:
        wait_for(p, path, 1000)
        p.send_signal(signal.SIGKILL)
    return path, out


def test_parent_killed(t):
    """Its children are still recorded; the last one gathers."""
    path, out = parent_killed(t, 'parent')
    end = time.monotonic() + SECONDS
    while os.path.exists(out + '.parts'):
        need(time.monotonic() < end, 'nobody has gathered')
        time.sleep(0.01)
    t.check(out, open_ok=True)
    check_counts(out, path)


def test_recorded_over(t):
    """What was interrupted is kept, once, and can still be repaired."""
    guest = t.guest('tick')
    for i in range(3):
        done = t.traced(guest, [f'{t.folder}/count{i}', 'kill', str(1000 * (i + 1))])
        need(done.status == -9, done.status, done.all_errors)
    need(sorted(n for n in os.listdir(t.folder) if n.startswith('data')) ==
         ['data', 'data.old', 'data.old.parts', 'data.parts'], os.listdir(t.folder))
    for out, calls in (t.out, 3000), (t.out + '.old', 2000):
        t.check_all(out, killed=True)
        need(calls_of(out, 'tick') == calls, out, calls_of(out, 'tick'))


def test_in_the_way(t):
    """What is no recording of ours is left alone, and the guest does not run."""
    needs_exit()

    def refused(word):
        done = t.traced(t.guest('busy'), ['10'])
        need(done.status == 1 and not done.out and len(done.said) == 1 and word in done.said[0], done.all_errors)
    os.mkdir(t.out + '.parts')
    write(t.out + '.parts/mine', 'mine')
    refused('data.parts: is in the way')
    shutil.rmtree(t.out + '.parts')
    t.both(t.guest('busy'), ['10'], status=7)
    before = read_bytes(t.out)
    write(t.out + '.old', 'mine')
    refused('data.old is in the way')
    need(read_bytes(t.out) == before, 'the recording has changed')
    need(not os.path.exists(t.out + '.parts'), 'a directory is left')


def test_cut(t):
    """A file that was cut anywhere: what it still has is a beginning of what was recorded."""
    t.both(t.guest('busy'), ['100000'], status=7, plugin=['clock=insn'])
    whole = read_bytes(t.out)
    shutil.copytree(opened(t.out), f'{t.folder}/whole')
    tid, = uftrace.tids_of(f'{t.folder}/whole')
    records = read_bytes(f'{t.folder}/whole/{tid}.dat')
    r, some = random.Random(5), set()
    for size in [16, 17, len(whole) - 1, *(r.randrange(16, len(whole)) for _ in range(60 if LONG else 12))]:
        write(t.out, whole[:size])
        if ' 0 records' not in t.repair(t.out):
            t.check(t.out, readers=False)
        need('nothing to repair' in t.repair(t.out), size, 'the second repair repairs')
        path = f'{opened(t.out)}/{tid}.dat'
        got = read_bytes(path) if os.path.exists(path) else b''
        same = common(records, got)
        rest = [kind for _, kind, *_ in uftrace.read_records(got[same // 16 * 16:])]
        need(set(rest) <= {uftrace.EXIT} and len(rest) < 100, size, 'what follows', same // 16, 'is', rest)
        some.add(len(got))
    need(len(some) > 2, 'lengths', some)


def test_damaged(t):
    """A block that is damaged is said, with its place; the rest is repaired."""
    t.both(t.guest('busy'), ['100000'], status=7, plugin=['clock=insn'])
    whole = bytearray(read_bytes(t.out))
    whole[16 + 64 + 5] ^= 1
    write(t.out, bytes(whole))
    done = run([GUESTTRACE, 'repair', t.out])
    need(done.returncode == 1 and re.search(rb"data: offset 16: the block's checksum does not fit it", done.stderr), done)
    need(not os.path.exists(t.out + '.parts'), 'the directory is left')


def test_removed(t):
    """A file that the guest removes leaves nothing; one that it moves can be moved back, and has its names again."""
    out = f'{t.folder}/gone'
    done = t.both(t.guest('busy'), ['1000', out], status=7, out=out)
    need(done.said == [f'nothing is left: {out} was removed while it was recorded'], done.said)
    need(not glob.glob(out + '*'), glob.glob(out + '*'))
    out = f'{t.folder}/moved'
    done = t.both(t.guest('busy'), ['1000', out, out + '-away'], status=7, out=out)
    need(len(done.said) == 1 and 'guesttrace repair' in done.said[0], done.said)
    os.rename(out + '-away', out)
    t.repair(out)
    need(calls_of(out, 'leaf') == 2000, calls_of(out, 'leaf'))
    need(not os.path.exists(out + '.parts'), 'the working directory is left')


def test_command(t):
    """`guesttrace record` completes what a kill has left, and says so; killed itself, repair does."""
    if sanitizers():
        raise Skip('the command preloads no sanitizer into QEMU')
    command = [GUESTTRACE, 'record', '--format', 'compact', '-o', t.out, '--qemu', 'qemu-x86_64', t.guest('tick'),
               f'{t.folder}/count', 'kill', '5000']
    done = run(command)
    need(done.returncode == -9 and b'was killed (Killed); the recording was completed: ' in done.stderr, done)
    need(b'view it with: guesttrace view' in done.stderr, done)
    t.check(t.out)
    need(calls_of(t.out, 'tick') == 5000, calls_of(t.out, 'tick'))
    need('nothing to repair' in t.repair(t.out), 'it needs a repair')
    path = f'{t.folder}/count2'
    command[-3:] = [path, 'never', '0']
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as p:
        end = time.monotonic() + SECONDS
        while not os.path.exists(path) or not counts(path) or counts(path)[0] < 1000:
            need(p.poll() is None and time.monotonic() < end, 'the guest does not begin')
        os.killpg(p.pid, signal.SIGKILL)
    t.check_all(t.out, killed=True)
    need(counts(path)[0] <= calls_of(t.out, 'tick') <= counts(path)[0] + 1, 'calls are missing')


if __name__ == '__main__':
    main(globals())
