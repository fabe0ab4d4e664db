# SPDX-License-Identifier: GPL-2.0-or-later
"""What the execlog tests share: upstream's texts (data/README.md says how they were made), runs of
QEMU with the plugin, the scripted host.

Runs, guests and the tests' frame are those of the etrace tests.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, '..', 'etrace'))
import etrace  # noqa: E402
from etrace import need, run  # noqa: E402

PLUGIN = os.environ.get('GUESTTRACE_PLUGINS', '') + '/libexeclog.so'
HOSTS = os.environ.get('GUESTTRACE_HOSTS', '')
DATA = os.path.join(HERE, 'data')
etrace.PREFIX = 'guesttrace-execlog: '
CPUS = ['aarch64', 'riscv64', 'x86_64']
STATUS = 2  # of the guest
FACT = {'aarch64': '400130', 'riscv64': '10150', 'x86_64': '40103b'}
REGISTER = {'aarch64': 'x0', 'riscv64': 'a0', 'x86_64': 'rax'}
PREFIX = {'aarch64': 'ldr', 'riscv64': 'ld', 'x86_64': 'mov'}
LINE = re.compile(r'(\d+), 0x([0-9a-f]+), 0x([0-9a-f]+), "([^"]*)"(.*)$')


def arguments(kind, cpu):
    """What upstream was given for data/CPU.KIND.txt."""
    reg = [f'reg={REGISTER[cpu]}']
    return {'plain': [], 'ifilter': [f'ifilter={PREFIX[cpu]}'], 'afilter': [f'afilter={FACT[cpu]}'],
            'reg': [*reg, 'reg=pc'], 'rdisas': [*reg, 'rdisas=on'],
            'ifilter-reg': [f'ifilter={PREFIX[cpu]}', *reg]}[kind]


def upstream(cpu, kind):
    with open(f'{DATA}/{cpu}.{kind}.txt', encoding='utf-8') as f:
        return f.read()


def same(got, want, *words):
    if got == want:
        return
    a, b = got.split('\n'), want.split('\n')
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    need(False, *words, f'line {at + 1} of {len(a)} is\n{a[at:at + 2]}, not, of {len(b)},\n'
         f'{b[at:at + 2]}')


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def zoo(cpu):
    return f'{DATA}/zoo.{cpu}'


def log(t, qemu, given, *command, status=None, options=()):
    """What the plugin writes to QEMU's log."""
    done = run([qemu, *options, '-plugin', ','.join([PLUGIN, *given]), '-d', 'plugin', '-D', t.log,
                *command])
    need(status is None or done.status == status, f'status {done.status}:', done.errors)
    need(not done.said, done.said)
    return read(t.log)


def dump(path, *options):
    """The text of a binary log."""
    done = run([os.environ['GUESTTRACE'], 'dump', *options, path])
    need(done.status == 0, 'dump:', done.errors)
    return done.out.decode()


main = etrace.main
