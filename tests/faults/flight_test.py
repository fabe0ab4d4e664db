#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Flight recorders: what snapshots have, what a kill and a full disk leave."""
import array
import errno
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import time

from file_test import CHILDREN, check_counts, counts, wait_for, wait_until_unused
from gttest import uftrace
from gttest.commands import SECONDS, run
from gttest.paths import GUESTTRACE, LONG
from gttest.results import Skip, common, need, read_bytes, write
from runs import calls_of, expect, main, opened, sanitizers, trace_of

TIMES = 30 if LONG else 3
TICKS = 3000000 if LONG else 1000000  # more than a ring has
LAST = 'last=1M'


def snapshots(out):
    """FILE, FILE.1 ..., those that are there; no other file is."""
    folder, name = os.path.split(out)
    there = [n for n in os.listdir(folder) if re.fullmatch(re.escape(name) + r'(\.\d+)?', n)]
    return [f'{folder}/{n}' for n in sorted(there, key=lambda n: int(n[len(name) + 1:] or 0))]


def left(out):
    """What a snapshot that is not complete would be."""
    return glob.glob(glob.escape(out) + '.parts/.*.snapshot') + glob.glob(glob.escape(out) + '*.tmp')


def ask(out, n=1):
    with open(out + '.parts/.guesttrace.fifo', 'wb') as f:
        f.write(b'snapshot\n' * n)


def wait_until(p, what, is_true):
    end = time.monotonic() + SECONDS
    while not is_true():
        need(p.poll() is None and time.monotonic() < end, what)


def start(t, words, name='data', last=LAST):
    out = f'{t.folder}/{name}'
    command = t.command(t.guest(words[0]), words[1:], [last], out)
    return out, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, start_new_session=True)


def wait_for_count(p, path, least):
    def counted():
        return os.path.exists(path) and bool(counts(path)) and counts(path)[0] >= least
    wait_until(p, 'the guest does not go on', counted)


# ---- what is kept -----------------------------------------------------------------------------------

def test_suffix(t):
    """The last records, as they are in the whole recording; before them the functions that are open."""
    guest = t.guest('busy', flags=['-static'])  # later QEMUs map libraries elsewhere in each run
    t.both(guest, ['120000'], status=7, plugin=['clock=insn'], out=t.folder + '/whole')
    tid, = trace_of(t.folder + '/whole').tids()
    whole = read_bytes(f'{opened(t.folder + "/whole")}/{tid}.dat')
    for last in ('last=1ms',):
        t.both(guest, ['120000'], status=7, plugin=['clock=insn', last])
        tid, = trace_of(t.out).tids()
        kept = read_bytes(f'{opened(t.out)}/{tid}.dat')
        same = common(kept[::-1], whole[::-1]) // 16 * 16
        need(16 * 1000 < same < len(whole) * 3 / 4, last, 'keeps', same, 'of', len(whole))
        extra = list(uftrace.read_records(kept[:-same]))
        need(all(kind == uftrace.ENTRY for _, kind, *_ in extra) and len(extra) < 100, 'before them', extra)
        times = [r[0] for r in uftrace.read_records(kept[-same:])]
        wanted = int(last[5]) * 1000000
        need(wanted <= times[-1] - times[0] <= wanted * 18 // 16, last, 'has', times[-1] - times[0], 'ns')
        t.check(t.out)
        os.unlink(t.out)


def test_nothing_before(t):
    """There is no file before a snapshot; one that is asked for is complete while the guest goes on."""
    path = f'{t.folder}/count'
    out, p = start(t, ['family', path, '0', '0'], last='last=1ms')
    with p:
        wait_for_count(p, path, 20000)
        need(not os.path.exists(out), 'there is a file')
        for i in range(3):
            ask(out)
            wait_until(p, 'no snapshot', lambda n=i: len(snapshots(out)) == n + 1)
            t.check(snapshots(out)[i], open_ok=True)
            need(calls_of(snapshots(out)[i], 'tick') >= 10000, i, 'calls are missing')
            need(p.poll() is None, 'the guest has ended')
        before = [read_bytes(s) for s in snapshots(out)]
        os.killpg(p.pid, signal.SIGKILL)
    wait_until_unused(out)
    said = t.repair(out)
    need(f'the last snapshot is {out}.3' in said, said)
    need([read_bytes(s) for s in snapshots(out)[:3]] == before, 'a snapshot was changed')
    t.check(f'{out}.3')
    need('nothing to repair' in t.repair(f'{out}.3'), 'it needs another repair')


def test_end(t):
    """The end is a snapshot, where something came since the last one."""
    done = t.both(t.guest('busy'), ['10000'], status=7, plugin=[LAST, 'clock=insn'])
    expect(done)
    need(snapshots(t.out) == [t.out] and calls_of(t.out, 'leaf') == 20000, snapshots(t.out), calls_of(t.out, 'leaf'))
    need(not os.path.exists(t.out + '.parts'), 'the directory is left')
    t.check(t.out)
    t.both(t.guest('busy'), ['10000'], status=7, plugin=[LAST, 'trigger=main@snapshot'])
    need(snapshots(t.out) in ([t.out], [t.out, t.out + '.1']) and os.path.exists(t.out + '.old'), os.listdir(t.folder))
    need(calls_of(snapshots(t.out)[-1], 'leaf') == 20000, snapshots(t.out))


def test_trigger(t):
    """What was recorded before the trigger is in; one that is named replaces nothing."""
    words = ['trigger=tick@snapshot=boom,,after=999,,count=1', 'trigger=tick@snapshot=mine,,after=1999,,count=1']
    write(t.folder + '/mine', 'mine')
    done = t.traced(t.guest('tick'), [t.folder + '/count', 'exit', '5000'], [LAST, *words])
    need(done.status == 9, done.all_errors)
    expect(done, r'a snapshot was not written: .*/mine exists: it is left alone, name another')
    need(calls_of(t.folder + '/boom', 'tick') >= 1000, calls_of(t.folder + '/boom', 'tick'))
    t.check(t.folder + '/boom', open_ok=True)
    need(read_bytes(t.folder + '/mine') == b'mine', 'a file was replaced')
    last = snapshots(t.out) or [t.folder + '/boom']  # that was written when the guest had ended
    need(len(last) == 1 and calls_of(last[0], 'tick') == 5000, last)
    need(not left(t.out), left(t.out))


def test_refused(t):
    for words, said in (['trigger=leaf@snapshot'], r'-T \(trigger=\).*: a snapshot needs a flight recorder'), \
                       ([LAST, 'format=uftrace'], 'argument last=1M: only compact recordings'), \
                       (['last=3x'], 'argument last=3x: expected a size or a time'), \
                       (['last=1K'], 'argument last=1K: expected a size from 1M to 1G'):
        done = t.traced(t.guest('busy'), ['10'], words)
        need(done.status == 1 and len(done.said) == 1 and re.match(said, done.said[0]), words, done.all_errors)
        need(not os.path.exists(t.out) and not os.path.exists(t.out + '.parts'), os.listdir(t.folder))


# ---- several processes ------------------------------------------------------------------------------

def test_at_once(t):
    """Processes that write snapshots at the same time, and somebody who asks for more."""
    out, p = start(t, ['family', f'{t.folder}/count', str(CHILDREN), str(TICKS // 10)],
                   last=LAST + f',trigger=tick@snapshot,,every={TICKS // 60}')
    with p:
        wait_for(p, f'{t.folder}/count', 1000)
        ask(out, 100)
        p.communicate(timeout=SECONDS)
    need(p.returncode == 5, p.returncode)
    need(len(snapshots(out)) >= 3 and not left(out), snapshots(out), left(out))
    for path in snapshots(out):
        t.check(path, open_ok=True, readers=False, running=True)
    check_counts(snapshots(out)[-1], f'{t.folder}/count')
    need(not os.path.exists(out + '.parts'), 'the directory is left')


def test_exec(t):
    """A process goes on in its ring after an execve(), as does a forked child."""
    guest = t.guest('again')
    again = t.command(guest, ['100'], [LAST], t.out)
    done = t.traced(guest, ['1000', shutil.which(again[0]), *again[1:]], [LAST])
    # The QEMU that the guest names itself is a program of the host: what it runs joins by its own plugin.
    said = [line for line in done.said if 'ran outside QEMU' not in line]
    need(done.status == 3 and not said, done.all_errors)
    need(snapshots(t.out) == [t.out] and calls_of(t.out, 'tick') == 1000 + 500 + 2 * 100, snapshots(t.out),
         calls_of(t.out, 'tick'))
    t.check(t.out)


def test_all_killed(t):
    """At any moment: what was recorded is there, of each process."""
    r = random.Random(7)
    for i in range(TIMES):
        path = f'{t.folder}/count{i}'
        out, p = start(t, ['family', path, str(CHILDREN), '0'], f'all{i}')
        with p:
            wait_for(p, path, r.choice([1, 1000, 20000]) + r.randrange(1000))
            if i % 2:
                ask(out)
            os.killpg(p.pid, signal.SIGKILL)
        wait_until_unused(out)
        need('the last snapshot is' in t.repair(out), 'nothing is repaired')
        check_counts(snapshots(out)[-1], path)
        for file in snapshots(out):
            t.check(file, open_ok=True, readers=False)
        need(not left(out) and not os.path.exists(out + '.parts'), os.listdir(t.folder))


def test_one_killed(t):
    """The last of the others takes what its pool has into the snapshot at the end."""
    out, p = start(t, ['family', f'{t.folder}/count', str(CHILDREN), str(TICKS)])
    with p:
        wait_for(p, f'{t.folder}/count', 1000)
        children = run(['pgrep', '-P', str(p.pid)]).stdout.split()
        need(children, 'all have ended')
        os.kill(int(children[-1]), signal.SIGKILL)
        p.communicate(timeout=SECONDS)
    need(p.returncode == 5 and snapshots(out) == [out], p.returncode, snapshots(out))
    check_counts(out, f'{t.folder}/count')
    t.check(out, open_ok=True, readers=False)
    need(not os.path.exists(out + '.parts'), 'the directory is left')


def test_recorded_over(t):
    """The ring of a killed process is kept, once."""
    for i in range(2):
        done = t.traced(t.guest('tick'), [f'{t.folder}/count{i}', 'kill', str(1000 * (i + 1))], [LAST])
        need(done.status == -9, done.status, done.all_errors)
    t.repair(t.out + '.old')
    t.repair(t.out)
    need(calls_of(t.out + '.old', 'tick') == 1000 and calls_of(t.out, 'tick') == 2000, os.listdir(t.folder))


# ---- a full disk ------------------------------------------------------------------------------------

def test_full(t):
    """A snapshot that does not fit: nothing of it stays, the ring goes on, the next one is complete."""
    for rule in f'write,3,{errno.ENOSPC},.snapshot', f'write,0,{errno.EIO},.snapshot', f'open,0,{errno.EMFILE},.snapshot':
        env = dict(os.environ, FAULTY=rule, FAULTY_FOR='1')
        done = t.traced(t.guest('tick'), [t.folder + '/count', 'exit', '50000'],
                        [LAST, 'trigger=tick@snapshot,,after=10000,,count=1'], preload=t.library('faulty'), env=env)
        need(done.status == 9, done.all_errors)
        expect(done, r'a snapshot was not written: .*\.snapshot: ' + os.strerror(int(rule.split(',')[2])))
        need(snapshots(t.out) == [t.out] and calls_of(t.out, 'tick') == 50000, rule, snapshots(t.out))
        t.check(t.out)
        need(not left(t.out), left(t.out))
        os.unlink(f'{t.folder}/count')


def test_full_at_the_end(t):
    """The last snapshot does not fit: the working directory stays, and repair makes it."""
    env = dict(os.environ, FAULTY=f'write,0,{errno.ENOSPC},.snapshot')
    done = t.traced(t.guest('tick'), [t.folder + '/count', 'exit', '5000'], [LAST], preload=t.library('faulty'), env=env)
    need(done.status == 9, done.all_errors)
    expect(done, r'.*\.snapshot: No space left on device; view the rest with: guesttrace repair ' + re.escape(t.out))
    need(not snapshots(t.out) and not left(t.out), os.listdir(t.folder))
    need('the last snapshot is' in t.repair(t.out), 'nothing is repaired')
    need(calls_of(t.out, 'tick') == 5000, calls_of(t.out, 'tick'))


def test_small_disk(t):
    """The ring itself does not fit: it goes on in what there is."""
    disk = t.small_disk(options='size=7m')
    done = t.traced(t.guest('wild'), ['300000'], ['last=64M', 'clock=host'], out=disk + '/data')
    need(os.path.exists(disk + '/data') or 'repair' in str(done.said), done.all_errors)
    t.check(disk + '/data', open_ok=True, readers=False)


# ---- the command ------------------------------------------------------------------------------------

def test_command(t):
    """SIGUSR2 to guesttrace; a killed guest; guesttrace killed as well."""
    if sanitizers():
        raise Skip('the command preloads no sanitizer into QEMU')
    path = f'{t.folder}/count'
    command = [GUESTTRACE, 'record', '--last', '1M', '-o', t.out, '--qemu', 'qemu-x86_64']
    done = run([*command, t.guest('tick'), path, 'kill', '5000'])
    need(done.returncode == -9 and b'was killed (Killed); the recording was completed: ' in done.stderr, done)
    need(f'snapshot: {t.out}, '.encode() in done.stderr and calls_of(t.out, 'tick') == 5000, done)
    forever = [*command, t.guest('family'), path + '2', '0', '0']
    with subprocess.Popen(forever, stderr=subprocess.DEVNULL, start_new_session=True) as p:
        wait_for_count(p, path + '2', 1000)
        p.send_signal(signal.SIGUSR2)
        wait_until(p, 'no snapshot', lambda: os.path.exists(t.out) and os.path.exists(t.out + '.old'))
        os.killpg(p.pid, signal.SIGKILL)
    wait_until_unused(t.out)
    need(calls_of(t.out, 'tick') >= 1000, calls_of(t.out, 'tick'))
    t.repair(t.out)
    need(counts(path + '2')[0] <= calls_of(t.out + '.1', 'tick') <= counts(path + '2')[0] + 1, 'calls are missing')
    done = run([*command, t.guest('tick'), path + '3', 'exit', '70000'])
    need(done.returncode == 9 and f'snapshot: {t.out}, '.encode() in done.stderr and
         b'1 snapshot, ' in done.stderr and b'.1, ' not in done.stderr, done)


if __name__ == '__main__':
    main(globals())
