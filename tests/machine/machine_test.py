#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records a machine whose kernel logs its own calls, and compares the two.

usage: machine_test.py CASE.c [ARCH...]

It runs on the newest QEMU for each architecture, and on the oldest for one of them, another with each case; with
GUESTTRACE_LONG on each QEMU there is.

A case is one source file, linked with all of kernel/. Comment lines of the form ` * key: value` at its
beginning say:

    arches: A...       default: aarch64 riscv64 x86_64
    defines: D...      for the compiler
    smp: N             vCPUs, default 1
    calls: N           so many calls at least are in the kernel's log
    handlers: N        and so many asynchronous interrupts
    tasks: N...        how many tasks have calls; default: as many as the kernel has logs with calls
    reuse: yes         stacks are used again, perhaps as the same task; what was open there may have
                       been left then
    clocks: own        vCPUs' clocks differ, so what was left before the end cannot be told
    roots: F...        calls of these functions are looked at as if nothing had called them: whether they
                       are in a task of their own is open, since a new stack pointer came from nowhere
    anywhere: F...     handlers that first call one of these may stand anywhere, as asynchronous ones may
    machine: W...      more arguments of QEMU's; {one-insn}: one instruction a block
    ARCH: W...         the same for an architecture alone
    same: V...         QEMUs of these series record the same calls, task by task, in the same order
    allow: C...        anomalies that may not be 0
    options: O...      more options of guesttrace record
    plugin: A...       the same as arguments of the plugin, for both formats at once
    readers: A...      where uftrace reads the first recording, too; default: on every architecture
    beyond: N          so many threads are more than is recorded: they are missing
    guessed: V...      on QEMUs of these series stack pointers cannot be known: calls may be wrong, and guessed-stack
                       says so

With KEEP=1 in the environment the recordings stay, and where they are is printed.

Both become forests of calls: of each log the calls outside of asynchronous handlers; of each task the
calls without the library's own (k_...). Handlers (vector_...) whose first call is one of async_... are
taken out, wherever they are, and compared as a bag. The rest is compared one for one, and so is what was left
and what was still open when the kernel called k_finish. One QEMU of each architecture records in both formats at once.
"""
import collections
import os
import re
import sys
import zlib

from gttest import boards, elf, qemus, uftrace
from gttest.recordings import BothFormats, check_directory, check_severe, converse, record, symbols
from gttest.results import Skip, Tally, common, in_folder, need, read_text, skip

IMAGE = 0xffff
NEVER = 1 << 64


class Call:
    """A function, what it called, and whether it was left before the end."""

    def __init__(self, name):
        self.name, self.calls, self.left = name, [], False

    def lines(self, indent=''):
        todo, found = [(self, indent)], []
        while todo:
            call, before = todo.pop()
            found.append(f'{before}{call.name}{"" if call.left else " ..."}')
            todo += [(c, before + '  ') for c in reversed(call.calls)]
        return found

    def is_handler(self, anywhere):
        first = self.calls[0].name if self.calls else ''
        return self.name.startswith('vector_') and (first.startswith('async_') or first in anywhere)


def text(calls):
    return '\n'.join(line for call in calls for line in call.lines())


def one_insn(qemu):
    return ['-singlestep'] if qemus.number_of(qemu) < (8, 1) else ['-accel', 'tcg,one-insn-per-tb=on']


class Machine:
    """A case, built for an architecture."""

    def __init__(self, case, arch, scratch):
        self.case, self.arch = case, arch
        self.built = boards.build_kernel(arch, scratch, case.path, case.words('defines'))
        self.elf, self.base = self.built.elf, boards.kernel_at(arch)[0]
        self.names = self.functions()

    def functions(self):
        """{place in the image: function}"""
        names = {}
        for s in sorted(elf.functions(self.elf), key=lambda s: (s.addr, s.name)):
            place = s.addr - self.base
            if s.binding in (elf.STB_LOCAL, elf.STB_GLOBAL, elf.STB_WEAK) and 0 <= place <= IMAGE and (
                    place not in names or names[place].startswith('k_')):
                names[place] = s.name
        return names

    def command(self, qemu):
        given_here = self.case.words('machine') + self.case.words(self.arch)
        more = [word for given in given_here for word in (one_insn(qemu) if given == '{one-insn}' else [given])]
        return self.built.command_on_stdio(qemu, '-smp', self.case.keys.get('smp', '1'), *more)


class Case:
    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding='utf-8') as f:
            head = f.read().split('*/', 2)[1]
        self.keys = dict(re.findall(r'^ \* ([a-z0-9_]+): (.*)$', head, re.M))

    def words(self, key):
        return self.keys.get(key, '').split()


def log_lane(machine, events):
    roots, stack = [], []
    for event in re.findall(r'\.|[^.]{2}', events):
        if event == '.':
            need(stack, 'the log has a return too many')
            stack.pop().left = True
            continue
        place = ((ord(event[0]) - 48) << 6 | (ord(event[1]) - 48)) << 4
        call = Call(machine.names.get(place, f'{place:#x}'))
        (stack[-1].calls if stack else roots).append(call)
        stack.append(call)
    return roots


def read_log(machine, said):
    """{log: calls}, [handlers], places where the image ran"""
    need(said.endswith('end\n'), 'the kernel says', said[-500:])
    logs, handlers, places = {}, [], [machine.base]
    for line in said.splitlines():
        word = line.split()
        if word and word[0] == 'log':
            calls = log_lane(machine, word[3] if len(word) > 3 else '')
            if word[2] == '0':
                logs[word[1]] = take_handlers(calls, handlers, machine.case.words('anywhere'))
            else:
                handlers += calls
        elif word and word[0] == 'place':
            places.append(int(word[1], 16) & (1 << 48) - 1)
    return logs, handlers, places


def take_handlers(calls, handlers, anywhere):
    """Those whose place is open, out of what they are in, and of each other."""
    kept = []
    for call in calls:
        call.calls = take_handlers(call.calls, handlers, anywhere)
        (handlers if call.is_handler(anywhere) else kept).append(call)
    return kept


class Recorded:
    """A recording as calls: {task: calls}, handlers."""

    def __init__(self, machine, out, places):
        self.trace = uftrace.Trace(out)
        self.machine, self.places = machine, places
        self.end = NEVER
        tasks = {tid: self.read_task(tid) for tid in self.trace.tids()}
        need(self.end != NEVER, 'k_finish was not recorded')
        self.handlers = []
        for tid, roots in tasks.items():
            todo = list(roots)
            while todo:
                call = todo.pop()
                call.left = call.left < self.end
                todo += call.calls
            tasks[tid] = take_handlers(roots, self.handlers, machine.case.words('anywhere'))
        self.tasks = {tid: calls for tid, calls in tasks.items() if calls}

    def name(self, addr):
        for place in self.places:
            if 0 <= addr - place <= IMAGE:
                return self.machine.names.get(addr - place, f'{addr:#x}')
        return f'{addr:#x}'

    def read_task(self, tid):
        top = Call('')
        stack, own = [top], []
        for record in self.trace.records(tid):
            if record.kind == 'leave':
                if own.pop():
                    stack.pop().left = record.time
                continue
            call = Call(self.name(record.addr))
            own.append(not call.name.startswith('k_'))
            if call.name == 'k_finish':
                self.end = record.time
            if own[-1]:
                stack[-1].calls.append(call)
                stack.append(call)
        return top.calls


def take_roots(forest, roots):
    """All trees of a forest, and those of calls of the roots, out of the others."""
    todo, found = list(forest), list(forest)
    while todo:
        call = todo.pop()
        away = [c for c in call.calls if c.name in roots]
        call.calls = [c for c in call.calls if c.name not in roots]
        found += away
        todo += call.calls + away
    return found


def trees(tasks, roots):
    return [c for calls in tasks.values() for c in take_roots(calls, roots)]


def show_difference(wanted, got, where):
    """The first lines that differ, with some before, less what all are indented. Where calls differ, it
    is no matter which were left."""
    calls = wanted.replace(' ...', ''), got.replace(' ...', '')
    if calls[0] != calls[1]:
        wanted, got = calls
    wanted, got = wanted.splitlines(), got.splitlines()
    same = common(wanted, got)
    before = max(0, same - 12)
    shown = [wanted[before:same], wanted[same:same + 8], got[same:same + 8]]
    indent = min((len(line) - len(line.lstrip()) for part in shown for line in part), default=0)
    print(f'{where}: line {same + 1} of {len(wanted)} logged and {len(got)} recorded differs')
    for mark, part in zip(' -+', shown):
        for line in part:
            print(mark, line[indent:])


def compare(wanted, got, where):
    """Two bags of texts."""
    more = collections.Counter(wanted)
    more.subtract(got)
    missing = sorted(t for t in wanted if more[t] > 0)
    extra = sorted(t for t in got if more[t] < 0)
    if not missing and not extra:
        return True
    print(f'{where}: {len(missing)} of {len(wanted)} missing, {len(extra)} of {len(got)} others')
    if missing:
        near = max(extra, key=lambda t: common(missing[0], t), default='')
        show_difference(missing[0], near, where)
    else:
        show_difference('', extra[0], where)
    return False


def count(calls):
    todo, found = list(calls), 0
    while todo:
        found += 1
        todo += todo.pop().calls
    return found


def check_log(case, logs, handlers):
    calls = sum(count(c) for c in [*logs.values(), handlers])
    need(calls >= int(case.keys['calls']), 'the kernel logged only', calls, 'calls')
    need(len(handlers) >= int(case.keys.get('handlers', 0)), 'only', len(handlers), 'interrupts')
    return calls


def check_handlers(recorded, out, handled):
    """The functions that begin handlers, as the recording lists them, are those that the kernel's vectors begin with."""
    path = f'{out}/guest-handlers.txt'
    need(os.path.exists(path) == bool(handled), handled, 'handlers, and a list of them:', os.path.exists(path))
    names = {recorded.name(int(line, 16)) for line in read_text(path).split()} if handled else set()
    strange = {name for name in names if not re.match('k_|vector_', name)}
    need(not strange and ('handlers' not in recorded.machine.case.keys or any(n.startswith('vector_') for n in names)), 'handlers', names)


def check(machine, version, qemu, out, readers):
    case = machine.case
    # The log has what is called after a jump below the function that jumped.
    done = record(out, ['--no-tail-calls', *case.words('options')], machine.command(qemu))
    symbols(out, machine.elf)
    logs, handlers, places = read_log(machine, done.stdout.decode(errors='replace'))
    calls = check_log(case, logs, handlers)
    recorded = Recorded(machine, out, places)
    wanted = [text(calls) for calls in logs.values() if calls]
    got = [text(calls) for calls in recorded.tasks.values()]
    one_to_one = not {'reuse', 'roots'} & set(case.keys)
    if not one_to_one:
        wanted = [text([c]) for c in trees(logs, case.words('roots'))]
        got = [text([c]) for c in trees(recorded.tasks, case.words('roots'))]
    if {'reuse', 'clocks'} & set(case.keys):
        wanted, got = ([t.replace(' ...', '') for t in texts] for texts in (wanted, got))
    if version.rsplit('.', 1)[0] in case.words('guessed'):
        need(recorded.trace.stats['anomaly.guessed-stack'], 'no switch is said to be guessed')
        return
    beyond = int(case.keys.get('beyond', '0'))
    if beyond:
        wanted = [t for t in wanted if t in got]
    good = compare(wanted, got, 'calls')
    good &= compare([text([c]) for c in handlers], [text([c]) for c in recorded.handlers],
                    'interrupts')
    tasks = [int(n) for n in case.words('tasks')] or [len(wanted)]
    if not one_to_one:
        tasks = range(1, len(wanted) + 1)
    print(f'  {calls} calls, {len(handlers)} interrupts, {len(recorded.tasks)} tasks,',
          {k.partition('.')[2]: v for k, v in recorded.trace.stats.items() if '.' in k and v})
    need(good, 'the calls differ')
    need(len(recorded.tasks) in tasks, len(recorded.tasks), 'tasks, not', tasks)
    check_severe(recorded.trace.stats, case.words('allow'))
    check_handlers(recorded, out, recorded.trace.stats['count.handlers'])
    counted = recorded.trace.stats.get('count.beyond-tasks', 0)
    need(counted == beyond, counted, 'threads beyond, not', beyond)
    check_directory(out, readers)


def sequences(out):
    """{task: its calls and returns without their times}; QEMU 7.2 does not tell stack pointers, and
    so shows a thread as suspended for a moment that only has loaded its own"""
    found = {}
    trace = uftrace.Trace(out)
    for tid in trace.tids():
        found[tid] = [(kind, depth, addr) for _, kind, depth, addr, _ in uftrace.read_records(trace.data(tid))
                      if kind != uftrace.EVENT]
    return found


def check_formats(machine, qemu, folder):
    """In a compact file is what is in a directory, recorded at once."""
    both = BothFormats(folder, 'tail-calls=off', *machine.case.words('plugin'))
    command = machine.command(qemu)
    converse([command[0], *both.words(), *command[1:]])
    both.check()


def check_same(case, recorded):
    recorded = {version: calls for version, calls in recorded.items()
                if version.rsplit('.', 1)[0] in case.words('same')}
    for version, calls in recorded.items():
        first = list(recorded)[0]
        need(calls == recorded[first], first, 'and', version, 'recorded different calls')


def in_new(scratch, name):
    os.mkdir(f'{scratch}/{name}')
    return f'{scratch}/{name}'


def check_arch(case, arch, scratch, tally, turn):
    machine, recorded = Machine(case, arch, scratch), {}

    def check_one(version, qemu):
        out = f'{scratch}/{arch}-{version}'
        check(machine, version, qemu, out, not recorded and arch in (case.words('readers') or boards.BOARDS))
        if not recorded:
            check_formats(machine, qemu, in_new(scratch, arch))
        recorded[version] = sequences(out)
    for version, qemu in qemus.find_newest(arch, turn):
        print(f'{case.name} {arch} QEMU {version}:')
        if tally.run('  FAILED', check_one, version, qemu):
            print('  good')
    check_same(case, recorded)


def check_all(case, arches, scratch):
    tally, turn = Tally(), arches[zlib.crc32(case.name.encode()) % len(arches)]
    for arch in arches:
        try:
            check_arch(case, arch, scratch, tally, arch == turn)
        except Skip as why:
            skip(why)
    return tally.status()


def main():
    sys.setrecursionlimit(20000)
    case = Case(sys.argv[1])
    arches = sys.argv[2:] or case.words('arches') or list(boards.BOARDS)
    return in_folder(f'machine-{case.name}', lambda scratch: check_all(case, arches, scratch))


if __name__ == '__main__':
    sys.exit(main())
