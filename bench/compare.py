# SPDX-License-Identifier: GPL-2.0-or-later
"""What people use today, and ours, on the same x86_64 programs; and the memory of a recording."""
import glob
import os
import re
import statistics

import measure
import workloads

STORM, LUA, THREADS = '33', '3', 1000


def uftrace(bench, _):
    workloads.need('uftrace', 'to compare with')
    program = bench.context.compile('gcc', 'storm.c', 'storm-pg', ['-pg'])
    return ['uftrace', 'record', '-d', bench.data, program, STORM]


def callgrind(program, *args):
    def command(bench, _):
        valgrind = workloads.need('valgrind', 'to compare with')
        path = program(bench.context)
        return [valgrind, '-q', '--tool=callgrind',
                '--callgrind-out-file=' + bench.data + '.callgrind', path] + list(args)
    return command


def native(program, *args):
    return lambda bench, _: [program(bench.context)] + list(args)


def storm(context):
    return context.compile('gcc', 'storm.c', 'storm', [])


def lua(_):
    return os.path.realpath(workloads.need('lua5.4', 'an interpreter'))


def ours(program, *args):
    def command(bench, plugin):
        qemu = bench.qemus('user', 'x86_64')[0]
        return [qemu.path, '-plugin', plugin, program(bench.context)] + list(args)
    return command


ROWS = [
    ('fib(%s)' % STORM, [
        ('native, not recorded', native(storm, STORM)),
        ('uftrace record, native, -pg', uftrace),
        ('callgrind', callgrind(storm, STORM)),
        ('guesttrace in qemu-x86_64', ours(storm, STORM)),
    ]),
    ('Lua, mix.lua %s' % LUA, [
        ('native, not recorded', native(lua, workloads.SCRIPT, LUA)),
        ('callgrind', callgrind(lua, workloads.SCRIPT, LUA)),
        ('guesttrace in qemu-x86_64', ours(lua, workloads.SCRIPT, LUA)),
    ]),
]


def clean(data):
    measure.remove(data)
    for p in glob.glob(data + '.callgrind*'):
        os.unlink(p)


def compare(bench, plugin):
    """A list of results."""
    out = []
    for program, tools in ROWS:
        commands, times = {}, {}
        for tool, command in tools:
            try:
                commands[tool] = command(bench, plugin)
                times[tool] = []
            except workloads.Missing as e:
                out.append({'program': program, 'tool': tool, 'skipped': str(e)})
        for turn in range(bench.count + 1):
            for tool, command in commands.items():
                clean(bench.data)
                measure.warm(bench.folder, 256 << 20)
                seconds = measure.run(command, bench.folder, bench.realtime).wall
                if turn:
                    times[tool].append(seconds)
        clean(bench.data)
        out += [{'program': program, 'tool': tool, 'seconds': statistics.median(t)}
                for tool, t in times.items()]
    return out


def numbers_of(output):
    return {key: int(value) * 1024 for key, value in
            re.findall(r'^(\w+): +(\d+) kB', output.decode(), re.M)}


def memory(bench, plugin, threads=THREADS):
    """What a recording adds to QEMU's memory when `threads` threads live at once: bytes."""
    data = bench.data
    program = bench.context.compile('gcc', 'threads.c', 'threads', ['-pthread'])
    qemu = bench.qemus('user', 'x86_64')[0]
    pool = [0]

    def watch(_):
        for path in glob.glob(os.path.join(data, '.guesttrace-*.ring')):
            try:
                pool[0] = max(pool[0], os.stat(path).st_blocks * 512)
            except FileNotFoundError:
                pass

    out = []
    for n in (1, threads):
        measure.remove(data)
        bare = measure.run([qemu.path, program, str(n)], bench.folder)
        pool[0] = 0
        recorded = measure.run([qemu.path, '-plugin', plugin, program, str(n)],
                               bench.folder, watch=watch)
        a, b = numbers_of(bare.output), numbers_of(recorded.output)
        out.append({'threads': n, 'added_rss': b['Rss'] - a['Rss'],
                    'added_private': b['Anonymous'] - a['Anonymous'], 'pool_file': pool[0]})
    return out
