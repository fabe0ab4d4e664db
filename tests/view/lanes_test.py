#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lanes of vCPUs: their runs and handlers are those that the records have, and where the guest itself says that it is."""
import bisect
import collections
import glob
import json
import random
import re
import sys

from gttest import boards, commands, functions, paths, qemus, recordings, uftrace, uftrace_write
from gttest.paths import GUESTTRACE
from gttest.results import Failure, equal, need, write
from gttest.uftrace import ENTRY, EVENT, EXIT, SCHED_IN, SCHED_OUT, VCPU
from file_test import FilePage, export
from page_test import PIXEL, Page
from viewing import Viewing, rows

NAMES = {16: 'main', 32: 'f', 48: 'irq', 64: 'g'}
HANDLER = 48
TRIES = 5
ON_CPU = re.compile(r'on_cpu(\d)')


# ---- what is expected ----------------------------------------------------------------------------------

class Lanes:
    """Spans of each vCPU, (depth, task or handler, begin, duration), by what one task's records say after the other's."""

    def __init__(self, is_handler):
        self.is_handler = is_handler
        self.spans = collections.defaultdict(list)

    def add(self, vcpu, depth, what, begin, end):
        if end > begin:
            self.spans[vcpu].append((depth, what, begin, end - begin))

    def task(self, index, records, vcpu=None):
        """vcpu: on which all is; None: records say it."""
        on, opened, last = None, [], 0

        def stop(time):
            for depth, (addr, begin) in enumerate(opened):
                if self.is_handler(addr) and not any(self.is_handler(a) for a, _ in opened[:depth]):
                    self.add(on[0], 1, addr, max(begin, on[1]), time)
            self.add(on[0], 0, index, on[1], time)

        for time, kind, _, addr, _ in records:
            if kind == EVENT and addr >= VCPU or vcpu is not None and (on is None and not last or kind == EVENT and addr == SCHED_IN):
                on = (addr - VCPU if vcpu is None else vcpu, time)
            if kind == EVENT and addr == SCHED_OUT:
                if on:
                    stop(time)
                on = None
            elif kind == ENTRY:
                opened.append((addr, time))
            elif kind == EXIT:
                _, begin = opened.pop()
                if self.is_handler(addr) and not any(self.is_handler(a) for a, _ in opened) and on:
                    self.add(on[0], 1, addr, max(begin, on[1]), time)
            last = time
        if on:
            stop(last)


def check_tile(v, track, spans, exp, first_bin, bins):
    """All that a lane has in these bins: spans as they are, shorter ones summed up by depth and bin."""
    got, = v.ask('tiles', exp=exp, bin=first_bin, bins=bins, tasks=track)['tasks']
    begin, width = first_bin << exp, 1 << exp
    slices = sorted((depth, what, begin + at, duration) for at, duration, depth, what, _ in rows(got['slices'], 5))
    equal(slices, sorted(s for s in spans if s[3] >= width and s[2] <= begin + bins * width and s[2] + s[3] >= begin), f'slices at {exp}')
    number, covered = collections.Counter(), collections.Counter()
    for depth, _, at, duration in spans:
        if duration < width:
            number[depth, at >> exp] += 1
            for n in range(at >> exp, (at + duration >> exp) + 1):
                covered[depth, n] += min(at + duration, (n + 1) << exp) - max(at, n << exp)
    cells = {(depth, first_bin + n): (calls, part) for n, part, depth, _, calls in rows(got['cells'], 5)}
    equal(set(cells), {key for key in set(number) | {k for k, c in covered.items() if c} if first_bin <= key[1] < first_bin + bins}, f'cells at {exp}')
    for key, (calls, part) in cells.items():
        equal(calls, number[key], f'spans of {key} at {exp}')
        need(abs(part - covered[key]) <= 2 + covered[key] / 1000, key, part, 'covered, expected', covered[key])


def check_lanes(v, spans, handlers):
    """Of each vCPU, at each level and in its beginning, middle and end. spans: handlers by name."""
    tracks, end, n = v.ready(), v.ask('info')['duration'], len(v.ask('info')['tasks'])
    names = v.names()
    equal(len(tracks['lanes']), max(spans) + 1, 'lanes')
    for vcpu, list_ in spans.items():
        runs = sorted((begin, begin + duration) for depth, _, begin, duration in list_ if depth == 0)
        equal(tracks['lanes'][vcpu][0], len(runs), f'runs on vCPU {vcpu}')
        need(all(a[1] <= b[0] for a, b in zip(runs, runs[1:])), 'runs overlap')
        known = [(depth, what if depth == 0 else names.index(handlers[what]), begin, duration) for depth, what, begin, duration in list_]
        check_sum(v, n + vcpu, tracks['coarsest'], end, runs)
        for exp in sorted({*range(tracks['coarsest'], -1, -2), 0}, reverse=True):
            bins = min((end >> exp) + 1, 4096)
            middle = known[len(known) // 2][2] >> exp
            for at in {0, max(0, min(middle - bins // 2, (end >> exp) + 1 - bins)), (end >> exp) + 1 - bins}:
                check_tile(v, n + vcpu, known, exp, at, bins)
        check_near(v, n + vcpu, known, tracks['finest'], runs)


def check_near(v, track, spans, finest, runs):
    """Short handlers, looked at so closely that what is read around them does not have the beginning of their run."""
    exp, width = max(0, finest - 2), 1 << finest
    near = [begin >> exp for depth, _, begin, duration in spans if depth == 1 and duration < width and
            begin - runs[bisect.bisect_right(runs, (begin, 1 << 63)) - 1][0] > 3 * width]
    for at in near[:8]:
        check_tile(v, track, spans, exp, at, 8)


def check_sum(v, track, exp, end, runs):
    """Runs and the gaps between them take all of the time."""
    got, = v.ask('tiles', exp=exp, bin=0, bins=(end >> exp) + 1, tasks=track)['tasks']
    ran = sum(row[1] for row in rows(got['slices'], 5) + rows(got['cells'], 5) if row[2] == 0)
    idle = sum(b[0] - a[1] for a, b in zip([(0, 0), *runs], [*runs, (end, end)]))
    need(abs(ran + idle - end) <= 2 + end / 1000, ran, 'ran,', idle, 'idle, of', end)


# ---- recordings made here ------------------------------------------------------------------------------

def turns(number, vcpus, tasks=5, steps=12000):
    """{tid: records} of tasks that take turns on vCPUs, and move; calls, and handlers, in which they are suspended, too."""
    data, opened, on, time = collections.defaultdict(list), collections.defaultdict(list), {}, 1000
    for _ in range(steps):
        time += number.randrange(1, 400) if number.random() < 0.98 else number.randrange(1, 200000)
        vcpu = number.randrange(vcpus)
        task = on.get(vcpu)
        if task is None:
            task = number.choice([t for t in range(1, tasks + 1) if t not in on.values()])
            if data[task]:
                data[task].append((time, EVENT, len(opened[task]), SCHED_IN))
            data[task].append((time, EVENT, len(opened[task]), VCPU + vcpu))
            on[vcpu] = task
            if not opened[task]:
                opened[task].append(16)
                data[task].append((time, ENTRY, 0, 16))
        elif number.random() < 0.2:
            data[task].append((time, EVENT, len(opened[task]), SCHED_OUT))
            del on[vcpu]
        elif len(opened[task]) > 1 and number.random() < 0.5:
            addr = opened[task].pop()
            data[task].append((time, EXIT, len(opened[task]), addr))
        elif len(opened[task]) < 8:
            addr = number.choice([32, HANDLER, 64])
            data[task].append((time, ENTRY, len(opened[task]), addr))
            opened[task].append(addr)
    return data


def written(t, name, data, told, machine=1):
    """A directory of them; told: how many vCPUs it names."""
    packed = {tid: uftrace_write.records(*[r for r in list_ if told or r[1] != EVENT or r[3] < VCPU]) for tid, list_ in sorted(data.items())}
    out = uftrace_write.directory(f'{t.folder}/{name}', packed, NAMES, events={VCPU + n: f'guesttrace:cpu{n}' for n in range(told)})
    write(f'{out}/guest-handlers.txt', f'{HANDLER:012x}\n')
    write(f'{out}/guesttrace.stats', f'machine={machine}\nhost_clock=0\n')
    return out


def expected(data, told):
    lanes, first = Lanes(lambda addr: addr == HANDLER), min(list_[0][0] for list_ in data.values())
    for index, tid in enumerate(sorted(data)):
        records = [(time - first, kind, depth, addr, 0) for time, kind, depth, addr in data[tid] if told or kind != EVENT or addr < VCPU]
        lanes.task(index, records, None if told else 0)
    return lanes.spans


def test_made(t):
    """Two vCPUs that the recording names; one, which it need not name."""
    for vcpus in 2, 1:
        data = turns(random.Random(vcpus), vcpus)
        told = vcpus if vcpus > 1 else 0
        spans = expected(data, told)
        need(all(len([s for s in list_ if s[0] == depth]) > 300 for list_ in spans.values() for depth in (0, 1)), 'few runs or handlers')
        with Viewing(written(t, f'made-{vcpus}', data, told)) as v:
            check_lanes(v, spans, NAMES)


def test_nothing_is_invented(t):
    """No lanes where tasks ran at the same time and nothing says where, nor of a program."""
    data = turns(random.Random(3), 2, steps=3000)
    one = turns(random.Random(4), 1, steps=3000)
    for name, of, machine, lanes in ('two', data, 1, 0), ('program', one, 0, 0), ('one', one, 1, 1):
        with Viewing(written(t, name, of, 0, machine)) as v:
            equal(len(v.ready()['lanes']), lanes, name)


# ---- recorded machines ---------------------------------------------------------------------------------

def machine_of(t, name):
    return boards.build_kernel('aarch64', t.folder, paths.source('machine', 'cases', f'{name}.c'))


def recorded(t, name, machine, *options, vcpus=1):
    out = f'{t.folder}/{name}'
    recordings.record(out, ['-q', '--symbols', machine.elf, *options],
                      machine.command(qemus.find('aarch64')[-1][1], '-smp', str(vcpus)))
    return out


def handlers_of(v):
    f = v.ask('functions')['functions']
    return {f[i] for i in range(0, len(f), 5) if f[i + 4]}


def check_directory(v, out, told):
    """Against the records of a directory; the trace, and what is expected."""
    trace = uftrace.Trace(out)
    v.ready()
    handlers, ids = handlers_of(v), [task['id'] for task in v.ask('info')['tasks']]
    data = {tid: list(uftrace.read_records(trace.data(tid))) for tid in trace.tids()}
    name = {addr: trace.name(tid, uftrace.LAST, addr)[1] for tid, list_ in data.items() for _, kind, _, addr, _ in list_ if kind in (ENTRY, EXIT)}
    first = min(list_[0][0] for list_ in data.values() if list_)
    lanes = Lanes(lambda addr: name.get(addr) in handlers)
    for tid, list_ in data.items():
        lanes.task(ids.index(tid), [(time - first, *rest) for time, *rest in list_], None if told else 0)
    check_lanes(v, lanes.spans, name)
    return {ids.index(tid): [(time - first, name[addr]) for time, kind, _, addr, _ in list_ if kind == ENTRY] for tid, list_ in data.items()}, lanes.spans


def check_guest(calls, spans):
    """The guest calls on_cpuN where it is on vCPU N."""
    runs = {vcpu: sorted((begin, begin + duration, task) for depth, task, begin, duration in list_ if depth == 0) for vcpu, list_ in spans.items()}
    told = moved = 0
    for task, list_ in calls.items():
        places = set()
        for time, name in list_:
            match = ON_CPU.fullmatch(name)
            if not match:
                continue
            vcpu = int(match[1])
            begin, end, whose = runs[vcpu][bisect.bisect_right(runs[vcpu], (time, 1 << 63, 0)) - 1]
            need(begin <= time <= end and whose == task, f'task {task} says at {time} that it is on vCPU {vcpu}, which has', (begin, end, whose))
            told += 1
            places.add(vcpu)
        moved += len(places) > 1
    need(told > 500 and moved > 0, told, 'times,', moved, 'tasks moved')


def test_four_vcpus(t):
    machine = machine_of(t, 'vcpus')
    out = recorded(t, 'told', machine, '--format', 'uftrace', vcpus=4)
    with Viewing(out) as v:
        check_guest(*check_directory(v, out, True))
        check_page(t, v)
    check_file(t, out)


def replayed(out):
    """The same of the lines that replay gives: {vCPU: [(tid, begin, duration)]}, from the first line's time on."""
    lines = [json.loads(line) for line in commands.printed([GUESTTRACE, 'replay', '--json', '--no-pager', out]).splitlines()]
    events, last = collections.defaultdict(list), collections.Counter()
    first = min(line['begin_ns' if 'function' in line else 'time_ns'] for line in lines)
    for line in lines:
        if 'vcpu' in line:
            events[line['tid']].append((line['time_ns'] - first, 1, line['vcpu']))
        elif 'function' in line:
            begin, end = line['begin_ns'] - first, line['begin_ns'] + line['duration_ns'] - first
            last[line['tid']] = max(last[line['tid']], end)
            if line['function'].startswith('linux:schedule'):
                events[line['tid']].append((begin, 0, None))
    runs = collections.defaultdict(list)
    for tid, list_ in events.items():
        on = None
        for time, goes, vcpu in sorted(list_, key=lambda event: event[:2]) + [(last[tid], 0, None)]:
            if on and time > on[1]:
                runs[on[0]].append((tid, on[1], time - on[1]))
            on = (vcpu, time) if goes else None
    return runs


def test_stretches(t):
    """Runs that are in several files: each begins a stretch anew."""
    machine = machine_of(t, 'vcpus')
    for i in range(TRIES):  # where a thread of the recorder waits for its turn a part is longer
        out = recorded(t, f'parts{i}.gtrace', machine, '--split', '1ms', vcpus=4)
        if len(glob.glob(f'{out}.*')) >= 2:
            break
    else:
        raise Failure('the recording has no parts')
    runs = replayed(out)
    with Viewing(out) as v:
        v.ready()
        ids = [task['id'] for task in v.ask('info')['tasks']]
        check_lanes(v, {vcpu: [(0, ids.index(tid), begin, duration) for tid, begin, duration in list_] for vcpu, list_ in runs.items()}, {})


def test_one_vcpu(t):
    """Where it need not be said: tasks take turns; with interrupts."""
    for name in 'threads', 'preemption':
        out = recorded(t, name, machine_of(t, name), '--format', 'uftrace', '--clock', 'insn')
        with Viewing(out) as v:
            check_directory(v, out, False)


# ---- the page ------------------------------------------------------------------------------------------

# The lanes in the window: [[title, top, height], ...]
SHOWN = 'guesttrace.layout.items.filter(i => i.track && i.track.lane).map(i => [`cpu${i.track.task - guesttrace.recording.info.tasks.length}`, i.y, i.height])'
TASKS = 'guesttrace.recording.info.tasks'


def longest_run(p, vcpu):
    """{begin, duration, function} of a run on the vCPU."""
    return p.ask(f'''(async () => {{
      const got = await guesttrace.source.get('tiles', {{ exp: guesttrace.recording.tracks.coarsest, bin: 0, bins: 16000, tasks: {TASKS}.length + {vcpu} }}), s = got.tasks[0].slices;
      let best = null;
      for (let i = 0; i < s.length; i += 5) if (s[i + 2] === 0 && (!best || s[i + 1] > best.duration)) best = {{ begin: s[i], duration: s[i + 1], function: s[i + 3] }};
      return best;
    }})()''')


def place_of(p, vcpu, time):
    left, top, width, _ = p.where('canvas.tracks')
    begin, end = p.state('from'), p.state('to')
    y = p.ask(f'guesttrace.layout.items.find(i => i.track && i.track.task === {TASKS}.length + {vcpu}).y')
    marks = p.ask('guesttrace.view.marks.console.length + guesttrace.view.marks.notes.length') > 0
    return left + 200 + (time - begin) / (end - begin) * (width - 200), top + 26 + 22 * marks + y + 5


def check_page(t, v):
    """Lanes are above the tasks; a click on a run chooses its task; a lane can be hidden, and a link says so by its name."""
    with Page(t, v.url) as p:
        equal([row[0] for row in p.ask(SHOWN)], ['cpu0', 'cpu1', 'cpu2', 'cpu3'], 'lanes')
        equal(p.ask('guesttrace.layout.items[0].title'), 'vCPUs', 'the first group')
        p.picture('lanes')
        run = longest_run(p, 2)
        middle = run['begin'] + run['duration'] / 2
        p.ask(f'guesttrace.setSight({middle - 4 * run["duration"]}, {middle + 4 * run["duration"]})')
        p.idle()
        x, y = place_of(p, 2, middle)
        p.mouse('mouseMoved', x, y)
        p.idle()
        tip = p.ask('document.querySelector(".tip").innerText')
        need(p.ask(f'{TASKS}[{run["function"]}].name') in tip and 'on cpu2' in tip and f'{run["begin"] / 1e9:.9f} s' in tip, tip)
        p.click(x, y)
        equal(p.state('tasks'), [run['function']], 'the chosen task')
        p.mouse('mouseMoved', x, y + 400)
        p.idle()
        p.picture('chosen')
        p.click(x, y)
        equal(p.state('tasks'), [], 'chosen no more')
        p.ask(f'guesttrace.setState({{ hidden: [{TASKS}.length + 1], pinned: [{TASKS}.length + 2] }})')
        p.idle()
        equal(sorted(row[0] for row in p.ask(SHOWN)), ['cpu0', 'cpu2', 'cpu3'], 'lanes without a hidden one')
        p.browser.wait('location.hash.includes("hidden=cpu1") && location.hash.includes("pinned=cpu2")')
        link = p.ask('location.href')
        p.ask('guesttrace.setState({ filter: "cpu3" })')
        p.idle()
        equal(sorted(row[0] for row in p.ask(SHOWN)), ['cpu2', 'cpu3'], 'a pinned lane, and what the filter leaves')
    with Page(t, link) as p:
        equal(sorted(row[0] for row in p.ask(SHOWN)), ['cpu0', 'cpu2', 'cpu3'], 'lanes of the link')


def check_file(t, out):
    """The page as a file has them, too."""
    with FilePage(t, 'file://' + export(out, f'{t.folder}/page.html')) as p:
        equal([row[0] for row in p.ask(SHOWN)], ['cpu0', 'cpu1', 'cpu2', 'cpu3'], 'lanes of the file')
        run = p.ask(f'guesttrace.callAt({TASKS}.length, 0, guesttrace.recording.tracks.lanes[0][1] + 1)')
        need(run and (run.get('call') or run.get('cell')), 'a lane of the file is empty')
        p.press('/')
        p.type('leaf')
        p.press('Enter')
        need(p.state('call.task') < p.ask(f'{TASKS}.length'), 'a run was found as a call')


def test_strip(t):
    """Above a task's calls: green while it runs, grey while it is suspended."""
    records = uftrace_write.records((1000, ENTRY, 0, 16), (3000, EVENT, 1, SCHED_OUT), (7000, EVENT, 1, SCHED_IN), (9000, EXIT, 0, 16))
    out = uftrace_write.directory(f'{t.folder}/strip', {7: records}, {16: 'main'}, console='0.000001500 a line\n')
    with Viewing(out) as v, Page(t, v.url) as p:
        p.browser.wait('guesttrace.view.marks.console.length')
        p.idle()
        y = p.ask('guesttrace.layout.items.find(i => i.track).y') - 1
        for time, name in (1000, 'runs'), (4000, 'asleep'), (7500, 'runs'):
            red, green, blue = p.ask(PIXEL % (time, y))
            need((green > red + 40 and green > blue + 40) == (name == 'runs'), name, 'at', time, (red, green, blue))


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
