# SPDX-License-Identifier: GPL-2.0-or-later
"""What arguments and return values of calls cost, above a recording without them, and how long the prototypes of a
kernel take when a recording begins. Processor time of the whole QEMU, its writer thread included."""
import os
import shlex
import statistics
import subprocess

import measure
from recording import LABEL_COLUMNS, labels
from table import Column, Missing, Row, Table, one, wanted
from workloads import BUSY, linux, linux_files, program

CALLS = 3000000
GLOBS = 'vfs_*@auto-args;do_sys_*@auto-args'
MEMORY = '/dev/shm/guesttrace-bench'  # recordings that no disk slows down
# In the place of QEMU: it answers questions, and keeps what the plugin would have read.
SCRIPT = '''#!/bin/sh
for word; do
    case "$word" in
    *libuftrace*)
        map=${word##*,code=}; map=${map%%,*}; cp "$map" {keep}.code.map
        case "$word" in
        *,values=*) values=${word##*,values=}; cp "${values%%,*}" {keep}.values ;;
        esac
        exit 0 ;;
    esac
done
exec {qemu} "$@"
'''


def start(bench, keep, *options):
    """What `guesttrace record` does before QEMU begins: seconds of processor time. Leaves KEEP.code.map, KEEP.values."""
    qemu = next(q for q in bench.qemus('machine', 'aarch64') if q.abi > 1)
    kernel = os.path.join(linux_files('aarch64'), 'vmlinuz')
    folder = bench.context.path('start')
    os.makedirs(folder, exist_ok=True)
    script = os.path.join(folder, 'qemu-system-aarch64')
    with open(script, 'w') as f:
        f.write(SCRIPT.replace('{keep}', shlex.quote(keep)).replace('{qemu}', shlex.quote(qemu.path)))
    os.chmod(script, 0o755)
    command = [bench.guesttrace, 'record', '-q', '--no-console', *options, '-o', bench.scratch('start.data'),
               '--symbols', kernel, '--', script, '-M', 'virt', '-kernel', kernel]
    before = os.times()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    after = os.times()
    if 'the plugin was not loaded' not in done.stderr:
        raise Missing('guesttrace record: ' + done.stderr[-300:])
    return sum(after[2:4]) - sum(before[2:4])


def kept(bench, name, *options):
    def make():
        keep = bench.context.path(name)
        start(bench, keep, *options)
        return keep
    return bench.once(name, make)


def pairs(bench, command, plain, values):
    """Without values, and with them."""
    paths = [MEMORY + '.plain', MEMORY + '.values']
    commands = []
    for path, arguments in zip(paths, (plain, values)):
        plugin = bench.plugin('uftrace', 'output=' + path, 'summary=off', *arguments)
        commands.append([w for x in command for w in (['-plugin', plugin] if x == '@' else [x])])

    def clean(_):
        found = measure.statistics_of(paths[1])
        for path in paths:
            measure.remove(path)
        return found
    try:
        return measure.pairs_at_once(*commands, 2 * bench.count, paths[1], clean)
    finally:
        for path in paths:
            measure.remove(path)


def loop(name, words, argument, most=None, form='uftrace'):
    def measured(bench, qemu):
        found = pairs(bench, program('call_loop.c', str(CALLS))(bench.context, qemu), ['format=' + form],
                      ['format=' + form, argument])
        return {**found, 'ns': (found['recorded'] - found['bare']) / CALLS * 1e9}

    def cases(bench):
        for qemu in bench.qemus('user', 'x86_64'):
            if qemu.abi > 1:
                yield ({'arch': 'x86_64', 'qemu': qemu.version, 'wanted': None, 'wanted_ns': most},
                       lambda qemu=qemu: measured(bench, qemu))
    return Row(name, words, cases)


def boot(name, words, most, *options):
    def measured(bench, qemu):
        keep = kept(bench, name, *options)
        code = 'code=' + keep + '.code.map'
        return pairs(bench, linux(BUSY)(bench.context, qemu), [code], [code, 'values=' + keep + '.values'])

    def cases(bench):
        for qemu in bench.qemus('machine', 'aarch64'):
            if qemu.abi > 1:
                yield ({'arch': 'aarch64', 'qemu': qemu.version, 'wanted': most, 'wanted_ns': None},
                       lambda qemu=qemu: measured(bench, qemu))
    return Row(name, words, cases)


def prototypes(bench):
    keep = bench.context.path('prototypes')
    plain, auto = ([start(bench, keep, *options) for _ in range(bench.count + 1)][1:] for options in ((), ('-a',)))
    with open(keep + '.code.map') as f:
        functions = sum(line[0] not in '#+' for line in f)
    return {'functions': functions, 'seconds': statistics.median(auto) - statistics.median(plain)}


def figures(r):
    ns = r.get('ns')
    return ['%.3f' % r['bare'], '%.3f' % r['recorded'], '%.3f' % r['ratio'], '%.3f' % r['error'],
            '%.0f' % ns if ns is not None else '',
            wanted(ns, most=r['wanted_ns'], form='%.0f') if r['wanted_ns'] else wanted(r['ratio'], most=r['wanted'])]


THREE = 'argument=three@arg1,,arg2,,arg3'
TABLES = [
    Table([loop('values-three', 'a call with three integers', THREE, 60),
           loop('values-return', 'the result', 'retval=three@retval'),
           loop('values-text', 'a string of 32 bytes', 'argument=text@arg1/s', 150),
           loop('values-three-compact', 'three integers, a compact file', THREE, 60, 'compact'),
           loop('values-text-compact', 'a string, a compact file', 'argument=text@arg1/s', 150, 'compact'),
           boot('values-boot', 'a Linux boot, `-a` of vfs_* and do_sys_*', 1.05, '-A', GLOBS),
           boot('values-boot-all', 'a Linux boot, `-a`', None, '-a')],
          LABEL_COLUMNS,
          [Column('without s', 9), Column('with s', 7), Column('ratio', 6), Column('error', 6), Column('ns', 6),
           Column('wanted', 10)], labels, figures, 'Arguments and return values: processor time, above a recording'),
    Table([Row('values-prototypes', 'what `-a` of a kernel image adds at the start', one(
        lambda bench: [prototypes(bench)]))],
          [Column('what', 30)], [Column('functions', 9), Column('seconds', 8), Column('wanted', 10)],
          lambda r: [r['words']], lambda r: ['{:,}'.format(r['functions']), '%.3f' % r['seconds'],
                                             wanted(r['seconds'], most=0.3)])]
