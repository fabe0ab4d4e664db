#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the server of guesttrace view answers, compared with the recording's records."""
import collections
import sys

from gttest import call_sums, functions, made, uftrace, valued
from gttest.results import equal, need
from viewing import Viewing, rows


def steps(number):
    return number.randrange(1, 1000)


def calls_of(recording, tid, first):
    """(depth, name, begin, duration) of a task's calls, times from the recording's first record."""
    records = list(uftrace.read_records(recording.data[tid]))
    return [(depth, recording.name(addr), begin - first, end - begin) for depth, addr, begin, end in call_sums.calls_of(records)]


def first_of(recording):
    return min(int.from_bytes(data[:8], 'little') for data in recording.data.values())


def check_tile(v, calls, names, exp, first_bin, bins):
    """A tile has all calls: slices as they are, the others summed up by depth and bin."""
    got, = v.ask('tiles', exp=exp, bin=first_bin, bins=bins, tasks=1)['tasks']
    begin, width = first_bin << exp, 1 << exp
    slices = sorted((depth, names[f], begin + at, duration) for at, duration, depth, f, _ in rows(got['slices'], 5))
    equal(slices, sorted(c for c in calls if c[3] >= width and c[2] <= begin + bins * width and c[2] + c[3] >= begin), f'slices at {exp}')
    number, covered = collections.Counter(), collections.Counter()
    for depth, _, at, duration in calls:
        if duration < width:
            number[depth, at >> exp] += 1
            for n in range(at >> exp, (at + duration >> exp) + 1):
                covered[depth, n] += min(at + duration, (n + 1) << exp) - max(at, n << exp)
    inside = {key for key in set(number) | {k for k, c in covered.items() if c} if first_bin <= key[1] < first_bin + bins}
    cells = {(depth, first_bin + n): (calls, part) for n, part, depth, _, calls in rows(got['cells'], 5)}
    equal(set(cells), inside, f'cells at {exp}')
    for key, (calls_in, part) in cells.items():
        equal(calls_in, number[key], f'calls of {key} at {exp}')
        need(abs(part - covered[key]) <= 2 + covered[key] / 1000, key, part, 'covered, expected', covered[key])


def test_tiles(t):
    recording = made.Made(f'{t.folder}/data', step=steps)
    first = first_of(recording)
    calls = calls_of(recording, 8, first)
    with Viewing(recording.path) as v:
        tracks, names = v.ready(), v.names()
        need(tracks['finest'] > 3, 'there is nothing below the finest level:', tracks['finest'])
        end = v.ask('info')['duration']
        for exp in [*range(tracks['coarsest'], -1, -2), 0]:
            bins = min((end >> exp) + 1, 8192)
            for at in 0, max(0, (end >> exp) - bins) // 2, (end >> exp) + 1 - bins:
                check_tile(v, calls, names, exp, at, bins)
        # Calls that the finest level has, looked at more closely: once each.
        width = 1 << tracks['finest']
        for _, _, begin, _ in [c for c in calls if width <= c[3] < 2 * width][:8]:
            check_tile(v, calls, names, tracks['finest'] - 2, max(0, begin - 3 * width) >> tracks['finest'] - 2, 100)
        equal(tracks['tasks'][1][0], len(calls), 'calls of the task')
        equal(tracks['tasks'][1][3], max(c[0] for c in calls) + 1, 'its depth')


def check_range(v, recording, tids, first, window, parameters):
    names = v.names()
    paths = {}
    for tid in tids:
        for path, s in recording.paths(tid, window=(first + window[0], first + window[1])).items():
            paths.setdefault(path, call_sums.Sum()).add(*s)
    expected = call_sums.functions_of(paths)
    got = {names[r[0]]: (r[1], r[2], r[3]) for r in rows(v.ask('report', **parameters)['rows'], 9)}
    equal(got, {name: tuple(s) for name, s in expected.items()}, 'report')
    nodes = rows(v.ask('flame', **parameters)['nodes'], 7)
    check_flame(nodes, names, paths)


def check_flame(nodes, names, paths):
    open_, shown = [], {}
    for depth, function, _, calls, total, own, _ in nodes[1:]:
        del open_[depth - 1:]
        open_.append(names[function] if function >= 0 else None)
        if function >= 0:
            shown[tuple(open_)] = calls, total, own
    for path, sums in shown.items():
        equal(sums, tuple(paths[path]), path)
    whole = sum(s.total for path, s in paths.items() if len(path) == 1)
    for path, s in paths.items():
        need(path in shown or s.total <= whole // 2000 or path[:-1] not in shown or s.total == 0, path, 'is not there')


def test_ranges(t):
    recording = made.Made(f'{t.folder}/data', step=steps)
    first = first_of(recording)
    with Viewing(recording.path) as v:
        v.ready()  # names are then all there
        end = v.ask('info')['duration']
        check_range(v, recording, made.TIDS, first, (0, end), {})
        check_range(v, recording, [8], first, (0, end), {'tasks': '1'})
        check_range(v, recording, [7, 5000000], first, (100000, 300000), {'from': 100000, 'to': 300000, 'tasks': '0,2'})


def test_find(t):
    recording = made.Made(f'{t.folder}/data', step=steps)
    first = first_of(recording)
    with Viewing(recording.path) as v:
        v.ready()
        names = v.names()
        index = names.index('fib')
        calls = sorted((begin, duration, task) for task, tid in enumerate(made.TIDS)
                       for _, name, begin, duration in calls_of(recording, tid, first) if name == 'fib')
        time = calls[len(calls) // 2][0]
        got = v.ask('find', functions=index, time=time)
        equal(got['calls'], len(calls), 'calls')
        equal(got['first']['begin'], calls[0][0], 'first')
        equal(got['longest']['duration'], max(c[1] for c in calls), 'longest')
        equal(got['next']['begin'], min(c[0] for c in calls if c[0] > time), 'next')
        equal(got['before']['begin'], max(c[0] for c in calls if c[0] < time), 'before')


def part_of(duration):
    """First and last duration of its quarter of an octave."""
    if duration < 4:
        return duration, duration
    size = 1 << duration.bit_length() - 3
    return duration // size * size, duration // size * size + size - 1


SORTED = {'time': lambda c: c[:3], 'duration': lambda c: (c[1], c[0], c[2]), 'task': lambda c: (c[2], c[0]), 'function': lambda c: (c[4], *c[:3])}


def test_hits(t):
    """Calls of functions: all of them in each order, how long they took, when they began; more than a list has, too."""
    recording = made.Made(f'{t.folder}/data', step=steps, n=9000)
    first = first_of(recording)
    with Viewing(recording.path) as v:
        v.ready()
        names, end = v.names(), v.ask('info')['duration']
        wanted = {'fib', 'read', 'walk'}
        calls = [(begin, duration, task, depth, name) for task, tid in enumerate(made.TIDS)
                 for depth, name, begin, duration in calls_of(recording, tid, first) if name in wanted]
        need(len(calls) > 2200, len(calls), 'calls')
        functions_of = {'functions': ','.join(str(names.index(name)) for name in wanted)}
        lengths = sorted(c[1] for c in calls)
        some = lengths[len(calls) // 3], lengths[len(calls) // 2]  # both are there
        for least, most in (0, 1 << 60), some:
            chosen = [c for c in calls if least <= c[1] <= most]
            for sort, key in SORTED.items():
                for down in 0, 1:
                    got = v.ask('hits', **functions_of, sort=sort, down=down, least=least, most=most)
                    found = [(begin, duration, task, depth, names[f]) for begin, duration, depth, task, f, _ in rows(got['rows'], 6)]
                    want = sorted(chosen, key=lambda c: c[:3])
                    want.sort(key=lambda c: key(c)[0], reverse=bool(down))
                    equal(found, want[:2000], f'{sort} {down} {least}')
                    equal([got['calls'], got['all']], [len(chosen), len(calls)], 'numbers')
            marks = [0] * 512
            for c in chosen:
                marks[c[0] // (end // 512 + 1)] += 1
            equal(got['marks'], marks, 'marks')
            parts = collections.Counter(part_of(c[1]) for c in calls)
            equal({(a, b): n for a, b, n in rows(got['durations'], 3) if n}, dict(parts), 'durations')
        got = v.ask('find', **functions_of, time=0, least=some[0], most=some[1])
        equal(got['calls'], len(chosen), 'calls that are gone to')
        equal((got['first']['begin'], names[got['first']['function']]), (min(chosen)[0], min(chosen)[4]), 'the first one')
        for wrong in {'sort': 'color'}, {'least': 'x'}, {'functions': '999999'}:
            equal(v.request(v.path + 'hits?' + '&'.join(f'{k}={x}' for k, x in {**functions_of, **wrong}.items()))[0], 400, wrong)


def test_match(t):
    """Functions by a regular expression; its mistakes are said."""
    recording = made.Made(f'{t.folder}/data', step=steps)
    with Viewing(recording.path) as v:
        v.ready()
        names = v.names()
        for pattern, want in ('^(?:f|g)', {'f', 'g', 'fib', 'get'}), ('t$', {'put', 'get', 'sort', 'last'}), ('(?i)^RE', {'read'}), ('.', set(names)), ('^x', set()):
            got = v.ask('match', pattern=pattern)
            equal(({names[i] for i in got['functions']}, got['error'], got['undecided']), (want & set(names), '', 0), pattern)
        for pattern in '(', 'a\\1(', 'x' * 3000:
            got = v.ask('match', pattern=pattern)
            need(got['error'].startswith('at character') and not got['functions'], pattern[:20], got)


def test_relations(t):
    recording = made.Made(f'{t.folder}/data', step=steps)
    with Viewing(recording.path) as v:
        v.ready()
        names = v.names()
        got = v.ask('function', functions=names.index('fib'))
        callers, callees = collections.Counter(), collections.Counter()
        for tid in made.TIDS:
            for path, s in recording.paths(tid).items():
                if path[-1] == 'fib':
                    callers[path[-2] if len(path) > 1 else None] += s.calls
                if len(path) > 1 and path[-2] == 'fib':
                    callees[path[-1]] += s.calls
        equal({names[r[0]] if r[0] >= 0 else None: r[1] for r in rows(got['callers'], 5)}, dict(callers), 'callers')
        equal({names[r[0]]: r[1] for r in rows(got['callees'], 5)}, dict(callees), 'callees')


def test_inverse(t):
    recording = made.Made(f'{t.folder}/data', step=steps)
    with Viewing(recording.path) as v:
        v.ready()
        names = v.names()
        nodes = rows(v.ask('flame', inverse=1)['nodes'], 7)
        own = collections.Counter()
        for tid in made.TIDS:
            for path, s in recording.paths(tid).items():
                own[path[-1]] += s.self
        equal({names[f]: total for depth, f, _, _, total, *_ in nodes if depth == 1 and f >= 0}, dict(own), 'own times')


def test_values(t):
    path = '"%s"' % valued.PATH.replace('"', '\\"')
    with Viewing(valued.make(f'{t.folder}/data')) as v:
        v.ready()
        open_, main = (v.names().index(name) for name in ('open', 'main'))
        for begin, result in (500, '-2'), (2500, '7'):
            got = v.ask('values', task=0, depth=1, begin=begin, duration=500, function=open_)
            equal(got, {'arguments': ['path', path, 'arg2', '0x42'], 'returned': ['retval', result]}, begin)
        none = {'arguments': [], 'returned': []}
        equal(v.ask('values', task=0, depth=0, begin=0, duration=4500, function=main), none, 'a call without values')
        for wrong in {'begin': 501}, {'depth': 0}, {'function': main}, {'begin': 4500}:
            asked = {'task': 0, 'depth': 1, 'begin': 500, 'duration': 0, 'function': open_, **wrong}
            need(v.ask('values', **asked)['arguments'] == [], wrong, 'has arguments')
        equal(v.request(v.path + 'values?begin=1000&duration=4000')[0], 400, 'a call that ends after the recording')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
