#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python module over libgtrace, beside the records of uftrace's directory as they are on the disk: calls, their
times, callers and sums; windows; events; values; the same from a compact file and from its directory."""
import collections
import json
import os
import random
import subprocess
import sys
import unittest.mock

from gttest import call_sums, paths, qemus, uftrace, uftrace_write
from gttest.commands import must
from gttest.compilers import compile_to
from gttest.recordings import record
from gttest.results import Skip, Tally, folder, need, read_bytes

os.environ.setdefault('GTRACE_LIBRARY', f'{paths.BUILD}/src/gtrace/libgtrace.so.0')
sys.path.insert(0, f'{paths.ROOT}/python')
import gtrace  # noqa: E402  (where it is, is said above)

FLAGS = ['-O1', '-g', '-pthread', '-D_GNU_SOURCE', f'-I{paths.source("guest")}']


def recorded(where_to, source, where):
    """A directory of a program's calls."""
    qemus.user('x86_64')
    program = compile_to(f'{where_to}/program', 'x86_64', paths.source(*where.split('/'), source), *FLAGS)
    record(f'{where_to}/data', [], [program])
    return f'{where_to}/data'


def field(row, name):
    """Of a row of array(), which numpy may have or not."""
    return int(row[name] if hasattr(row, 'dtype') else getattr(row, name))


def test_calls(where_to):
    directory = recorded(where_to, 'recursion.c', 'readers')
    with gtrace.open(directory) as t:
        calls = list(t.calls(wall=True))
        exits = [e for e in t.events(wall=True) if e.kind == gtrace.EXIT]
        need(len(calls) == len(exits) > 100, len(calls), len(exits))
        need([(e.function, e.time_ns) for e in exits] == [(c.function, c.end_ns) for c in calls], 'events and calls')
        check_paths(t, calls)


def check_paths(t, calls):
    """A caller is open while its callee runs, and one less deep."""
    for c in calls:
        need(len(c.path) == c.depth, c)
        need(c.begin_ns <= c.end_ns and c.self_ns <= c.end_ns - c.begin_ns, c)
    sums = {(s.function.module, s.function.symbol): s for s in t.sums(wall=True)}
    of = collections.defaultdict(list)
    for c in calls:
        of[c.function.module, c.function.symbol].append(c)
    need(set(of) == set(sums), 'functions of sums and of calls')
    for name, some in of.items():
        need(sums[name].calls == len(some), sums[name], len(some))
        need(round(sums[name].self * 1e9) == sum(c.self_ns for c in some), sums[name])


def test_rows_are_records(where_to):
    """Of the files' bytes, read by the tests' own reader; and the same of a compact file."""
    directory = recorded(where_to, 'threads.c', 'guest/cases')
    must([paths.GUESTTRACE, 'export', '--format', 'compact', '-o', f'{where_to}/file.gtrace', directory])
    want = collections.Counter((tid, depth, begin, end) for tid in uftrace.tids_of(directory)
                               for depth, _, begin, end in
                               call_sums.calls_of(uftrace.read_records(read_bytes(f'{directory}/{tid}.dat'))))
    need(len(want) > 100, 'few calls:', len(want))
    for path in directory, f'{where_to}/file.gtrace':
        with gtrace.open(path) as t:
            rows = t.array()
            need(all(field(a, 'begin') <= field(b, 'begin') for a, b in zip(rows, rows[1:])), 'order')
            got = collections.Counter((t.tasks[field(row, 'task')].id, field(row, 'depth'), field(row, 'begin'),
                                       field(row, 'end')) for row in rows)
            own = sum(field(row, 'self') for row in rows)
            need(own == sum(c.self_ns for c in t.calls()), 'self times of rows and of calls')
        need(got == want, path, 'more:', (got - want).most_common(3), 'missing:', (want - got).most_common(3))


def test_parts(where_to):
    """A recording that several threads read at once: calls begin in one thread's part and end in another's."""
    number, stack, records, time = random.Random(1), [], [], 1000
    while len(records) < 600000:
        time += number.randrange(1, 40)
        if stack and (len(stack) > 20 or number.random() < 0.49):
            records.append((time, uftrace.EXIT, len(stack) - 1, stack.pop()))
        else:
            stack.append(0x1000 + 16 * number.randrange(9))
            records.append((time, uftrace.ENTRY, len(stack) - 1, stack[-1]))
    uftrace_write.directory(f'{where_to}/data', {7: uftrace_write.records(*records)},
                            {0x1000 + 16 * i: f'f{i}' for i in range(9)})
    must([paths.GUESTTRACE, 'export', '--format', 'compact', '-o', f'{where_to}/file.gtrace', f'{where_to}/data'])
    for path in f'{where_to}/data', f'{where_to}/file.gtrace':
        with gtrace.open(path) as t:
            got = sorted(tuple(field(row, name) for name in ('begin', 'end', 'self', 'depth', 'flags')) for row in t.array())
            want = sorted((c.begin_ns, c.end_ns, c.self_ns, c.depth, c.flags)
                          for c in t.calls(values=False, path=False))
            need(got == want, path, [pair for pair in zip(got, want) if pair[0] != pair[1]][:3])


# Prints what array() gives, with numpy: types of its fields, rows, and a sum that numpy makes.
NUMPY = """
import json, sys, numpy, gtrace
with gtrace.open(sys.argv[1]) as t:
    a, none = t.array(), t.array('no such function')
    assert isinstance(a, numpy.ndarray) and isinstance(none, numpy.ndarray)
    print(json.dumps([[(n, str(a.dtype[n])) for n in a.dtype.names], a.tolist(), int((a['end'] - a['begin'] - a['slept']).sum()),
                      none.tolist(), none.dtype == a.dtype, [f.symbol for f in t.functions]]))
"""


def test_numpy(where_to):
    """The same rows as without it, which are a list. A Python that has numpy may be another one than this."""
    directory = recorded(where_to, 'threads.c', 'guest/cases')
    env = dict(os.environ, PYTHONPATH=f'{paths.ROOT}/python')
    for python in dict.fromkeys((sys.executable, '/usr/bin/python3')):
        if subprocess.run([python, '-c', 'import numpy'], check=False, capture_output=True).returncode == 0:
            break
    else:
        raise Skip('no numpy (scripts/setup)')
    kinds, rows, ran, none, alike, names = json.loads(must([python, '-c', NUMPY, directory], env=env).stdout)
    with unittest.mock.patch.dict(sys.modules, {'numpy': None}), gtrace.open(directory) as t:  # what imports it fails
        plain = t.array()
        want = [tuple(row._replace(function=t.function(row.function).symbol)) for row in plain]
        need(isinstance(plain, list) and t.array('no such function') == [], type(plain))
    got = [(*row[:5], names[row[5]], *row[6:]) for row in rows]
    need(len(plain) > 100 and got == want, len(got), len(want), [pair for pair in zip(got, want) if pair[0] != pair[1]][:3])
    need([name for name, _ in kinds] == list(plain[0]._fields), kinds)
    need({kind for _, kind in kinds} == {'uint64', 'int64', 'uint32'} and dict(map(tuple, kinds))['self'] == 'int64', kinds)
    need(ran == sum(row.end - row.begin - row.slept for row in plain), ran)
    need(none == [] and alike, none, alike)


def test_window(where_to):
    directory = recorded(where_to, 'threads.c', 'guest/cases')
    with gtrace.open(directory) as t:
        calls = list(t.calls())
        some = max(collections.Counter(c.function.name for c in calls).items(), key=lambda item: (item[1], item[0]))[0]
        need([c for c in calls if c.function.name == some] == list(t.calls(some)), some)
        task = calls[-1].task
        need([c for c in calls if c.task == task] == list(t.calls(task=task)), task)
        need({c.depth for c in t.calls(depth=2)} <= {0, 1}, 'depth')
        middle = (t.first + t.last) / 2
        inside = list(t.calls(start=middle))
        need(inside and all(c.end_ns >= round(middle * 1e9) for c in inside), 'start')
        need(len(t.array(some)) == len(list(t.calls(some))), 'array and calls')
        slow = list(t.calls(min_time=1e-3))
        need(all(c.end_ns - c.begin_ns >= 1000000 for c in slow), 'min_time')
        for call in t.calls():
            break  # a reader may stop
        need(call == calls[0], call)


def test_filters(where_to):
    """As the command's: report with the same options."""
    directory = recorded(where_to, 'threads.c', 'guest/cases')
    for options, chosen in [(['-N', '^main$'], {'notrace': '^main$'}), (['-D', '2'], {'depth': 2}),
                            (['-F', 'main', '-H', 'w*', '--match', 'glob'], {'filter': 'main', 'hide': ['w*'], 'match': 'glob'})]:
        rows = json.loads(must([paths.GUESTTRACE, 'report', '--json', *options, directory]).stdout)['rows']
        with gtrace.open(directory) as t:
            got = {(s.function.name, s.calls, round(s.total * 1e9)) for s in t.sums(filter=chosen)}
            calls = collections.Counter(c.function.name for c in t.calls(filter=chosen))
            need(not t.notices, t.notices)
        need(got == {(row['function'], row['calls'], row['total_ns']) for row in rows}, options, got, rows)
        want = collections.Counter()
        for row in rows:
            want[row['function']] += row['calls']
        need(calls == want, options, 'more:', calls - want, 'missing:', want - calls)
    with gtrace.open(directory) as t:
        need(not list(t.calls(filter={'filter': 'nothing_of_that_name'})), 'calls')
        need(len(t.notices) == 1 and '-F nothing_of_that_name matches no function' in t.notices[0], t.notices)
        for wrong, error in ({'filter': '('}, gtrace.Error), ({'colour': 'red'}, ValueError):
            try:
                t.sums(filter=wrong)
            except error as why:
                need('-F' in str(why) or 'colour' in str(why), why)
            else:
                need(False, wrong, 'was taken')


def test_export(where_to):
    """The bytes of the command's."""
    directory = recorded(where_to, 'threads.c', 'guest/cases')
    with gtrace.open(directory) as t:
        for name in ('perfetto', 'chrome', 'folded', 'speedscope', 'callgrind', 'pprof', 'firefox', 'perf'):
            fewer = name in ('folded', 'speedscope', 'firefox', 'perf')
            for least, words in ((0, ['--all'] * fewer), (0.02, ['--min', '2%']))[:1 + fewer]:
                must([paths.GUESTTRACE, 'export', '-D', '3', '--format', name, *words, '-o', f'{where_to}/want', directory])
                t.export(f'{where_to}/got', name, depth=3, least=least)
                need(read_bytes(f'{where_to}/got') == read_bytes(f'{where_to}/want'), name, least)
        for name, least in ('folded', 2), ('pprof', 0.1), ('folded', float('nan')):
            try:
                t.export(f'{where_to}/none', name, least=least)
            except gtrace.Error as why:
                need('least' in str(why), why)
            else:
                need(False, 'least', least, 'of', name)
        try:
            t.export(f'{where_to}/none', 'folded', start=2, end=1)
        except gtrace.Error:
            need(sorted(os.listdir(where_to)) == ['data', 'got', 'program', 'want'], os.listdir(where_to))
        else:
            need(False, 'a window that ends before it begins')


def test_values(where_to):
    source = f'{where_to}/values.c'
    with open(source, 'w', encoding='utf-8') as f:
        f.write('__attribute__((noipa)) double half(int n, const char *text, unsigned char c) '
                '{ return text[0] ? n / 2.0 : c; }\n'
                'int main(void) { for (int i = -3; i < 3; i++) half(i, "word", 200); return 0; }\n')
    qemus.user('x86_64')
    program = compile_to(f'{where_to}/program', 'x86_64', source, '-O1', '-g')
    for out in f'{where_to}/data', f'{where_to}/file.gtrace':
        record(out, ['-a', '-F', 'half'], [program])
        with gtrace.open(out) as t:
            got = [(c.arguments['n'], c.arguments['text'], c.arguments['c'], c.result) for c in t.calls('half')]
            need(got == [(i, 'word', 200, i / 2.0) for i in range(-3, 3)], out, got)
            need(not t.anomalies and t.exit_status == 0, t.anomalies, t.exit_status)


def test_errors(where_to):
    for path, status in (f'{where_to}/none', -7), (__file__, -4):
        try:
            gtrace.open(path)
        except gtrace.Error as why:
            need(why.status == status and os.path.basename(path) in str(why), why, why.status)
        else:
            need(False, path, 'was opened')
    directory = recorded(where_to, 'recursion.c', 'readers')
    with gtrace.open(directory) as t:
        for calls in t.calls(), t.events():
            next(calls)
            calls.close()
        try:
            list(t.calls(start=2, end=1))
        except gtrace.Error as why:
            need('`to` is before `from`' in str(why), why)
        else:
            need(False, 'a window that ends before it begins')
    try:
        t.sums()
    except ValueError as why:
        need('closed' in str(why), why)
    else:
        need(False, 'a closed recording was read')


def test_module(where_to):
    directory = recorded(where_to, 'recursion.c', 'readers')
    env = dict(os.environ, PYTHONPATH=f'{paths.ROOT}/python')
    done = subprocess.run([sys.executable, '-m', 'gtrace', directory], env=env, check=False, capture_output=True, text=True)
    need(done.returncode == 0 and ' main\n' in done.stdout, done)
    done = subprocess.run([sys.executable, '-m', 'gtrace', f'{where_to}/none'], env=env, check=False, capture_output=True,
                          text=True)
    need(done.returncode == 1 and done.stderr.startswith('gtrace: '), done)


def main(names):
    tally = Tally()
    for name, test in sorted(globals().items()):
        if name.startswith('test_') and (not names or name in names):
            with folder(name) as path:
                tally.run(name, test, path)
    return tally.status()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
