# SPDX-License-Identifier: GPL-2.0-or-later
"""What the fault tests share: guests are built, run without the plugin and with it, and compared.

With a plugin built with sanitizers QEMU preloads their libraries; what they say fails a test, since it
is said on standard error.

A guest must do the same with and without the plugin: exit status, standard output and, except for our own
lines, standard error. Our lines begin with "guesttrace-uftrace: ". The last of them, "N calls recorded",
is taken away before they are compared with what the test expects.

FORMAT=compact in the environment: recordings are compact files. What is read of one is its export, a directory.
"""
import atexit
import functools
import os
import re
import shutil
import signal
import sys
import tempfile

from gttest import compilers, functions, paths, qemus, recordings, uftrace
from gttest.commands import run, tool
from gttest.results import SKIPPED, Skip, need, read_bytes, skip
from gttest.sanitizers import libraries, preloading

PLUGIN = paths.plugin('uftrace')
PREFIX = b'guesttrace-uftrace: '
SUMMARY = re.compile(rb'(?:\d+ of )?\d+ calls(?: recorded:|; the last ones:) (uftrace replay -d|guesttrace report) ')
COMPACT = os.environ.get('FORMAT') == 'compact'
VIEW = r'guesttrace (?:report|repair) .*' if COMPACT else r'uftrace replay -d .*'
GUESTS = paths.source('faults', 'guests')


def needs_exit():
    """For a test in which the plugin refuses, so that QEMU exits."""
    if sanitizers():
        raise Skip('with the address sanitizer preloaded, QEMU does not get through its own exit()')


def sanitizers():
    """What QEMU must preload for a plugin that is built with sanitizers."""
    return libraries(PLUGIN)


class Run:
    """A guest that has ended: its status, its output, its own errors, and what we said."""

    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout
        self.all_errors = done.stderr or b''
        lines = self.all_errors.splitlines(keepends=True)
        self.errors = b''.join(l for l in lines if not l.startswith(PREFIX))
        said = [l[len(PREFIX):].rstrip(b'\n') for l in lines if l.startswith(PREFIX)]
        self.summary = [l for l in said if SUMMARY.match(l)]
        self.said = [l.decode(errors='replace') for l in said if not SUMMARY.match(l)]


class FaultsTest(functions.Scratch):
    def __init__(self, name):
        super().__init__(name)
        self.out = f'{self.folder}/data'
        self.plugin = PLUGIN
        self.mounts = []
        self.built = {}

    def close(self):
        for mount in reversed(self.mounts):
            run(['umount', '-l', mount])
        super().close()

    def guest(self, name, arch='x86_64', flags=()):
        """The program of guests/NAME.c."""
        key = (name, arch, tuple(flags))
        if key not in self.built:
            path = f'{self.folder}/{name}-{arch}-{len(self.built)}'
            compilers.compile_to(path, arch, f'{GUESTS}/{name}.c', '-O1', '-g0', '-Wall', '-Werror', '-D_GNU_SOURCE',
                                 *compilers.AS_WRITTEN, '-pthread', f'-I{paths.source("guest")}', *flags)
            self.built[key] = path
        return self.built[key]

    def library(self, name):
        """The shared object of NAME.c, to be preloaded into QEMU."""
        path = f'{self.folder}/{name}.so'
        if os.path.exists(path):
            return path
        return compilers.compile_to(path, 'x86_64', paths.source('faults', f'{name}.c'), '-O1', '-Wall', '-Werror',
                                    '-D_GNU_SOURCE', '-shared', '-fPIC', '-ldl')

    def small_disk(self, name='disk', options='size=1m'):
        path = f'{self.folder}/{name}'
        os.mkdir(path)
        if os.geteuid() != 0:
            raise Skip('no root, so no small tmpfs to fill')
        done = run(['mount', '-t', 'tmpfs', '-o', options, 'faults', path])
        if done.returncode != 0:
            raise Skip('tmpfs cannot be mounted')
        self.mounts.append(path)
        return path

    def command(self, program, args=(), plugin=None, out=None, arch='x86_64', preload=None):
        """QEMU's. `preload` goes into the traced QEMU only, and not to the guest."""
        before, words = [], []
        if plugin is not None:
            form = ['format=compact'] if COMPACT else []
            value = ','.join([self.plugin, *form, *(['output=' + out] if out else []), *plugin])
            before, words = preloading(PLUGIN, *([preload] if preload else []))
            words = [*words, '-plugin', value]
        return [*before, tool('qemu-' + arch), '-L', compilers.sysroot(arch), *words, program, *args]

    def plain(self, program, args=(), arch='x86_64', **more):
        return Run(run(self.command(program, args, None, None, arch), **more))

    def traced(self, program, args=(), plugin=(), out=None, arch='x86_64', preload=None, **more):
        words = self.command(program, args, plugin, out or self.out, arch, preload)
        return Run(run(words, **more))

    def both(self, program, args=(), status=0, plugin=(), out=None, arch='x86_64', preload=None,
             **more):
        """Runs the guest both ways and compares; returns the traced run."""
        plain = self.plain(program, args, arch, **more)
        if plain.status == -signal.SIGABRT and b'libgcc_s.so.1 must be installed' in plain.errors:
            raise Skip('this QEMU looks for libgcc_s where the guest has taken it')
        traced = self.traced(program, args, plugin, out, arch, preload, **more)
        need(plain.status == status, 'without the plugin: exit status', plain.status, plain.errors)
        need(traced.status == status, 'with it: exit status', traced.status, traced.all_errors)
        need(plain.out == traced.out, 'output', plain.out, 'became', traced.out)
        need(plain.errors == traced.errors, 'errors', plain.errors, 'became', traced.errors)
        return traced

    @staticmethod
    def check(out, open_ok=False, readers=True, running=False):
        recordings.check_directory(opened(out), readers, open_ok, running)
        folder = os.path.dirname(out) if COMPACT else out
        left = [n for n in os.listdir(folder) if n.endswith('.tmp')]
        need(open_ok or not left, 'half-written files stayed behind:', left)

    def check_all(self, out=None, killed=False, readers=True):
        """The directory before and after a repair, which a second one does not change."""
        out = out or self.out
        if not killed or not COMPACT:
            self.check(out, open_ok=killed, readers=readers and not killed)
        self.repair(out)
        self.check(out, readers=readers)
        before = read_bytes(out) if COMPACT else b''
        need('nothing to repair' in self.repair(out), 'the second repair repairs')
        if COMPACT:
            need(before == read_bytes(out), 'the second repair changes the file')
        else:
            need(not [n for n in os.listdir(out) if n.startswith('.')], os.listdir(out))

    @staticmethod
    def repair(out):
        return recordings.repair(out)


def expect(traced, *patterns):
    """Exactly these lines were said."""
    need(len(traced.said) == len(patterns) and
         all(re.fullmatch(p, s) for p, s in zip(patterns, traced.said)),
         'said', traced.said, 'expected', patterns)


@functools.lru_cache
def exports():
    """A folder for exports: a recording's own may be full."""
    folder = tempfile.TemporaryDirectory(prefix='guesttrace-exports-')
    atexit.register(folder.cleanup)
    return folder.name


def opened(out):
    """The recording as a directory: a file's export, until the next call."""
    if not os.path.isfile(out):
        return out
    shutil.rmtree(f'{exports()}/data', ignore_errors=True)
    recordings.export(out, f'{exports()}/data')
    return f'{exports()}/data'


def trace_of(out):
    return uftrace.Trace(opened(out))


def calls_of(out, name):
    """How often a function of that name was entered, by all tasks."""
    return trace_of(out).calls_of(name)


def main(scope):
    try:
        qemus.user('x86_64')
    except Skip as why:
        skip(why)
        sys.exit(SKIPPED)
    sys.exit(functions.main(scope, FaultsTest))
