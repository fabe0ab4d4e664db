# SPDX-License-Identifier: GPL-2.0-or-later
"""What the fault tests share: guests are built, run without the plugin and with it, and compared.

A test file defines functions test_*(t), each given a struct of its own scratch folder; main() runs
those named on the command line, or all. Raised Failure fails one, Skip skips it.

With a plugin built with sanitizers QEMU preloads their libraries; what they say fails a test, since it
is said on standard error.

A guest must do the same with and without the plugin: exit status, standard output and, but for our own
lines, standard error. Our lines begin with "guesttrace-uftrace: ". The last of them, "N calls recorded",
is taken away before they are compared with what the test expects.
"""
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tools'))
sys.path.insert(0, os.path.join(HERE, '..', 'guest'))
import check_uftrace_dir as checker  # noqa: E402
import trace as tracing  # noqa: E402,F401

PLUGIN = os.environ.get('GUESTTRACE_PLUGINS', '') + '/libuftrace.so'
GUESTTRACE = os.environ.get('GUESTTRACE', '')
LONG = os.environ.get('GUESTTRACE_LONG', '') not in ('', '0')
PREFIX = b'guesttrace-uftrace: '
SUMMARY = re.compile(rb'\d+ calls recorded: uftrace replay -d ')
SECONDS = 100
LAST = 1 << 63  # a time after all records
# Of QEMU's memory, little is ours to free; its signals are the guest's.
ASAN_OPTIONS = 'detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0'
ARCHES = {'x86_64': ('gcc', '/'), 'aarch64': ('aarch64-linux-gnu-gcc', '/usr/aarch64-linux-gnu')}


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def need(good, *words):
    if not good:
        raise Failure(' '.join(str(w) for w in words))


def run(command, **more):
    more.setdefault('stdin', subprocess.DEVNULL)
    more.setdefault('stdout', subprocess.PIPE)
    more.setdefault('stderr', subprocess.PIPE)
    more.setdefault('timeout', SECONDS)
    return subprocess.run(command, check=False, **more)


def tool(name):
    path = shutil.which(name)
    if not path:
        raise Skip(f'no {name}')
    return path


@functools.lru_cache
def sanitizers():
    """What QEMU must preload for a plugin that is built with sanitizers; none where it is not."""
    said = run(['ldd', PLUGIN]).stdout.decode()
    return re.findall(r'=> (/\S*/lib(?:asan|ubsan)\S*)', said)


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


class Test:
    def __init__(self, name):
        self.folder = tempfile.mkdtemp(prefix=f'faults-{name}-')
        self.out = f'{self.folder}/data'
        self.mounts = []
        self.built = {}

    def close(self):
        for mount in reversed(self.mounts):
            run(['umount', '-l', mount])
        shutil.rmtree(self.folder, ignore_errors=True)

    def guest(self, name, arch='x86_64', flags=()):
        """The program of guests/NAME.c."""
        key = (name, arch, tuple(flags))
        if key not in self.built:
            path = f'{self.folder}/{name}-{arch}-{len(self.built)}'
            source = f'{HERE}/guests/{name}.c'
            done = run([tool(ARCHES[arch][0]), '-O1', '-g0', '-Wall', '-Werror', '-D_GNU_SOURCE',
                        '-Wno-infinite-recursion', '-fno-inline', '-fno-optimize-sibling-calls',
                        '-pthread', f'-I{HERE}/../guest', *flags, '-o', path, source])
            need(done.returncode == 0, done.stderr.decode(errors='replace'))
            self.built[key] = path
        return self.built[key]

    def library(self, name):
        """The shared object of NAME.c, to be preloaded into QEMU."""
        path = f'{self.folder}/{name}.so'
        if os.path.exists(path):
            return path
        done = run([tool('gcc'), '-O1', '-Wall', '-Werror', '-D_GNU_SOURCE', '-shared', '-fPIC', '-o',
                    path, f'{HERE}/{name}.c', '-ldl'])
        need(done.returncode == 0, done.stderr.decode(errors='replace'))
        return path

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

    @staticmethod
    def command(program, args=(), plugin=None, out=None, arch='x86_64', preload=None):
        """QEMU's. `preload` goes into the traced QEMU only, and not to the guest."""
        before, words = [], []
        if plugin is not None:
            value = ','.join([PLUGIN, *(['output=' + out] if out else []), *plugin])
            libraries = [*sanitizers(), *([preload] if preload else [])]
            if libraries:
                before = ['env', 'LD_PRELOAD=' + ':'.join(libraries), 'ASAN_OPTIONS=' + ASAN_OPTIONS]
                words = ['-U', 'LD_PRELOAD', '-U', 'ASAN_OPTIONS']
            words += ['-plugin', value]
        return [*before, tool('qemu-' + arch), '-L', ARCHES[arch][1], *words, program, *args]

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
    def check(out, open_ok=False, readers=True):
        try:
            checker.check_files(out, open_ok)
            if readers and shutil.which('uftrace'):
                checker.check_readers(out, open_ok)
        except (checker.Bad, OSError, ValueError, KeyError) as bad:
            raise Failure(f'{out}: {bad!r}') from bad
        left = [n for n in os.listdir(out) if n.endswith('.tmp')]
        need(not left, 'half-written files stayed behind:', left)

    def check_all(self, out=None, killed=False, readers=True):
        """The directory before and after a repair, which a second one does not change."""
        out = out or self.out
        self.check(out, open_ok=killed, readers=readers and not killed)
        self.repair(out)
        self.check(out, readers=readers)
        need('nothing to repair' in self.repair(out), 'the second repair repairs')
        need(not [n for n in os.listdir(out) if n.startswith('.')], os.listdir(out))

    @staticmethod
    def repair(out):
        done = run([GUESTTRACE, 'repair', out])
        need(done.returncode == 0, 'repair:', done.stderr)
        return done.stdout.decode(errors='replace')


def expect(traced, *patterns):
    """Exactly these lines were said."""
    need(len(traced.said) == len(patterns) and
         all(re.fullmatch(p, s) for p, s in zip(patterns, traced.said)),
         'said', traced.said, 'expected', patterns)


def calls_of(out, name):
    """How often a function of that name was entered, by all tasks."""
    trace, n = tracing.Trace(out), 0
    for tid in trace.tids():
        for (kind, _, addr), times in trace.counts(tid).items():
            if kind == 'enter' and trace.name(tid, LAST, addr)[1] == name:
                n += times
    return n


def why_not():
    qemu = shutil.which('qemu-x86_64')
    if not qemu:
        return 'no qemu-x86_64'
    with open(qemu, 'rb') as f:
        if b'/ld-linux' not in f.read(4096):
            return 'qemu-x86_64 is statically linked and loads no plugins'
    return None


def run_one(name, function):
    """'ok', 'skipped' or 'failed', which is said."""
    t = Test(name)
    try:
        function(t)
        return 'ok'
    except Skip as why:
        print(f'SKIP: {why}')
        return 'skipped'
    except Failure as bad:
        print(f'{name}: {bad}')
    except Exception:  # pylint: disable=broad-exception-caught
        print(f'{name}: {traceback.format_exc()}')
    finally:
        if os.environ.get('KEEP'):
            print(t.folder)
        else:
            t.close()
    return 'failed'


def main(scope):
    tests = {n[5:]: f for n, f in scope.items() if n.startswith('test_')}
    reason = why_not()
    if reason:
        print(f'SKIP: {reason}')
        return 77
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    results = [run_one(n, tests[n]) for n in sys.argv[1:] or tests]
    return 1 if 'failed' in results else 0 if 'ok' in results else 77
