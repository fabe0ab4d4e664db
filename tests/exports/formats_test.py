#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`export` to formats of other tools, of recordings that are made up: equal to the sums of their records."""
import collections
import os
import re
import signal
import subprocess
import sys

import readers
from gttest import call_sums, callgrind_profile, commands, functions, made
from gttest.paths import GUESTTRACE
from gttest.results import need, read_bytes, same, write

SUMS = ['folded', 'speedscope', 'callgrind', 'pprof', 'firefox', 'perf']
PATHS = ['folded', 'speedscope', 'firefox', 'perf']  # small ones are left out
FORMATS = [*SUMS, 'perfetto', 'chrome']
FULL = 3000  # bytes that a small disk takes
REPLACED = re.compile('[\udc80-\udcff]')
CONTROL = re.compile('[\0-\x1f\x7f]')


def all_paths(form, options):
    """What has a format leave no path out."""
    in_time = form in ('firefox', 'perf') and {'--from', '--to'} & set(options)
    return ['--all'] if form.partition('-')[0] in PATHS and not in_time else []


def fewer_command(form, recording, *options, out='-'):
    values = ['--values', 'calls'] if form == 'folded-calls' else []
    return [GUESTTRACE, 'export', '--format', form.partition('-')[0], *values, '-o', out, *options, recording]


def command(form, recording, *options, out='-'):
    return fewer_command(form, recording, *options, *all_paths(form, options), out=out)


def export(form, recording, *options):
    """The bytes of an export with all paths; no line is printed."""
    done = commands.must(command(form, recording, *options))
    need(not done.stderr, done.stderr)
    return done.stdout


def text(name):
    """A name in UTF-8, as pprof has it."""
    return REPLACED.sub('\ufffd', name)


def clean(name):
    return CONTROL.sub('?', text(name))


def fold(name):
    return clean(name).replace(';', ':')


def values(paths, which, name):
    """{path: value} without zeros, names as a format writes them."""
    sums = collections.Counter()
    for path, s in paths.items():
        sums[tuple(map(name, path))] += getattr(s, which)
    return +sums


def lines(items):
    return '\n'.join(sorted(map(repr, items)))


def same_tasks(got, want):
    """Two {task: {path: value}}; tasks without calls are not there."""
    want = {t: paths for t, paths in want.items() if paths}
    need(set(got) == set(want), 'tasks', sorted(got), 'not', sorted(want))
    for task, paths in want.items():
        same(lines(got[task].items()), lines(paths.items()), f'task {task}:')


def joined(tasks):
    sums = collections.Counter()
    for paths in tasks.values():
        sums.update(paths)
    return sums


def check_edges(data, tasks):
    """callgrind's: `tasks` is {tid: {path: Sum}}."""
    edges, own = readers.callgrind(data)
    want, functions_want = collections.defaultdict(call_sums.Sum), collections.Counter()
    for paths in tasks.values():
        for (caller, callee), s in call_sums.edges_of(paths).items():
            want[caller and clean(caller), clean(callee)].add(*s)
        for name, s in call_sums.functions_of(paths).items():
            functions_want[clean(name)] += s.self
    same(lines(edges.items()), lines((e, (s.calls, s.total)) for e, s in want.items()), 'edges:')
    same(lines(own.items()), lines(functions_want.items()), 'self:')


def check_all(recording, tids, options=(), **window):
    """Every format, of these tasks."""
    tasks = {tid: recording.paths(tid, **window) for tid in tids}
    for form, which in ('folded', 'self'), ('folded-calls', 'calls'):
        want = joined({t: values(p, which, fold) for t, p in tasks.items()})
        same_tasks({0: joined(readers.folded(export(form, recording.path, *options)))} if want else {}, {0: want})
    for index, which in enumerate(('calls', 'self')):
        same_tasks(readers.pprof_values(export('pprof', recording.path, *options), index),
                   {t: values(p, which, text) for t, p in tasks.items()})
    profiles = readers.speedscope(export('speedscope', recording.path, *options))
    same_tasks({readers.tid_of(title): p for title, p in profiles.items() if p},
               {t: values(p, 'self', clean) for t, p in tasks.items()})
    check_edges(export('callgrind', recording.path, *options), tasks)
    for form, read in ('firefox', readers.firefox), ('perf', readers.perf):
        same_tasks(read(export(form, recording.path, *options)), {t: values(p, 'self', clean) for t, p in tasks.items()})


def test_sums(t):
    recording = made.Made(f'{t.folder}/data')
    check_all(recording, made.TIDS)


def fewer(tasks, share):
    """{task: {path: value}} of which paths with less than the share of all have gone into their callers; the outermost
    stay. And how many have gone."""
    inner = {task: collections.Counter() for task in tasks}  # with all that they call
    for task, paths in tasks.items():
        for path, value in paths.items():
            for n in range(1, len(path) + 1):
                inner[task][path[:n]] += value
    limit = share * sum(sum(paths.values()) for paths in tasks.values())
    small = {task: {path for path, n in sums.items() if len(path) > 1 and n < limit} for task, sums in inner.items()}
    left = {task: collections.Counter() for task in tasks}
    for task, paths in tasks.items():
        for path, value in paths.items():
            while path in small[task]:
                path = path[:-1]
            left[task][path] += value
    return left, sum(map(len, small.values())), sum(map(len, inner.values()))


def fewer_said(form, path, *options):
    done = commands.must(fewer_command(form, path, *options))
    return done.stdout, done.stderr.decode()


def test_min(t):
    """Paths below a share are their callers', and a notice says how many; the sum of a task, and of all, stays."""
    recording = made.Made(f'{t.folder}/data', step=lambda number: number.choice([1, 1, 1, 5000]))
    tasks = {tid: values(recording.paths(tid), 'self', clean) for tid in made.TIDS}
    for options, share in ([], 0.0001), (['--min', '0.5%'], 0.005), (['--min', '100%'], 1):
        want, gone, n = fewer(tasks, share)
        need(0 < gone < n, share, gone, n)
        need(all(want[tid].total() == tasks[tid].total() for tid in tasks), 'the test itself')
        joined_want = joined({t: values_of(paths, fold) for t, paths in want.items()})
        for form, read in (('folded', lambda data: {0: joined(readers.folded(data))}),
                           ('speedscope', lambda data: {readers.tid_of(s): p for s, p in readers.speedscope(data).items()}),
                           ('firefox', readers.firefox), ('perf', readers.perf)):
            data, said = fewer_said(form, recording.path, *options)
            same_tasks(read(data), {0: joined_want} if form == 'folded' else want)
            need(f'{gone} of {n} paths, which have less than {100 * share:g}% of all time' in said and '--all' in said, said)
    calls = {tid: values(recording.paths(tid), 'calls', fold) for tid in made.TIDS}
    want, gone, n = fewer(calls, 0.005)
    data, said = fewer_said('folded-calls', recording.path, '--min', '0.5%')
    same_tasks({0: joined(readers.folded(data))}, {0: joined(want)})
    need(f'{gone} of {n} paths, which have less than 0.5% of all calls' in said and gone, said)
    for form in PATHS:
        need(fewer_said(form, recording.path, '--min', '0%') == (export(form, recording.path), ''), form, '--min 0%')
        need(b'paths' not in commands.must(fewer_command(form, recording.path, '-q')).stderr, form, 'a notice with -q')


def values_of(paths, name):
    sums = collections.Counter()
    for path, value in paths.items():
        sums[tuple(map(name, path))] += value
    return sums


def test_one_function(t):
    """Nothing but recursion."""
    recording = made.Made(f'{t.folder}/data', ['f'], n=400)
    check_all(recording, made.TIDS)


def test_hostile_names(t):
    recording = made.Made(f'{t.folder}/data', made.HOSTILE, n=90, deep=3)
    check_all(recording, made.TIDS)


def test_windows(t):
    recording = made.Made(f'{t.folder}/data', step=lambda number: number.randrange(1, 1000))
    first = min(int.from_bytes(recording.data[tid][:8], 'little') for tid in made.TIDS)
    check_all(recording, [8], ['--task', '8'])
    check_all(recording, [7, 8], ['--task', '8', '--task', '7'])
    check_all(recording, made.TIDS, ['--depth', '3'], depth=3)
    check_all(recording, made.TIDS, ['--time-filter', '20us'], min_time=20000)
    check_all(recording, made.TIDS, ['--from', '100us', '--to', '300us'], window=(first + 100000, first + 300000))
    check_all(recording, [7], ['--from', '100us', '--depth', '4', '--task', '7'], window=(first + 100000, 1 << 62),
              depth=4)


def test_nothing(t):
    """No call is in the window: an error, and no file."""
    recording = made.Made(f'{t.folder}/data')
    for form in FORMATS:
        done = commands.must(command(form, recording.path, '--time-filter', '1s', out=f'{t.folder}/out'), 1)
        need(b'no call is left by --time-filter 1s' in done.stderr, form, done.stderr)
        need(not os.path.exists(f'{t.folder}/out'), form, 'left a file')


def test_same_bytes(t):
    """Of each run, and of a compact file."""
    recording = made.Made(f'{t.folder}/data', n=20000)
    commands.must(command('compact', recording.path, out=f'{t.folder}/file'))
    for form in FORMATS:
        data = export(form, recording.path)
        need(export(form, recording.path) == data, form, 'differs from run to run')
        os.symlink(f'{t.folder}/file', f'{t.folder}/{form}')
        os.mkdir(f'{t.folder}/{form}.d')
        os.rename(f'{t.folder}/{form}', f'{t.folder}/{form}.d/data')
        need(export(form, f'{t.folder}/{form}.d/data') == data, form, 'of a compact file differs')


def test_units(t):
    """Of times that are instructions, and others."""
    recording = made.Made(f'{t.folder}/data', n=40)
    for stats, event, unit, types in (('host_clock=0\n', 'Ir', 'none', ('instructions', 'count')),
                                      ('host_clock=1\n', 'Ns', 'nanoseconds', ('time', 'nanoseconds')),
                                      ('calls=1\n', 'Ns', 'nanoseconds', ('time', 'nanoseconds'))):
        write(f'{recording.path}/guesttrace.stats', stats)
        need(f'\nevents: {event}\n'.encode() in export('callgrind', recording.path), 'no', event)
        file, _ = readers.read_speedscope(export('speedscope', recording.path))
        need({p['unit'] for p in file['profiles']} == {unit}, file['profiles'])
        profile = readers.read_pprof(export('pprof', recording.path))
        need(profile.types == [('calls', 'count'), types] and profile.default == types[0], profile.types)
        need((profile.duration == 0) == (types[0] == 'instructions'), profile.duration)


def test_source_lines(t):
    """Functions with a line, the same name in two files, a name that is mangled; one without."""
    recording = made.Made(f'{t.folder}/data', ['_Z3foov', 'twice', 'twice', 'plain'])
    places = {0: ('/src/a b.cc', 12), 1: ('/src/a b.cc', 30), 2: ('/src/other.cc', 7)}
    write(f'{recording.path}/guest.dbg', '# path name: guest\n' + ''.join(
        f'F: {made.FIRST + 16 * i:x} {recording.names[i].decode()}\nL: {line} {file}\n'
        for i, (file, line) in places.items()))
    want = {('foo()', '/src/a b.cc', 12), ('twice', '/src/a b.cc', 30), ('twice', '/src/other.cc', 7)}
    file, _ = readers.read_speedscope(export('speedscope', recording.path))
    frames = {(f['name'], f['file'], f.get('line', 0)) for f in file['shared']['frames']}
    need(frames == want | {('plain', 'guest', 0)}, frames)
    profile = readers.read_pprof(export('pprof', recording.path))
    found = {(f.name, f.file, f.line) for f in profile.functions.values()}
    need(found == want | {('plain', '', 0)}, found)
    need({l.line for l in profile.locations.values()} == {12, 30, 7, 0}, profile.locations)
    need({f.system_name for f in profile.functions.values()} == {'_Z3foov', 'twice', 'plain'}, found)
    places = {(p.name, p.file, line) for p, (line, _) in callgrind_profile.Profile(
        export('callgrind', recording.path)).costs.items() if p.object == 'guest'}
    need(places == want | {('plain', '???', 0)}, places)
    need(b';foo();twice' in export('folded', recording.path), 'names are mangled')


def test_usage(t):
    """Options of formats that this one is not."""
    recording = made.Made(f'{t.folder}/data', n=40)
    for words, why in ((['--format', 'pprof', '--values', 'calls'], b'--values calls is for --format folded, not pprof'),
                       (['--format', 'compact', '--wall'], b'--wall is for the formats of other tools, not compact'),
                       (['--format', 'other'], b"'other'"),
                       (['--format', 'pprof', '--min', '1%'], b'--min is for --format folded'),
                       (['--format', 'ctf', '--all'], b'--all is for --format folded'),
                       (['--format', 'perf', '--min', '1%', '--to', '1s'], b'without --from and --to'),
                       (['--format', 'folded', '--min', '1%', '--all'], b'exclude each other'),
                       *((['--format', 'folded', '--min', wrong], b'takes a share')
                         for wrong in ('0.01', '101%', '', '%', '1.2.3%', '-1%', 'nan%', '1e1%', '0x1%', ' 1%', '1%%')), (['--format', 'folded', '--to', '5'], b"'5'")):
        done = commands.must([GUESTTRACE, 'export', *words, '-o', f'{t.folder}/out', recording.path], 2)
        need(why in done.stderr, done.stderr)
    need(not os.path.exists(f'{t.folder}/out'), 'a file is left')


def test_where_it_goes(t):
    recording = made.Made(f'{t.folder}/data')
    for form in FORMATS:
        want, out = export(form, recording.path), f'{t.folder}/{form}'
        write(out, 'older')
        commands.must(command(form, recording.path, out=out))
        need(read_bytes(out) == want, form)
        need(not [n for n in os.listdir(t.folder) if 'tmp' in n], os.listdir(t.folder))


def test_full_disk(t):
    """A file of that name stays, and none is left beside it."""
    recording = made.Made(f'{t.folder}/data', n=30000)
    full = {'preexec_fn': lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), commands.limit_files(FULL))}
    for form in FORMATS:
        out = write(f'{t.folder}/{form}', 'older')
        done = commands.must(command(form, recording.path, out=out), 1, **full)
        need(re.fullmatch(rb'guesttrace export: .*cannot be written: File too large\n', done.stderr), done.stderr)
        need(read_bytes(out) == b'older', form)
        need(not [n for n in os.listdir(t.folder) if 'tmp' in n], os.listdir(t.folder))
        done = commands.must(command(form, recording.path, out='/dev/full'), 1)
        need(b'/dev/full: cannot be written: No space left on device' in done.stderr, done.stderr)


def test_closed_pipe(t):
    recording = made.Made(f'{t.folder}/data', n=30000)
    for form in FORMATS:
        reader, writer = os.pipe()
        os.close(reader)
        for ignored in False, True:
            done = subprocess.run(command(form, recording.path), stdout=writer, stderr=subprocess.PIPE, check=False,
                                  timeout=commands.SECONDS, restore_signals=not ignored)
            if ignored:
                need(done.returncode == 1 and b'standard output: cannot be written: Broken pipe' in done.stderr, done)
            else:
                need(done.returncode == -signal.SIGPIPE and not done.stderr, done)
        os.close(writer)


def test_damage(t):
    """What is damaged is left out, with a word."""
    recording, path, out = made.Made(f'{t.folder}/data', n=20000), f'{t.folder}/file', f'{t.folder}/out'
    commands.must(command('compact', recording.path, out=path))
    data = bytearray(read_bytes(path))
    data[len(data) // 2] ^= 1
    write(path, bytes(data))
    for form in FORMATS:
        write(out, 'older')
        done = commands.must(command(form, path, out=out))
        need(re.fullmatch(rb'(guesttrace export: .*/file: offset \d+: .* left out, at most \d+ records\n)+', done.stderr),
             done.stderr)
        need(read_bytes(out) != b'older', form)
        need(not [n for n in os.listdir(t.folder) if 'tmp' in n], os.listdir(t.folder))


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
