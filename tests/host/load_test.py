#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Loading libuftrace.so into each version of the plugin ABI, and what it refuses."""
import glob
import os
import sys

from gttest import paths, scripted
from gttest.commands import run
from gttest.results import FAILED, GOOD, in_folder, write

PLAN = 'target {}\nmemory 0x400000 0x1000 any\ninsn 0x400000 4\nvcpu 0\ntb 0 1 -1\n'
MACHINE = 'machine 2 2\n'

# Arguments, and the line that refuses them.
REFUSED = [
    (['nothing=1'], 'unknown argument nothing=1: expected one of output, format, last, split, size-limit, code, abi, clock, depth, tasks, max-tasks, tail-calls, '),
    (['nothing'], 'unknown argument nothing: expected one of output, '),
    (['outpu=x'], 'unknown argument outpu=x: '),
    (['=x'], 'unknown argument =x: '),
    ([''], 'unknown argument : '),
    (['output='], 'argument output=: expected a value'),
    (['output'], 'argument output: expected output=VALUE'),
    (['clock=fast'], 'argument clock=fast: expected one of auto, insn, host'),
    (['clock='], 'argument clock=: expected one of auto, insn, host'),
    (['depth=0'], 'argument depth=0: expected a number from 1 to 1048576'),
    (['depth=1048577'], 'argument depth=1048577: expected a number from 1 to 1048576'),
    (['depth=-1'], 'argument depth=-1: expected a number'),
    (['depth=1x'], 'argument depth=1x: expected a number'),
    (['depth='], 'argument depth=: expected a number'),
    (['depth=99999999999999999999'], 'argument depth=99999999999999999999: expected a number'),
    (['tail-calls=maybe'], 'argument tail-calls=maybe: expected on or off'),
    (['summary=2'], 'argument summary=2: expected on or off'),
    (['trace-privilege-level=x'], 'argument trace-privilege-level=x: expected on or off'),
    (['discontinuities=x'], 'argument discontinuities=x: expected on or off'),
    (['trace-privilege-level=on'], 'argument trace-privilege-level=on: only machines have privilege'),
    (['depth=5', 'clock=insn', 'bad=1'], 'unknown argument bad=1: '),
    (['output=/nowhere/at/all'], '/nowhere/at/all'),
    (['format=zip'], 'argument format=zip: expected one of uftrace, compact'),
    (['format=compact', 'output=/nowhere/at/all'], '/nowhere/at/all: cannot be made in /nowhere/at: No such file'),
    (['format=compact', 'output=plan'], '/plan: exists and is not a compact recording: it is left alone, name another'),
    (['format=compact', 'output=.'], '/.: exists and is not a compact recording'),
]
ACCEPTED = ['format=uftrace', 'format=compact', 'clock=host', 'clock=auto', 'depth=1', 'depth=0x10', 'tail-calls=off', 'tail-calls=ON',
            'summary=no', 'trace-privilege-level=off', 'discontinuities=off']
ABIS = {1: 1, 2: 2, 4: 4, 5: 5, 6: 6, 7: 7}

failures = []


def need(good, *words):
    if not good:
        failures.append(' '.join(str(w) for w in words))


class Host:
    def __init__(self, top):
        self.top, self.n = top, 0

    def run(self, abi, *words, plan=PLAN.format('aarch64'), env=None):
        """(exit status, lines on stdout, lines on stderr), in a folder of its own."""
        self.n += 1
        self.folder = f'{self.top}/{self.n}'
        os.mkdir(self.folder)
        done = run([scripted.host(abi), paths.plugin('uftrace'), write(f'{self.folder}/plan', plan), *words],
                   cwd=self.folder, env=scripted.environment(**(env or {})))
        return done.returncode, *(out.decode().split('\n')[:-1] for out in (done.stdout, done.stderr))


def check_versions(host):
    for abi, version in ABIS.items():
        status, out, err = host.run(abi)
        need((status, out) == (0, [f'version {version}']), f'version {abi}:', status, out, err)
        need(len(err) == 1 and 'nothing was recorded: the guest made no calls' in err[0],
             f'version {abi}:', err)
        need(os.path.exists(f'{host.folder}/uftrace.data/info'), f'version {abi}: no default output')
        host.run(abi, 'format=compact')
        need(sorted(os.listdir(host.folder)) == ['plan', 'uftrace.gtrace'], f'version {abi}:', os.listdir(host.folder))
        status, _, err = host.run(abi, '-min', str(version + 1))
        need(status == 1 and len(err) == 1 and f'version {version} of' in err[0],
             f'version {abi} with a newer minimum:', status, err)
    for told, abi, version in (('11.0.0', 6, 6), ('11.1.0', 7, 7), ('12.0.50 (x)', 7, 7),
                               ('nonsense', 7, 7), ('nonsense', 6, 6), ('', 6, 6)):
        status, out, err = host.run(abi, env={'GUESTTRACE_QEMU_VERSION': told})
        need((status, out) == (0, [f'version {version}']), f'{abi} told {told}:', status, out, err)
    status, out, err = host.run(7, env={'GUESTTRACE_QEMU_VERSION': '11.0.0'})
    need(status == 1 and 'version 6 of' in err[0], '7 told 11.0.0:', status, out, err)
    status, out, err = host.run(6, env={'GUESTTRACE_QEMU_VERSION': '11.1.0'})
    need(status == 1 and 'version 7 of' in err[0], '6 told 11.1.0:', status, out, err)
    for abi in (1, 4, 5):
        status, out, err = host.run(abi, env={'GUESTTRACE_QEMU_VERSION': '11.1.0'})
        need((status, out) == (0, [f'version {abi}']), f'{abi} told 11.1.0:', status, out, err)


def check_refusals(host):
    for words, message in REFUSED:
        for abi in (1, 7):
            status, out, err = host.run(abi, *words)
            need(status == 1 and out == [f'version {abi}'] and len(err) == 1
                 and err[0].startswith('guesttrace-uftrace: ') and message in err[0],
                 words, 'gave', status, out, err)
            need(not glob.glob(f'{host.folder}/uftrace.data*'), words, 'left a directory')
    for word in ACCEPTED:
        status, out, err = host.run(4, word)
        need(status == 0 and len(err) == (0 if word == 'summary=no' else 1), word, 'gave', status, err)
    for target in ('mips', '', 'aarch6', 'x86_64x'):
        for plan in (PLAN.format(target), MACHINE + PLAN.format(target)):
            status, _, err = host.run(4, plan=plan)
            need(status == 1 and err == [f'guesttrace-uftrace: guests of target {target} cannot be '
                                         'recorded yet'], f'target {target}:', status, err)


def check_bare(host):
    status, _, err = host.run('bare')
    need(status == 1 and err == ['guesttrace-uftrace: this QEMU does not export qemu_plugin_outs'],
         'a bare host:', status, err)


def check_twice(host):
    for abi in ABIS:
        status, _, err = host.run(abi, '-again')
        need(status == 1 and err == ['guesttrace-uftrace: the plugin is loaded twice: load it once, or first with keep=events alone'], f'twice in {abi}:', status, err)


def main(top):
    host = Host(top)
    check_versions(host)
    check_refusals(host)
    check_twice(host)
    check_bare(host)
    print(f'{host.n} loads, {len(failures)} failed')
    print('\n'.join(failures))
    return FAILED if failures else GOOD


sys.exit(in_folder('load', main))
