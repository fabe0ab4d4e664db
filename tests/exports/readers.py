# SPDX-License-Identifier: GPL-2.0-or-later
"""What exports say, of each format in the same form: {task: {path: value}}, a path being the names of its functions,
outermost first. A value is the time that the last of them spent itself, or a number of calls. Paths with 0 are not
there.
"""
import collections
import json
import re

from gttest import callgrind_profile, pprof
from gttest.results import need

SCHEMA = 'https://www.speedscope.app/file-format-schema.json'
UNITS = ('none', 'nanoseconds', 'microseconds', 'milliseconds', 'seconds', 'bytes')


def folded(data):
    """Tasks are "PROCESS;TASK"."""
    sums = collections.defaultdict(collections.Counter)
    need(not data or data.endswith(b'\n'), 'the last line is cut')
    for line in data.decode().split('\n')[:-1]:
        stack, _, value = line.rpartition(' ')
        process, task, *path = stack.split(';')
        need(path and all(path) and int(value) > 0, repr(line[:200]))
        sums[f'{process};{task}'][tuple(path)] += int(value)
    return sums


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def frame_of(frame):
    """By the schema: a name, and what else is known."""
    need(set(frame) <= {'name', 'file', 'line', 'col'} and isinstance(frame['name'], str), frame)
    need(isinstance(frame.get('file', ''), str) and is_int(frame.get('line', 1)), frame)
    return frame['name']


def profile_of(profile, frames):
    need(set(profile) == {'type', 'name', 'unit', 'startValue', 'endValue', 'samples', 'weights'}, profile.keys())
    need(profile['type'] == 'sampled' and profile['unit'] in UNITS and isinstance(profile['name'], str), profile)
    samples, weights = profile['samples'], profile['weights']
    need(len(samples) == len(weights) and profile['startValue'] == 0, len(samples), len(weights))
    need(all(is_int(w) and w > 0 for w in weights), 'a weight')
    need(profile['endValue'] == sum(weights), profile['endValue'], 'is not the sum', sum(weights))
    sums = collections.Counter()
    for stack, weight in zip(samples, weights):
        need(stack and all(is_int(i) and 0 <= i < len(frames) for i in stack), stack)
        sums[tuple(frames[i] for i in stack)] += weight
    return sums


def read_speedscope(data):
    """The file, and {title of a task: {path: value}}."""
    file = json.loads(data)
    need(set(file) == {'$schema', 'name', 'exporter', 'activeProfileIndex', 'shared', 'profiles'}, file.keys())
    need(file['$schema'] == SCHEMA and set(file['shared']) == {'frames'}, file['$schema'])
    frames = [frame_of(f) for f in file['shared']['frames']]
    profiles = {p['name']: profile_of(p, frames) for p in file['profiles']}
    need(len(profiles) == len(file['profiles']), 'two profiles of one name')
    sums = [sum(p.values()) for p in profiles.values()]
    need(not sums or sums[file['activeProfileIndex']] == max(sums), 'the first one shown is not the largest')
    return file, profiles


def speedscope(data):
    return read_speedscope(data)[1]


COLUMNS = {  # of the processed format, version 48
    'funcTable': 'name isJS relevantForJS resource fileName lineNumber columnNumber',
    'frameTable': 'address inlineDepth category subcategory func nativeSymbol innerWindowID implementation line column',
    'resourceTable': 'lib name host type', 'nativeSymbols': 'libIndex address name functionSize',
    'stackTable': 'frame category subcategory prefix', 'samples': 'stack time weight',
    'markers': 'data name startTime endTime phase category'}


def firefox_tables(thread):
    """That each column is as long as its table, and each index is in the other one."""
    for table, columns in COLUMNS.items():
        need(set(thread[table]) == {*columns.split(), 'length'} | ({'weightType'} if table == 'samples' else set()), table)
        need(all(len(thread[table][c]) == thread[table]['length'] for c in columns.split()), table)
    stacks, strings = thread['stackTable'], len(thread['stringArray'])
    need(all(p is None or p < i for i, p in enumerate(stacks['prefix'])), 'a stack after the one above it')
    need(all(f < thread['frameTable']['length'] for f in stacks['frame']), 'frames')
    need(all(f < thread['funcTable']['length'] for f in thread['frameTable']['func']), 'functions')
    need(all(n < strings for t in ('funcTable', 'resourceTable', 'markers') for n in thread[t]['name']), 'strings')
    times = thread['samples']['time']
    need(times == sorted(times), 'samples are not in order of time')


def firefox_paths(thread):
    """Of each stack its path."""
    stacks, paths = thread['stackTable'], []
    names = [thread['stringArray'][n] for n in thread['funcTable']['name']]
    for frame, prefix in zip(stacks['frame'], stacks['prefix']):
        paths.append((paths[prefix] if prefix is not None else ()) + (names[thread['frameTable']['func'][frame]],))
    return paths


def read_firefox(data):
    file = json.loads(data)
    need(file['meta']['preprocessedProfileVersion'] == 48 and file['libs'] == [], file['meta'])
    for thread in file['threads']:
        firefox_tables(thread)
    return file


def firefox(data):
    """{tid: {path: value}}"""
    found = {}
    for thread in read_firefox(data)['threads']:
        sums, paths, samples = collections.Counter(), firefox_paths(thread), thread['samples']
        unit = {'samples': 1, 'tracing-ms': 1e6}[samples['weightType']]
        for stack, weight in zip(samples['stack'], samples['weight']):
            need(weight > 0 if stack is not None else weight == 0, weight)
            if stack is not None:
                sums[paths[stack]] += round(weight * unit)
        if thread['name'] != 'console':
            found[thread['tid']] = sums
    return {tid: sums for tid, sums in found.items() if sums}


PERF_SAMPLE = re.compile(r'(\S+) +(\d+)/(\d+) (\d+)\.(\d{9}): (\d+) (\S+): ')
PERF_CALL = re.compile(r'\t *[0-9a-f]+ (.*) \((.*?)\)')


def perf(data):
    """{tid: {path: period}}"""
    sums = collections.defaultdict(collections.Counter)
    for block in data.decode().split('\n\n')[:-1]:
        head, *calls = block.split('\n')
        sample = PERF_SAMPLE.fullmatch(head)
        need(sample and calls, repr(block[:200]))
        sums[int(sample[3])][tuple(PERF_CALL.fullmatch(c)[1] for c in reversed(calls))] += int(sample[6])
    return sums


def tid_of(title):
    """Of "NAME (TID)" or "task TID"."""
    return int(re.search(r'(\d+)\)?$', title)[1])


def read_pprof(data):
    return pprof.Profile(data)


def pprof_values(data, index):
    """{tid: {path: value}}"""
    sums = collections.defaultdict(collections.Counter)
    for sample in pprof.Profile(data).samples:
        if sample.values[index]:
            sums[sample.labels['tid']][sample.stack] += sample.values[index]
    return sums


def callgrind(data):
    """{(caller, callee): (calls, inclusive)}, {function: self}, both by name; a task's calls are of None."""
    profile = callgrind_profile.Profile(data)
    tasks = {p for p in profile.costs if p.object == '???' and p.file == '???' and p.name != '?'}
    edges = collections.defaultdict(lambda: (0, 0))
    for (caller, callee), (calls, cost, _) in profile.edges.items():
        key = None if caller in tasks else caller.name, callee.name
        edges[key] = edges[key][0] + calls, edges[key][1] + cost
    own = {p.name: cost for p, (_, cost) in profile.costs.items() if p not in tasks}
    return dict(edges), own
