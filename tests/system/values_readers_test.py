#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each uftrace there is shows the arguments and results of one directory: replay, dump, dump --chrome, a script.

usage: values_readers_test.py ARCH
"""
import json
import sys

import values_test
from gttest import qemus, uftraces
from gttest.commands import printed, run
from gttest.recordings import record
from gttest.results import in_folder, need, write

SCRIPT = '''def uftrace_entry(ctx):
    if ctx['name'] == 'send': print('entry', ctx['args'][1])
def uftrace_exit(ctx):
    if ctx['name'] == 'send': print('exit', ctx['retval'])
'''


def check_reader(uftrace, out, folder):
    def show(command, *more):
        return printed([uftrace, command, '--no-pager', '-d', out, *more])
    need('many(-1, 65535, ' in show('replay', '-f', 'none'), uftrace, 'replay shows no arguments')
    need('words("plain", ' in show('replay', '-f', 'none'), uftrace, 'replay shows no text')
    need(' send' in show('report'), uftrace, 'report has no functions')
    need('args[1]' in show('dump'), uftrace, 'dump shows no arguments')
    events = json.loads(printed([uftrace, 'dump', '--chrome', '-d', out]))['traceEvents']
    sends = [e.get('args', {}) for e in events if e['name'] == 'send']
    begins = [a['arguments'] for a in sends if 'arguments' in a]
    ends = [a['retval'] for a in sends if 'retval' in a]
    need(len(begins) == 2 and len(ends) == 2 and begins[0].endswith('7)'), uftrace, 'dump --chrome:', sends)
    done = run([uftrace, 'script', '-d', out, '-S', write(f'{folder}/values.py', SCRIPT)])
    if done.returncode or b'entry' not in done.stdout:
        need(b'libpython' in done.stderr, uftrace, 'script:', done)
        print(uftrace, 'was built for another Python than is here')
        return
    said = done.stdout.decode().split('\n')
    need(said[:2] == ['entry 7', 'exit 1507'], uftrace, 'script:', said)


def check(folder):
    arch = sys.argv[1]
    qemu = qemus.machines_from(arch, qemus.TELLS_MEMORY)
    machine, out = values_test.build(arch, folder), f'{folder}/data'
    record(out, ['-q', '-a', '--format', 'uftrace', '--symbols', machine.elf],
           machine.command_on_stdio(qemu, '-smp', '2'))
    for uftrace in uftraces.find():
        check_reader(uftrace, out, folder)
        print(uftrace, 'good')


if __name__ == '__main__':
    sys.exit(in_folder('values-readers', check))
