# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording calls costs (libuftrace.so), next to other tools, its memory, and how long a
kernel's names take."""
import compact
import compare
import filters
import names
import recording
import snapshot
from measure import Failed, statistics_of
from table import Column, Row, Table, one
from workloads import (BUSY, RUN_LUA, SCRIPT, bare_machine, firmware, installed, libraries, linux,
                       lua_files, program, program_aarch64)


def statistics(data):
    stats = statistics_of(data)
    if stats['lost_records']:
        raise Failed('lost %d records' % stats['lost_records'])
    return stats


def workload(name, words, kind, arch, command, most=None, most_v1=None, **options):
    return recording.row(name, words, kind, arch, command, 'uftrace',
                         ('summary=off', options.pop('arguments', None)), statistics, most=most,
                         most_v1=most_v1, **options)


WORKLOADS = recording.table([
    workload('start', '/bin/true', 'user', 'x86_64', installed('true')),
    workload('storm', 'fib(35)', 'user', 'x86_64', program('storm.c', '35'), 2.5, 3.5),
    workload('sort', 'qsort() of 1,000,000 numbers', 'user', 'x86_64',
             program('sort.c', '1000000')),
    workload('strings', 'strings and malloc', 'user', 'x86_64', program('strings.c', '200000')),
    workload('lua', 'Lua 5.4 runs a script', 'user', 'x86_64', installed('lua5.4', SCRIPT, '12'),
             1.6, 2.0),
    workload('dlopen', '10,000 pairs of dlopen() and dlclose()', 'user', 'x86_64',
             libraries(10000), 3, 3),
    workload('dlopen-more', 'the same with 40,000: linear', 'user', 'x86_64', libraries(40000)),
    workload('spawn', '1,500 threads, one after another', 'user', 'x86_64', program('spawn.c', '1500'), 2, 2),
    workload('storm-a64', 'fib(35)', 'user', 'aarch64', program_aarch64('storm.c', '35'), 2.5, 3.5),
    workload('m-storm', 'fib(35), no system', 'machine', 'aarch64',
             bare_machine('aarch64', 'STORM', 35), 2.5, 3.5),
    workload('m-sort', 'quicksort with a callback', 'machine', 'aarch64',
             bare_machine('aarch64', 'SORT', 1000000)),
    workload('m-interp', 'interpreter of byte code', 'machine', 'aarch64',
             bare_machine('aarch64', 'INTERPRETER', 29), 1.6, 2.0),
    workload('m-storm-rv', 'fib(35), no system', 'machine', 'riscv64',
             bare_machine('riscv64', 'STORM', 35), 2.5, 3.5),
    workload('uboot', 'OpenSBI and U-Boot', 'machine', 'riscv64', firmware,
             expect=b'poweroff ...'),
    workload('linux', 'Linux boots to a shell script', 'machine', 'aarch64',
             linux(BUSY), 1.25, expect=b'GUEST ENDS'),
    workload('linux-short', 'the same without its ls -lR', 'machine', 'aarch64',
             linux(':'), 1.25, expect=b'GUEST ENDS'),
    workload('linux-rv', 'Linux boots to a shell script', 'machine', 'riscv64',
             linux(BUSY, kernel='riscv64'), expect=b'GUEST ENDS'),
    workload('linux-x86', 'Linux boots to a shell script', 'machine', 'x86_64',
             linux(BUSY, kernel='x86_64'), expect=b'GUEST ENDS'),
    *[workload(f'linux{short}-{name}', f'`linux{short}`, {what}', 'machine', arch,
               linux(BUSY, kernel=f'{arch}-{release}'), expect=b'GUEST ENDS')
      for short, arch, release, name, what in (
          ('', 'aarch64', 'trixie', '13', 'the kernel of Debian 13'),
          ('', 'aarch64', 'sid', 'new', 'the newest kernel of Debian'),
          ('-rv', 'riscv64', 'sid', 'new', 'the newest kernel of Debian'),
          ('-x86', 'x86_64', 'trixie', '13', 'the kernel of Debian 13'),
          ('-x86', 'x86_64', 'sid', 'new', 'the newest kernel of Debian'))],
    workload('linux-lvl', '`linux`, a task for each privilege level', 'machine', 'aarch64',
             linux(BUSY), 1.4, expect=b'GUEST ENDS',
             arguments='trace-privilege-level=on', since_abi=2),
    workload('linux-smp', '`linux` with 4 vCPUs', 'machine', 'aarch64',
             linux(BUSY, options=('-smp', '4')), expect=b'GUEST ENDS'),
    workload('linux-lua', 'Lua 5.4 runs a script in Linux; without the boot', 'machine', 'aarch64',
             linux(RUN_LUA, ('lua', 'lua/bin', 'lua/lib'), lua_files), 1.6, 2.0,
             expect=b'GUEST ENDS', since=b'GUEST BEGINS'),
    # one compact file in place of a directory: compare with the rows of the same names without -file
    workload('storm-file', '`storm`, a compact file', 'user', 'x86_64', program('storm.c', '35'), 2.3, 2.3,
             arguments='format=compact'),
    workload('lua-file', '`lua`, a compact file', 'user', 'x86_64', installed('lua5.4', SCRIPT, '12'), 1.6, 1.6,
             arguments='format=compact'),
    workload('spawn-file', '`spawn`, a compact file', 'user', 'x86_64', program('spawn.c', '1500'), 2, 2,
             arguments='format=compact'),
    workload('m-storm-file', '`m-storm`, a compact file', 'machine', 'aarch64',
             bare_machine('aarch64', 'STORM', 35), 2.5, 3.5, arguments='format=compact'),
    workload('linux-file', '`linux`, a compact file', 'machine', 'aarch64',
             linux(BUSY), 1.25, expect=b'GUEST ENDS', arguments='format=compact'),
    workload('linux-smp-file', '`linux-smp`, a compact file', 'machine', 'aarch64',
             linux(BUSY, options=('-smp', '4')), expect=b'GUEST ENDS', arguments='format=compact'),
    *filters.ROWS,
])


COMPARED = Table(
    [Row('compare', 'other tools on the same x86_64 programs', one(
        lambda bench: compare.compare(bench, bench.plugin('uftrace', 'output=' + bench.data,
                                                          'summary=off'))))],
    [Column('program', 18), Column('tool', 30)], [Column('seconds', 8)],
    lambda r: [r.get('program', r['row']), r.get('tool', '')], lambda r: ['%.3f' % r['seconds']],
    'Others, on the same x86_64 programs')

NAMES = Table(
    [Row('names', 'a kernel\'s functions by name, from its image', one(
        lambda bench: names.names(bench, bench.plugin('uftrace', 'output=' + bench.data, 'depth=1',
                                                      'summary=off'))))],
    [Column('kernel', 18)], [Column('functions named', 16), Column('seconds', 8)],
    lambda r: [r.get('kernel', r['row'])],
    lambda r: ['{:,}'.format(r['functions']), '%.3f' % r['seconds']],
    'A kernel\'s functions by name, from its image')

MEMORY = Table(
    [Row('memory', 'what recording 1000 threads adds; wanted: 64 MiB', one(
        lambda bench: compare.memory(bench, bench.plugin('uftrace', 'output=' + bench.data,
                                                         'summary=off'))))],
    [Column('threads that live at once', 25)],
    [Column('resident memory added, MiB', 26), Column('of it private', 13),
     Column('pool file, MiB', 14)],
    lambda r: [str(r.get('threads', r['row']))],
    lambda r: ['%.1f' % (r[k] / 2**20) for k in ('added_rss', 'added_private', 'pool_file')],
    'Memory that recording adds')

TABLES = [WORKLOADS, COMPARED, NAMES, MEMORY, compact.TABLE, snapshot.TABLE]
