#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Linux that is switched off and on over a control socket while it runs. Another plugin records the same run whole: calls
that are recorded after each "on" have only callers that they have there; of a program that was forked or executed meanwhile a few
may not.

usage: switch_test.py ARCH SERIES
"""
import json
import shutil
import sys

from gttest import boots, commands, paths, qemus, sockets
from gttest.recordings import SEVERE, check_directory
from gttest.results import Failure, in_folder, need

STEPS = 14
WORK = f'i=0\nwhile [ $i -lt {STEPS} ]; do\n    echo STEP $i\n    ls /sys | sort | wc -l\n    i=$((i + 1))\ndone'
KERNEL_HALF = 1 << 47
OFF, ON = (2, 8), (5, 11)


class Control:
    def __init__(self, path, child):
        self.lines = sockets.connected(path, child).makefile('rwb')
        json.loads(self.lines.readline())

    def ask(self, line):
        self.lines.write(line.encode() + b'\n')
        self.lines.flush()
        answer = self.lines.readline().decode()
        need(answer.startswith('ok'), line, 'gave', answer)
        return dict(word.split('=') for word in answer.split()[1:])


def wait_for(child, text, said):
    while text not in said[-1]:
        line = child.stdout.readline()
        need(line, 'the guest has ended before', text, said[-20:])
        said.append(line.decode(errors='replace').strip())


def switch(child, control):
    """Off at some steps, on at others; how many records there were each time."""
    said, kept = [''], []
    for off, on in zip(OFF, ON):
        wait_for(child, f'STEP {off}', said)
        control.ask('off')
        while control.ask('status')['tracking'] != 'off':
            pass
        kept.append(control.ask('status')['records'])
        wait_for(child, f'STEP {on}', said)
        need(control.ask('status')['records'] == kept[-1], 'records while it is off')
        control.ask('on')
    wait_for(child, 'GUEST ENDS', said)


def pairs(out):
    """{(function, its caller): calls}, by address; a caller that is not known is 0."""
    return {(addr, caller): int(calls) for addr, calls, caller in boots.tool('count', out)}


def check(arch, series, folder):
    whole, part = f'{folder}/whole', f'{folder}/part'
    second = shutil.copy(paths.plugin('uftrace'), f'{folder}/second.so')
    line = boots.command(arch, qemus.of_series(arch, series), folder, WORK,
                         options=['-plugin', f'{second},output={part},control={folder}/control,code={whole}.code.map,summary=off'])
    child = commands.start([paths.GUESTTRACE, 'record', '--format', 'uftrace', '-o', whole, '--', *line])
    try:
        switch(child, Control(f'{folder}/control', child))
    except Failure as bad:
        raise Failure(f'{bad}: {commands.finish(child).stderr}') from bad
    done = commands.finish(child)
    need(done.returncode == 0, done)
    check_directory(part, readers=False)
    stats = boots.Boot(part).stats
    severe = {name: stats[f'anomaly.{name}'] for name in SEVERE if stats[f'anomaly.{name}']}
    of_whole, of_part = pairs(whole), pairs(part)
    strange = {pair: n for pair, n in of_part.items() if int(pair[1], 16) and n > of_whole.get(pair, 0) + len(ON)}
    names, kernel = boots.Boot(whole), {pair: n for pair, n in strange.items() if int(pair[1], 16) >= KERNEL_HALF}
    calls, wrong = sum(of_part.values()), sum(strange.values())
    need(not kernel and wrong <= calls / 1000, len(kernel), 'of', len(of_part), 'pairs of caller and function are not in the whole recording,',
         wrong, 'calls:', [(names.name(int(a, 16)), names.name(int(c, 16)), n) for (a, c), n in list((kernel or strange).items())[:9]])
    known = sum(n for pair, n in of_part.items() if int(pair[1], 16))
    need(100000 < calls < sum(of_whole.values()) and known > 0.99 * calls, calls, 'calls', known, 'with callers')
    need(sum(severe.values()) <= stats['matched'] / 10000, severe, 'of', stats['matched'])
    print(f'good: {calls} of {sum(of_whole.values())} calls, {severe}')


def main():
    arch, series = sys.argv[1:]
    return in_folder(f'switch-{arch}', lambda folder: check(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
