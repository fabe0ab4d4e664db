# SPDX-License-Identifier: GPL-2.0-or-later
"""What people use today, and ours, on the same x86_64 programs; and the memory of a recording."""
import glob
import os
import re
import statistics

import measure
import workloads

STORM, LUA, THREADS = '33', '3', 1000


def uftrace(context, data):
    workloads.need('uftrace', 'to compare with')
    program = context.compile('gcc', 'storm.c', 'storm-pg', ['-pg'])
    return ['uftrace', 'record', '-d', data, program, STORM]


def callgrind(program, *args):
    def command(context, data):
        valgrind = workloads.need('valgrind', 'to compare with')
        path = program(context)
        return [valgrind, '-q', '--tool=callgrind',
                '--callgrind-out-file=' + data + '.callgrind', path] + list(args)
    return command


def native(program, *args):
    return lambda context, data: [program(context)] + list(args)


def storm(context):
    return context.compile('gcc', 'storm.c', 'storm', [])


def lua(_):
    return os.path.realpath(workloads.need('lua5.4', 'an interpreter'))


def ours(program, *args):
    def command(context, data):
        qemus = workloads.qemus('user', 'x86_64')
        if not qemus:
            raise workloads.Missing('no qemu-x86_64')
        return [qemus[0].path, '-plugin', '%s,output=%s,summary=off' % (context.plugin, data),
                program(context)] + list(args)
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


def compare(context, data, count, realtime):
    """Lists of (program, tool, median seconds or None, reason or None)."""
    out = []
    for program, tools in ROWS:
        commands, times = {}, {}
        for tool, command in tools:
            try:
                commands[tool] = command(context, data)
                times[tool] = []
            except workloads.Missing as e:
                out.append((program, tool, None, str(e)))
        for turn in range(count + 1):
            for tool, command in commands.items():
                clean(data)
                measure.warm(context.folder, 256 << 20)
                seconds = measure.run(command, context.folder, realtime).wall
                if turn:
                    times[tool].append(seconds)
        clean(data)
        out += [(program, tool, statistics.median(t), None) for tool, t in times.items()]
    return out


def numbers_of(output):
    return {key: int(value) * 1024 for key, value in
            re.findall(r'^(\w+): +(\d+) kB', output.decode(), re.M)}


def memory(context, data, threads=THREADS):
    """What a recording adds to QEMU's memory when `threads` threads live at once: bytes."""
    program = context.compile('gcc', 'threads.c', 'threads', ['-pthread'])
    qemus = workloads.qemus('user', 'x86_64')
    if not qemus:
        raise workloads.Missing('no qemu-x86_64')
    plugin = '%s,output=%s,summary=off' % (context.plugin, data)
    pool = [0]

    def watch(_):
        for path in glob.glob(os.path.join(data, '.guesttrace-*.ring')):
            try:
                pool[0] = max(pool[0], os.stat(path).st_blocks * 512)
            except FileNotFoundError:
                pass

    out = {}
    for n in (1, threads):
        measure.remove(data)
        bare = measure.run([qemus[0].path, program, str(n)], context.folder)
        pool[0] = 0
        recorded = measure.run([qemus[0].path, '-plugin', plugin, program, str(n)],
                               context.folder, watch=watch)
        a, b = numbers_of(bare.output), numbers_of(recorded.output)
        out[n] = {'rss_bare': a['Rss'], 'rss': b['Rss'], 'added_rss': b['Rss'] - a['Rss'],
                  'added_pss': b['Pss'] - a['Pss'],
                  'added_private': b['Anonymous'] - a['Anonymous'], 'pool_file': pool[0],
                  'tasks': measure.statistics_of(data)['tasks']}
    measure.remove(data)
    return out
