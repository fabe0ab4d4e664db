#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is recorded with control=: flushed, switched off and on, filtered, of programs and machines."""
import os
import re
import signal
import subprocess
import sys

from gttest import commands, compilers, functions, paths, qemus, uftrace, uftrace_check
from gttest.paths import GUESTTRACE
from gttest.recordings import check_directory
from gttest.results import Failure, need, same
from recording import Client, RecordingTest, fork, read_line, step


def test_flush(t):
    """What is recorded until now is there: whole records, which uftrace and guesttrace show."""
    child = t.start()
    c = Client(t, child)
    for n in 1, 2, 3:
        step(child, 'w')
        before = c.status()['records']
        c.must('flush')
        need(t.calls() == (100 * n, 300 * n), n, t.calls())
        uftrace_check.check_files(t.out, open_ok=True)
        tid, = uftrace.tids_of(t.out)
        need(os.path.getsize(f'{t.out}/{tid}.dat') >= 16 * before, 'records are missing')
        shown = commands.printed([GUESTTRACE, 'replay', '--no-pager', t.out])
        need(shown.count(' work() {') == 100 * n, n, shown[-500:])
    if uftrace_check.reader():
        uftrace_check.check_readers(t.out, open_ok=True)
    c.close()
    t.end(child)
    check_directory(t.out)


def test_flush_compact(t):
    """The same of one file."""
    child = t.start(',format=compact')
    c = Client(t, child)
    for n in 1, 2, 3:
        step(child, 'w')
        c.must('flush')
        done = t.run([GUESTTRACE, 'replay', '--no-pager', t.out])
        need(done.status == 0 and done.out.count(b' work() {') == 100 * n, n, done.out[-500:], done.errors)
        need('it is being recorded, or was interrupted' in done.errors, done.errors)
    c.close()
    t.end(child)
    done = t.run([GUESTTRACE, 'replay', '--no-pager', t.out])
    need(done.out.count(b' work() {') == 300 and not done.errors, done.errors)


def test_no_output(t):
    """Where the output cannot be made no socket is left."""
    t.out = '/dev/full'
    child = t.user('x86_64', t.build('steps.c', 'x86_64', '-O1'), f',control={t.folder}/control', stdin=subprocess.PIPE)
    done = t.finish(child)
    need(done.status == 1 and not os.path.exists(f'{t.folder}/control'), done)


def test_off_on(t):
    child = t.start()
    c = Client(t, child)
    step(child, 'w')
    c.must('off')
    step(child, 'w')
    off = c.status()
    need((off['recording'], off['tracking']) == ('off', 'off'), off)
    step(child, 'w')
    need(c.status() == off, off, c.status())
    c.must('off')
    c.must('on')
    step(child, 'w')
    need((c.status()['recording'], c.status()['tracking']) == ('on', 'on'), c.status())
    c.close()
    done = t.end(child)
    need(t.calls() == (200, 600), t.calls())
    check_directory(t.out)
    need(len(done.said) == 1, 'anomalies:', done.said)


def test_off_on_at_once(t):
    """Switched off and on while the program waits: nothing is forgotten."""
    child = t.start()
    c = Client(t, child)
    for _ in range(3):
        c.must('off')
        c.must('on')
        step(child, 'w')
    c.close()
    t.end(child)
    need((t.calls(), calls_of(t, 'main')) == ((300, 900), 1), t.calls(), calls_of(t, 'main'))
    check_directory(t.out)


def calls_of(t, name):
    return uftrace.Trace(t.out).calls_of(name)


def depths(t, name):
    """Of the calls of that function."""
    trace = uftrace.Trace(t.out)
    return [call.depth for tid in trace.tids() for call in trace.records(tid)
            if call.kind == 'enter' and trace.name(tid, call.time, call.addr)[1] == name]


def test_waiting_thread(t):
    """A thread that stays in one system call keeps its open calls; of others nothing is known. Threads begin and end
    while it is off."""
    t.build('waits.c', 'x86_64', '-O1', '-pthread')
    child = t.user('x86_64', f'{t.folder}/waits.c-x86_64', f',control={t.folder}/control', stdin=subprocess.PIPE)
    read_line(child, 'ready')
    c = Client(t, child)
    step(child, 'w')
    c.must('off')
    for letter in 'wttw':
        step(child, letter)
    need(c.status()['tracking'] == 'off', c.status())
    c.must('on')
    for letter in 'wtw':
        step(child, letter)
    c.close()
    child.stdin.close()
    child.stdin = None
    done = t.end(child)
    need(len(done.said) == 1, 'anomalies:', done.said)
    check_directory(t.out)
    count = {name: calls_of(t, name) for name in ('work', 'main', 'steps', 'do_work', 'after')}
    need(count == {'work': 401, 'main': 2, 'steps': 1, 'do_work': 4, 'after': 1}, count)
    main, after = depths(t, 'main'), depths(t, 'after')
    need(main[0] == main[1] and after == [main[0] + 1], main, after)


def test_trace_off(t):
    """After a trace-off that no trigger undoes nothing is tracked, without a socket as well."""
    for trigger in 'leaf@trace-off\\,after=30', 'leaf@finish\\,after=30':
        t.out = f'{t.folder}/{trigger[5:8]}'
        child = t.start(',trigger=' + trigger.replace('\\,', ',,'), control='')
        for letter in 'wfedw':
            if letter == 'f':
                fork(child)
            else:
                step(child, letter, *{'e': ('status 5',), 'd': ('descriptor 3',)}.get(letter, ()))
        t.end(child)
        need(t.calls() == (11, 30 + ('finish' in trigger)), trigger, t.calls())
        check_directory(t.out)


def test_filters(t):
    """Filters are replaced, triggers added; what was wrong changes nothing."""
    child = t.start(',notrace=leaf')
    c = Client(t, child)
    total = [0, 0]

    def expect(works, leaves):
        step(child, 'w')
        c.must('flush')
        total[0] += works
        total[1] += leaves
        need(t.calls() == tuple(total), t.calls(), total)

    expect(100, 0)
    for line in ('filter -F (', 'filter -F', 'filter --depth=x', 'filter -F a -X', "filter -F 'a", 'filter --kernel-only',
                 'filter work', 'trigger work@nonsense', 'trigger work', 'filter --no-handlers=on', 'filter -L ',
                 'filter -T a@trace-on,b\\', 'trigger work@read=rax'):
        answer = c.ask(line)
        need(answer.startswith('error: ' + line.split(' ', maxsplit=1)[0] + ': '), line, answer)
    expect(100, 0)
    c.must('filter -F leaf')
    expect(0, 300)
    c.must('filter -Fwork --depth 1')
    expect(100, 0)
    c.must("filter --filter=work '--depth=2' -N 'le.f'")
    expect(100, 0)
    c.must('filter')
    expect(100, 300)
    c.must('trigger leaf@trace-off,after=10 work@trace-on,after=1000')
    expect(4, 10)
    need(c.status()['recording'] == 'off', 'the trigger')
    c.must('filter -T work@trace-on,after=50')  # it stays off; the other triggers are gone
    expect(50, 150)
    c.must('trigger work@finish')
    expect(1, 0)  # the call that ends it; work@trace-on does nothing any more
    expect(0, 0)
    need(c.ask('on') == 'error: on: a trigger has ended the recording', c.ask('on'))
    need(c.ask('filter') == 'error: filter: a trigger has ended the recording', c.ask('filter'))
    c.close()
    t.end(child)
    check_directory(t.out)


def test_depth(t):
    """The recording's own depth stays, unless a filter has another."""
    child = t.start(',depth=7')  # up to work()
    c = Client(t, child)
    for line, calls in (('status', (100, 0)), ('filter', (200, 0)), ('filter -D 9', (300, 300)), ('filter -N nothing', (400, 300)),
                        ('filter -F do_work', (500, 600))):
        c.must(line)
        step(child, 'w')
        c.must('flush')
        need(t.calls() == calls, line, t.calls())
    c.close()
    t.end(child)


def flat(out):
    """Lines of replay --flat without the numbers of tasks."""
    text = commands.printed([GUESTTRACE, 'replay', '--no-pager', '--flat', out])
    return re.sub(r'(?m)^( *\d+\.\d{9}) +\d+', r'\1', text)


def test_same(t):
    """A socket alone changes nothing of the recording, nor what the guest sees."""
    whole = {}
    for control in '', '/control':
        t.out = f'{t.folder}/out{bool(control)}'
        child = t.start(',depth=5', control)
        read = child.stdout.readline
        if control:
            c = Client(t, child)
            c.must('status')
        child.stdin.write(b'wdw')
        child.stdin.flush()
        said = [read() for _ in range(4)]
        if control:
            c.must('flush')
            c.close()
        t.end(child)
        whole[control] = said, flat(t.out)
    need(whole[''][0] == whole['/control'][0] and b'descriptor 3\n' in whole[''][0], whole[''][0], whole['/control'][0])
    same(whole['/control'][1], whole[''][1], 'with a socket:')


def check_levels(c):
    """Filters by privilege level, of code that was translated before there was any."""
    c.must('filter --user-only')
    before = c.status()
    while c.status()['calls_tracked'] < before['calls_tracked'] + 1000:
        pass
    off = c.status()
    while c.status()['calls_tracked'] < off['calls_tracked'] + 10000:
        pass
    need(c.status()['records'] - off['records'] <= 32, 'firmware is no program')  # a hart may be late
    c.must('filter --privilege M')
    while c.status()['records'] < off['records'] + 1000:
        pass


def start_machine(t, qemu, source, *arguments):
    guest = f'{t.folder}/{source}'
    compilers.compile_to(guest, 'riscv64', f'{t.guests}/{source}_riscv64.S', '-nostdlib', '-march=rv64g', '-mabi=lp64d',
                         '-Wl,-Ttext=0x80000000', '-static')
    child = commands.start([qemu, '-M', 'virt', '-bios', 'none', '-smp', '4', '-m', '64', *qemus.QUIET, '-kernel', guest,
                            *paths.keep(paths.plugin('uftrace')), '-plugin',
                            t.word(f'output={t.out}', f'control={t.folder}/control', *arguments)])
    return child, Client(t, child)


def end_machine(t, child, c):
    c.close()
    child.send_signal(signal.SIGTERM)
    done = t.finish(child)
    need(done.status == 0 and not os.path.exists(f'{t.folder}/control'), done)
    check_directory(t.out)
    return done


def until(child, c, holds):
    """The first status for which that holds."""
    status = c.status()
    while not holds(status):
        need(child.poll() is None, 'QEMU has ended')
        status = c.status()
    return status


def check_machine(t, qemu):
    child, c = start_machine(t, qemu, 'harts')
    until(child, c, lambda s: s['vcpus'] == 4)
    for _ in range(3):
        c.must('off')
        off = c.status()
        until(child, c, lambda s: s['calls_tracked'] >= off['calls_tracked'] + 10000)  # no interrupt might wake it up
        need(c.status()['records'] - off['records'] <= 32, 'calls are recorded while it is off')  # a hart may be late
        c.must('on')
        until(child, c, lambda s: s['records'] >= off['records'] + 1000)
        c.must('filter -N nothing')
        c.must('flush')
    if qemus.number_of(qemu) >= qemus.TELLS_REGISTERS:
        check_levels(c)
    end_machine(t, child, c)


def check_sleeping_machine(t, qemu, *arguments):
    child, c = start_machine(t, qemu, 'traps', *arguments)
    for _ in range(4):
        on = until(child, c, lambda s: s['tracking'] == 'on')
        until(child, c, lambda s: s['records'] >= on['records'] + 1000)
        c.must('off')
        off = until(child, c, lambda s: s['tracking'] == 'off')
        c.must('flush')
        need(c.status()['records'] == off['records'], 'calls are recorded while it is off')
        for _ in range(3):  # before it notices
            c.must('on')
            c.must('off')
        c.must('on')
    until(child, c, lambda s: s['tracking'] == 'on')
    done = end_machine(t, child, c)
    need(len(done.said) == 1, 'anomalies:', done.said)
    trace = uftrace.Trace(t.out)
    names = {int(line.split()[0], 16): line.split()[2] for line in
             commands.printed(['riscv64-linux-gnu-nm', f'{t.folder}/traps']).splitlines()}
    for tid in trace.tids():
        callers = []
        for call in trace.records(tid):
            if call.kind != 'enter':
                callers.pop()
                continue
            callers.append(names[call.addr & 0xffffffff])
            need(tuple(callers[-2:]) in {('_start', 'busy'), ('_start', 'handler'), ('busy', 'inner')} or
                 callers in (['_start'], ['busy'], ['inner'], ['handler']), callers)


def on_all_machines(t, check, *arguments):
    for version, qemu in qemus.machines('riscv64'):
        if 'trace-privilege-level=on' in arguments and version < qemus.TELLS_REGISTERS:
            continue
        t.out = f'{t.folder}/out-{version[0]}.{version[1]}'
        try:
            check(t, qemu, *arguments)
        except Failure as bad:
            raise Failure(f'QEMU {version}: {bad}') from bad


def test_machine(t):
    """Four vCPUs of a machine, switched off and on while they run."""
    on_all_machines(t, check_machine)


def test_sleeping_machine(t):
    """The same of one that has exceptions: while it is off nothing is tracked. What is recorded later has true callers."""
    on_all_machines(t, check_sleeping_machine)


def test_sleeping_levels(t):
    on_all_machines(t, check_sleeping_machine, 'trace-privilege-level=on')


def test_asleep(t):
    """Off from the beginning: nothing is tracked until it is switched on; then all is, as far as it is known."""
    child = t.start(',recording=off')
    step(child, 'w')
    c = Client(t, child)
    need(c.status()['calls_tracked'] == 0, c.status())
    c.must('on')
    step(child, 'w')
    on = c.status()
    need(on['calls_tracked'] >= 400, on)
    c.must('off')
    step(child, 'w')
    need(c.status()['records'] <= on['records'] + 20 and c.status()['calls_tracked'] <= on['calls_tracked'] + 20, on, c.status())
    c.must('on')
    step(child, 'w')
    c.close()
    t.end(child)
    need(t.calls() == (200, 600), t.calls())


def test_asleep_to_the_end(t):
    child = t.start(',recording=off')
    step(child, 'w')
    t.end(child)
    need(uftrace.Trace(t.out).tids() == [], 'a task')


def test_record(t):
    """`guesttrace record --control`, with a path relative to where it runs."""
    qemus.user('x86_64')
    guest = t.build('steps.c', 'x86_64', '-O1')
    env = dict(os.environ, GUESTTRACE_PLUGIN_DIR=paths.PLUGINS, XDG_CACHE_HOME=t.folder)
    child = commands.start([GUESTTRACE, 'record', '-q', '--format', 'uftrace', '-o', 'out', '--control', 'control', '--trace=off', '--',
                            guest],
                           env=env, cwd=t.folder, stdin=subprocess.PIPE)
    read_line(child, 'ready')
    step(child, 'w')
    c = Client(t, child)
    need(c.status()['recording'] == 'off', c.status())
    c.must('on')
    step(child, 'w')
    c.close()
    t.end(child)
    need(t.calls() == (100, 300), t.calls())


if __name__ == '__main__':
    sys.exit(functions.main(globals(), RecordingTest))
