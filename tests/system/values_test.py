#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments and results of a machine of two vCPUs are what it prints itself, on each QEMU there is.

usage: values_test.py ARCH

The types are those of the program's DWARF (record -a, members with argN/*). A QEMU whose plugins read no
registers says so, and records nothing.
"""
import functools
import os
import re
import sys

from gttest import boards, packed, paths, qemus
from gttest.commands import printed, run
from gttest.recordings import record
from gttest.results import need, same

NAMES = 'many', 'words', 'send'


def build(arch, folder):
    sources = [paths.source('system', 'tree', f'start_{arch}.S'), paths.source('system', 'values.c')]
    return boards.build(arch, 'values', folder, sources, '-DVCPUS=2', '-g', '-Wno-unused-function')


def shown(out):
    """The calls of the functions that print, at their returns."""
    calls, opened = [], []
    for line in printed([paths.GUESTTRACE, 'replay', '--no-pager', '-f', 'none', out]).splitlines():
        begin = re.match(rf' *(({"|".join(NAMES)})\(.*\)) \{{$', line)
        end = re.match(rf' *\}}( = .*)?; /\* ({"|".join(NAMES)}) \*/$', line)
        if begin:
            opened.append(begin[1].replace(', shown="', '\0').split('\0'))
        elif end:
            call = opened.pop()
            call = call[0] + re.sub(r'^.*", state', ', state', call[1]) if len(call) > 1 else call[0]
            calls.append(call + ('' if end[2] == 'words' else end[1] or ''))
    return calls


def check_other(out):
    """The second vCPU's calls are its own: n, and n + 1."""
    text = printed([paths.GUESTTRACE, 'replay', '--no-pager', '-f', 'none', out])
    # the other vCPU's lines may come between the two of a call
    begun = re.findall(r'^ *other\(n=(\d+)\)', text, re.M)
    ended = re.findall(r'^ *(?:other\(n=\d+\) = (\d+);|\} = (\d+); /\* other \*/)$', text, re.M)
    need(len(begun) > 3, 'the second vCPU calls', len(begun), 'times')
    need(len(begun) == len(ended), len(begun), 'calls,', len(ended), 'results')
    for i, n in enumerate(begun):
        result = ended[i][0] or ended[i][1]
        need(int(n) == i % 256 and int(result) == i % 256 + 1, f'call {i} of other is {n}, {result}')


def check(arch, _, qemu, folder, machine):
    line = machine.command_on_stdio(qemu, '-smp', '2')
    options = ['-q', '-a', '-A', 'send@arg1/*', '--symbols', machine.elf]
    number = qemus.number_of(qemu)
    if number < qemus.TELLS_REGISTERS:
        done = run([paths.GUESTTRACE, 'record', '-o', f'{folder}/old', *options, '--', *line],
                   env=dict(os.environ, GUESTTRACE_PLUGIN_DIR=paths.PLUGINS))
        need(done.returncode and b'QEMU 9.0 and later' in done.stderr, 'it says', done.stderr)
        need(not os.path.exists(f'{folder}/old'), 'it leaves a directory')
        return
    for out, *more in (f'{folder}/data',), (f'{folder}/data.gtrace', '--format', 'compact'):
        done = record(out, [*options, *more], line)
        said = [l.strip() for l in done.stdout.decode().splitlines() if l.startswith(NAMES)]
        need(len(said) == 13, f'the guest says {len(said)} lines:', done.stdout)
        got = shown(out)
        if number < qemus.TELLS_MEMORY:  # texts are addresses
            got = [call for call in got if call.startswith('many')]
            said = [call for call in said if call.startswith('many')]
        same('\n'.join(got), '\n'.join(said), f'calls in {out}')
        check_other(out)
    packed.check_there_and_back(f'{folder}/data', 'other:arg1', 'send:retval')


def main():
    arch = sys.argv[1]
    return qemus.on_each(arch, f'values-{arch}', functools.partial(build, arch), functools.partial(check, arch))


if __name__ == '__main__':
    sys.exit(main())
