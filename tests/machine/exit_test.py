#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU ends while four vCPUs make calls without a pause (exit.c), with each plugin and each of its formats: QEMU's
status stays what it is, nothing is said but the usual, and the recording is complete. What vCPU 1 has called until
then is known; of the others, that each recording is as its readers want it.

usage: exit_test.py TOOL SERIES [RUNS [MACHINES]]

SERIES: of QEMU. RUNS: of all formats and ways to end together, which take turns. MACHINES: that run at once, so that
each is disturbed by the vCPUs of the others.
"""
import collections
import glob
import json
import multiprocessing
import os
import re
import shutil
import signal
import socket
import struct
import sys

from gttest import boards, commands, elf, etrace, paths, qemus, results, sanitizers, uftrace
from gttest.commands import must, printed
from gttest.recordings import check_directory, dump, export
from gttest.results import need

ROUNDS = 400
FORMATS = {
    'uftrace': ['format=uftrace', 'format=compact', 'format=compact,last=1M', 'format=compact,clock=insn'],
    'etrace': ['clock=host', 'clock=insn', 'flags=exec+mem'],
    'execlog': ['format=text', 'format=binary', 'last=500,format=binary'],
    'events': ['backends=simple'],
}
OUTPUT = {'uftrace': 'output', 'etrace': 'output', 'execlog': 'output', 'events': 'trace-file'}
STATUS = {'vcpu': 3, 'plugin': 3, 'term': 0, 'quit': 0}  # how QEMU ends: what its exit status is
TURNS = ['vcpu', 'plugin', 'vcpu', 'term', 'quit']  # the first is the one that crashed most
USUAL = re.compile(r'guesttrace-\w+: \d+ calls(| recorded: .*|; the last ones: .*)|qemu-system-\w+: terminating on signal .*|'
                   r'guesttrace-etrace: values of memory accesses are 0: .*')  # QEMU before 9.1


def calls_of_vcpu_1():
    """{function: how often vCPU 1 has entered it}"""
    calls = collections.Counter(round_of_calls=ROUNDS + 1, done=1)

    def fibonacci(n):
        calls['fibonacci'] += 1
        if n < 2:
            calls['leaf'] += 1
        else:
            fibonacci(n - 1)
            fibonacci(n - 2)
    for i in range(ROUNDS + 1):
        calls['leaf'] += [1, 2, 3, 3][i % 4]
        calls['twice'] += i % 4 >= 1
        calls['deeper'] += i % 4 >= 2
        if i % 32 == 0:
            fibonacci(6)
    return calls


class Machine:
    def __init__(self, folder, tool, series):
        self.tool = tool
        self.move(folder)
        self.qemu = qemus.of_series('aarch64', series)
        sources = [paths.source('machine', 'exit.c'), paths.source('machine', 'exit.S')]
        self.images = {end: boards.build('aarch64', end, folder, sources, *(['-DENDS'] if end == 'vcpu' else []))
                       for end in ('vcpu', 'runs_on')}
        self.functions = {}  # they lie at the same places in both
        self.stops = f'{folder}/stops.so'
        version = qemus.number_of(self.qemu)
        abi = 7 if version >= (11, 1) else 2 if version >= (9, 0) else 1
        addresses = elf.symbols(self.images['runs_on'].elf)
        must(['gcc', '-shared', '-fPIC', '-o', self.stops, paths.source('machine', 'exit_plugin.c'), f'-DVERSION={abi}',
              f'-DADDRESS={addresses["stop"]:#x}'])

    def move(self, folder):
        self.folder, self.out = folder, f'{folder}/out'

    def given(self, end, form):
        words = [paths.plugin(self.tool), f'{OUTPUT[self.tool]}={self.out}', form]
        if self.tool == 'events':
            places = ''.join(f'at={self.functions[name]:#x} {name}(uint64_t x0) ""\n' for name in ('round_of_calls', 'done'))
            results.write(f'{self.folder}/events', places)
            words.append(f'guest-events={self.folder}/events')
        more = ['-plugin', self.stops] if end == 'plugin' else []
        if end == 'quit':
            more += ['-qmp', f'unix:{self.folder}/qmp,server=on,wait=off']
        return ['-smp', '4', '-semihosting', '-plugin', ','.join(words), *more]

    def quit(self):
        with socket.socket(socket.AF_UNIX) as s, s.makefile('rw') as f:
            s.connect(f'{self.folder}/qmp')
            f.readline()
            for word in 'qmp_capabilities', 'quit':
                f.write(json.dumps({'execute': word}) + '\n')
                f.flush()
                f.readline()

    def run(self, end, form):
        """QEMU's end."""
        image = self.images.get(end, self.images['runs_on'])
        self.functions = elf.symbols(image.elf)
        before, _ = sanitizers.preloading(paths.plugin(self.tool))
        child = commands.start([*before, *image.command_on_stdio(self.qemu, *self.given(end, form))])
        if end in ('term', 'quit'):
            need(child.stdout.read(1) == b'!', 'it ended')
            self.quit() if end == 'quit' else child.send_signal(signal.SIGTERM)
        return commands.finish(child)

    # ---- what vCPU 1 has called: {function: how often} -----------------------------------------------------

    def of_directory(self, path):
        check_directory(path, readers=False)
        trace = uftrace.Trace(path)
        for tid in trace.tids():
            entered = collections.Counter(r[3] for r in uftrace.read_records(trace.data(tid)) if r[1] == uftrace.ENTRY)
            if entered[self.functions['done']]:
                return {name: entered[self.functions[name]] for name in calls_of_vcpu_1()}
        raise results.Failure('no vCPU has called done()')

    def of_uftrace(self, form):
        if 'compact' not in form:
            return self.of_directory(self.out)
        files = [self.out] if 'last=' not in form else glob.glob(f'{self.out}*.gtrace') or glob.glob(f'{self.out}*')
        need(len(files) == 1, files)
        export(files[0], f'{self.out}.export')
        return None if 'last=' in form else self.of_directory(f'{self.out}.export')

    def of_etrace(self, _):
        starts, previous = collections.Counter(), None
        for kind, unit, body, at in etrace.packets(results.read_bytes(self.out)):
            need(kind in (etrace.INFO, etrace.ARCH, etrace.EXEC, etrace.MEM, etrace.BARRIER), 'kind', kind, 'at', at)
            need(previous != etrace.EXEC or kind == etrace.BARRIER, 'no barrier after EXEC at', at)
            previous = kind
            if kind == etrace.EXEC and unit == 1:
                starts.update(start for _, start, _ in struct.iter_unpack('<IQQ', body[8:]))
        need(previous != etrace.EXEC, 'EXEC without a barrier')
        return {name: starts[self.functions[name]] for name in ('round_of_calls', 'done', 'fibonacci')}

    def of_execlog(self, form):
        text = dump(self.out) if 'binary' in form else results.read_text(self.out)
        lines = re.findall(r'^[0-3], 0x[0-9a-f]+, 0x[0-9a-f]+, ".*$', text, re.M)
        need(len(lines) == len(text.splitlines()), 'lines that are none')
        if 'last=' in form:
            return None
        begun = collections.Counter(re.findall(r'^1, (0x[0-9a-f]+),', text, re.M))
        return {name: begun[f'{self.functions[name]:#x}'] for name in calls_of_vcpu_1()}

    def of_events(self, _):
        declared = f'{self.folder}/declared'
        results.write(declared, re.sub('^at=\\S+ ', '', results.read_text(f'{self.folder}/events'), flags=re.M))
        text = printed([paths.GUESTTRACE, 'events', 'simpletrace', '--json', declared, self.out])
        records = [json.loads(line) for line in text.splitlines()]
        return {'round_of_calls': sum(r['event'] == 'round_of_calls' and r['args']['x0'] == 1 for r in records),
                'done': sum(r['event'] == 'done' for r in records)}

    def check(self, end, form):
        for path in glob.glob(f'{self.out}*'):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        done = self.run(end, form)
        lines = done.stderr.decode(errors='replace').splitlines()
        said = [line for line in lines if not USUAL.fullmatch(line) and not sanitizers.NOTE.fullmatch(line)]
        need(done.returncode == STATUS[end] and not said, done.returncode, said)
        got = getattr(self, f'of_{self.tool}')(form)
        want = calls_of_vcpu_1()
        for name, n in (got or {}).items():
            need(n == want[name] if end in ('vcpu', 'plugin') else n >= want[name], name, n, want[name])


def check_one(machine, folder, end, form):
    """What is wrong, as a list."""
    mine = f'{folder}/{os.getpid()}'
    os.makedirs(mine, exist_ok=True)
    machine.move(mine)
    try:
        machine.check(end, form)
        return []
    except (results.Failure, OSError) as why:
        commands.end_all()
        return [f'{form}, {end}: {why}'[:500]]


def check(folder, tool, series, runs, machines):
    machine = Machine(folder, tool, series)
    forms = FORMATS[tool]
    turns = [(TURNS[i // len(forms) % len(TURNS)], forms[i % len(forms)]) for i in range(runs or len(TURNS) * len(forms))]
    with multiprocessing.Pool(machines) as pool:
        said = pool.starmap(check_one, [(machine, folder, *turn) for turn in turns], chunksize=1)
    bad = collections.Counter(sum(said, []))
    need(not bad, *(f'{n} times: {why}\n' for why, n in bad.items()))


if __name__ == '__main__':
    tool_, series_, *counts = sys.argv[1:]
    runs_, machines_ = [int(n) for n in counts + ['0', '1'][len(counts):]]
    sys.exit(results.in_folder('exit', lambda folder: check(folder, tool_, series_, runs_, machines_)))
