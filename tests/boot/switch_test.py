#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Linux that is switched off and on over a control socket while it runs. Another plugin records the same run whole: calls
that are recorded after each "on" have only callers that they have there, not more often, and there are no more anomalies. Few
of them have no caller.

usage: switch_test.py ARCH SERIES
"""
import json
import shutil
import subprocess
import sys

from gttest import boots, commands, paths, qemus, sockets
from gttest.recordings import SEVERE, check_directory
from gttest.results import Failure, in_folder, need

STEPS = 20
WORK = f'i=0\nwhile [ $i -lt {STEPS} ]; do\n    echo STEP $i\n    ls /sys | sort | wc -l\n    i=$((i + 1))\ndone\nread line'
OFF = range(1, STEPS - 1, 2)


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
    """Off for each second step of the guest. The number of calls before the first time."""
    said, before = [''], None
    for off in OFF:
        wait_for(child, f'STEP {off}', said)
        control.ask('off')
        while control.ask('status')['tracking'] != 'off':
            pass
        status = control.ask('status')
        kept, before = status['records'], before or int(status['calls_tracked'])
        wait_for(child, f'STEP {off + 1}', said)
        need(control.ask('status')['records'] == kept, 'records while it is off')
        control.ask('on')
    child.stdin.write(b'\n')  # the guest waits for it
    child.stdin.flush()
    wait_for(child, 'GUEST ENDS', said)
    return before


def pairs(out):
    """{(function, its caller): calls}, by address; a caller that is not known is 0."""
    return {(addr, caller): int(calls) for addr, calls, caller in boots.tool('count', out)}


def check(arch, series, folder):
    whole, part = f'{folder}/whole', f'{folder}/part'
    second = shutil.copy(paths.plugin('uftrace'), f'{folder}/second.so')
    line = boots.command(arch, qemus.of_series(arch, series), folder, WORK,
                         options=[*paths.keep(second), '-plugin',
                                  f'{second},output={part},control={folder}/control,code={whole}.code.map,summary=off'])
    child = commands.start([paths.GUESTTRACE, 'record', '--format', 'uftrace', '-o', whole, '--', *line], stdin=subprocess.PIPE)
    try:
        before = switch(child, Control(f'{folder}/control', child))
    except (Failure, OSError) as bad:
        raise Failure(f'{bad}: {commands.finish(child)}') from bad
    done = commands.finish(child)
    need(done.returncode == 0, done)
    check_directory(part, readers=False)
    all_whole, all_part = boots.Boot(whole), boots.Boot(part)
    severe = {name: all_part.stats[f'anomaly.{name}'] for name in SEVERE if all_part.stats[f'anomaly.{name}']}
    more = {name: n for name, n in severe.items() if n > all_whole.stats[f'anomaly.{name}']}
    of_whole, of_part = pairs(whole), pairs(part)
    strange = {pair: n for pair, n in of_part.items() if int(pair[1], 16) and n > of_whole.get(pair, 0)}
    calls = sum(of_part.values())
    need(not strange, len(strange), 'of', len(of_part), 'pairs of caller and function are not in the whole recording:',
         [(all_whole.name(int(a, 16)), all_whole.name(int(c, 16)), n) for (a, c), n in list(strange.items())[:9]])
    later, unknown = calls - before, sum(n for pair, n in of_part.items() if not int(pair[1], 16))
    need(100000 < later < sum(of_whole.values()) - before and unknown < later / 50, unknown, 'of', later, 'calls have no caller')
    need(not more, more, 'are more than in the whole recording')
    print(f'good: {calls} of {sum(of_whole.values())} calls, {later} after the first "off", {unknown} without caller, {severe}')


def main():
    arch, series = sys.argv[1:]
    return in_folder(f'switch-{arch}', lambda folder: check(arch, series, folder))


if __name__ == '__main__':
    sys.exit(main())
