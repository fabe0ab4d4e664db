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
