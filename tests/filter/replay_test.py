#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters mean what they mean in uftrace: random options on whole recordings, of guesttrace's and of uftrace's own,
give the calls that `uftrace replay` shows with them.

What is compared is each task's entries and exits, with their times. docs/filters.md lists where guesttrace differs on
purpose; with trace-on and trace-off entries are compared, and exits of calls that uftrace shows as a whole.
"""
import bisect
import glob
import os
import random
import re
import shutil
import sys

from gttest import paths, qemus, uftrace, uftraces
from gttest.commands import must, printed, run
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.recordings import record
from gttest.results import SKIPPED, Tally, in_folder, need, read_text, same_lines, skip

TOOL = paths.built('filter', 'filter_tool')
SETS = 50 if paths.LONG else 12  # of options, for each recording and uftrace
LINE = re.compile(r' *\[ *(\d+)\] +(\d+)\.(\d{9}) \| *(?:\} /\* (.+) \*/|(.+)\(\)(?: \{|;))$')
FUNCTIONS = ['spin', 'tiny', 'get_one', 'get_two', 'fib', 'even', 'odd', 'put_large', 'put_all', 'thread_main', 'main']


def source_lines(directory):
    """((module, function), (file, line)) of the .dbg files."""
    for path in glob.glob(f'{glob.escape(directory)}/*.dbg'):
        for name, line, file in re.findall(r'(?m)^F: [0-9a-f]+ (.+)\nL: (\d+) (.+)$', read_text(path)):
            yield (os.path.basename(path)[:-4], name), (file, int(line))


class Calls:
    """A recording, as filter_tool reads it."""

    def __init__(self, directory):
        self.directory = directory
        trace = uftrace.Trace(directory)
        self.lines = dict(source_lines(directory))
        events = []
        for number, tid in enumerate(trace.tids()):
            for call in trace.records(tid):
                events.append((call.time, number, tid, call))
        events.sort(key=lambda e: e[:2])  # stable: a task's own order stays
        numbers, lines, functions = {}, [], []
        for time, _, tid, call in events:
            if call.kind == 'leave':
                lines.append(f'x\t{tid}\t{time}')
                continue
            key = self.function(trace, tid, call)
            if key not in numbers:
                numbers[key] = len(numbers)
                functions.append('f\t' + '\t'.join(str(k) for k in key))
            lines.append(f'e\t{tid}\t{time}\t{numbers[key]}')
        self.text = '\n'.join(functions + lines) + '\n'
        self.times = sorted(self.durations(trace))
        self.names = sorted({key[1] for key in numbers})

    def function(self, trace, tid, call):
        """Size, name, module, file, line. A size is the distance to the next symbol."""
        path, name = trace.name(tid, call.time, call.addr)
        symbols = trace.symbols.get(path)
        if not symbols:
            return 0, name, path or '', '', 0
        lo = next(lo for lo, hi, p in trace.maps[trace.sessions[0][2]] if p == path)
        at = bisect.bisect_right(symbols.addrs, call.addr - lo) - 1
        end = symbols.addrs[at + 1] if at + 1 < len(symbols.addrs) else symbols.addrs[at]
        return end - symbols.addrs[at], name, path, *self.lines.get((os.path.basename(path), name), ('', 0))

    @staticmethod
    def durations(trace):
        for tid in trace.tids():
            begun = []
            for call in trace.records(tid):
                if call.kind == 'enter':
                    begun.append(call.time)
                elif begun:
                    yield call.time - begun.pop()

    def filtered(self, options):
        """{tid: [(time, kind, name)]}; kind has a * where recording was switched."""
        done = run([TOOL, *options], input=self.text.encode())
        need(done.returncode == 0, done.stderr)
        return by_task((int(tid), int(time), kind, name) for tid, time, kind, name in
                       (line.split('\t') for line in done.stdout.decode().splitlines()))

    def replayed(self, program, options):
        """The same of uftrace."""
        text = printed([program, 'replay', '--no-pager', '-d', self.directory, '--no-merge', '--no-event',
                        '-f', 'time,tid', *options])
        return by_task(parsed(text))


def parsed(text):
    for line in text.splitlines():
        if line.startswith('#') or not line.strip():
            continue
        match = LINE.match(line)
        need(match, 'uftrace printed', repr(line))
        tid, second, ns, left, entered = match.groups()
        yield int(tid), int(second) * 10**9 + int(ns), '}' if left else '{', (left or entered).removesuffix('()')


def by_task(events):
    found = {}
    for tid, *event in events:
        found.setdefault(tid, []).append(tuple(event))
    return found


class Options:
    """Random options. Patterns match something: uftrace ignores an option that matches nothing."""

    def __init__(self, calls, seed, version):
        self.random, self.calls, self.version = random.Random(seed), calls, version
        self.glob = self.random.random() < 0.2
        self.switches = self.random.random() < 0.25
        self.words = ['--match=glob'] if self.glob else []
        self.make()

    def pattern(self):
        name = self.random.choice(FUNCTIONS)
        if self.glob:
            forms = [name, name[:2] + '*', '?' + name[1:], '[a-f]*', '*' + name[-2:]]
        else:
            forms = [name, name, '^' + name[:3], name[-2:] + '$', f'{name}|tiny', '^[a-f]', 'get_.*', '.' + name[1:]]
        return self.random.choice(forms)

    def time(self):
        """As long as some call took, or a little longer: uftrace takes three digits and three decimals."""
        time = self.random.choice(self.calls.times) + self.random.choice([0, 0, 1])
        if time < 1000:
            return f'{time}ns'
        return f'{time // 1000}.{time % 1000:03}us' if time < 10**6 else f'{min(time // 10**6, 999)}ms'

    def trigger(self):
        r = self.random
        if self.switches:
            return self.pattern() + '@' + r.choice(['trace_on', 'trace_off', 'traceoff', 'trace-on'])
        return self.pattern() + '@' + r.choice(
            [f'depth={r.randrange(1, 5)}', f'time={self.time()}', 'trace', 'filter', 'notrace', 'hide',
             f'depth={r.randrange(1, 5)},filter', f'time={self.time()},hide'])

    def make(self):
        r = self.random
        for option, chance in ('-F', 0.4), ('-N', 0.4), ('-F', 0.2), ('-H', 0.3):
            if r.random() < chance:
                self.words += [option, self.pattern()]
        for _ in range(r.choice([0, 0, 1, 1, 2, 3]) + self.switches):
            self.words += ['-T', self.trigger()]
        if r.random() < 0.3:
            self.words += ['-D', str(r.randrange(1, 7))]
        if self.calls.lines and r.random() < 0.2:
            place = r.choice(['*leaves.c', '*calls*', '*.c'] if self.glob else
                             ['tests/filter/', 'filter', 'calls_leaves.c', 'calls.c', '_.*c$'])
            self.words += ['-L', place + r.choice(['', '@hide'])]
        if r.random() < 0.1:
            self.words += ['-Z', str(r.randrange(1, 200))]
        if not self.switches:
            if r.random() < 0.3:
                self.words += ['-t', self.time()]
            if r.random() < 0.2:
                self.words += ['-C', self.pattern()]


def compare(calls, program, options):
    got, want = calls.filtered(options.words), calls.replayed(program, options.words)
    for tid in set(got) | set(want):
        a, b = got.get(tid, []), want.get(tid, [])
        if options.switches:
            a, b = without_switches(a, b)
        need(a == b, explain(calls, program, options, a, b))


def compare_command(calls, program, options):
    """`guesttrace replay` prints what uftrace does, blanks included."""
    if options.switches:
        return
    done = run([GUESTTRACE, 'replay', '--no-pager', '--no-demangle', *options.words, calls.directory])
    need(done.returncode == 0 or b'no call is left by' in done.stderr, options.words, done.stderr)
    ours = done.stdout.decode()
    theirs = uftrace.narrow(printed([program, 'replay', '--no-pager', '--no-event', '--demangle=no', '-d', calls.directory,
                                     *options.words]))
    if theirs.count('\n') <= 1:  # a heading at most, which a later uftrace has wider
        need(ours.count('\n') == 1, ours)
        return
    same_lines(*(leaves(re.sub(r'\(\)( \*/)$', r'\1', text, flags=re.M)) for text in (ours, theirs)),
               ' '.join(options.words))


def leaves(text):
    """Lines; calls without callees are on one line, where uftrace has two with -L and depth= too."""
    return re.sub(r'(?m)^ {12}(\[ *\d+\] \|  *)(.+\(\)) \{\n(.{12})\1\} /\* .* \*/$', r'\3\1\2;', text).splitlines()


def without_switches(got, want):
    """Both without what guesttrace closes and enters again, and what uftrace has only one end of."""
    closed = {time for time, kind, _ in got if kind == '}*'}
    got = [e for e in got if e[1] == '{' or (e[1] == '}' and e[0] not in closed)]
    left = {e for e in got if e[1] == '}'}
    return got, [e for e in want if e[1] == '{' or e in left]


def explain(calls, program, options, got, want):
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    return (f'{" ".join(options.words)}\n  {program} replay -d {calls.directory}\n  event {at} is {got[at:at + 3]} of '
            f'{len(got)}, uftrace has {want[at:at + 3]} of {len(want)}')


def compiled(out, *flags):
    compile_to(out, 'x86_64', paths.source('filter', 'calls.c'), paths.source('filter', 'calls_leaves.c'), '-O1', '-g',
               '-fno-inline', '-fno-optimize-sibling-calls', '-pthread', *flags)
    return out


def recordings(folder, program):
    native = f'{folder}/native.data'
    must([program, 'record', '--no-event', '--srcline', '-d', native, compiled(f'{folder}/calls-pg', '-pg')])
    yield Calls(native)
    qemus.user('x86_64')
    record(f'{folder}/guest.data', [], [compiled(f'{folder}/calls')])
    os.unlink(f'{folder}/guest.data/open-calls.txt')  # uftrace takes the exits of open calls for returns
    yield Calls(f'{folder}/guest.data')


def check(folder):
    programs, tally = uftraces.find(), Tally()
    if not programs:
        return SKIPPED
    first = int(os.environ.get('SEED', '1'))
    for number, calls in enumerate(recordings(folder, programs[0])):
        for k, program in enumerate(programs):
            for i in range(int(os.environ.get('SETS', SETS))):
                options = Options(calls, first + i * 100 + number * 10 + k, program)
                tally.run('differs', compare, calls, program, options)
                if k == 0:
                    tally.run('the command differs', compare_command, calls, program, options)
    print(f'{tally.good} sets of options mean the same')
    return tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('filter-replay', check))
