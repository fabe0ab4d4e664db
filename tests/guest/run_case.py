#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records one guest program on each architecture and compares its calls with those it says.

    run_case.py CASE.c [ARCH...]

A case is one source file. Comment lines of the form ` * key: value` at its beginning
say (a key that comes again goes on):

    flags: F...        compiler flags, added to the default ones
    libs: L...         after the sources
    before: OUT F...   the same file compiled before to another file, with these flags (may repeat)
    arches: A...       default: x86_64 aarch64 riscv64
    qemu: O...         options for QEMU
    plugin: A...       arguments for the plugin
    again: A...        recorded once more with these arguments for the plugin; looked at are only its
                       counters and the directory's form
    args: A...         the program's; {plugin} becomes QEMU's -plugin option, or nothing in the run
                       without it, {qemu} QEMU's path, {sysroot} -L's argument
    exit: N            what the program's exit status must be; a negative signal number; default 0
    killed: yes        it dies without QEMU's knowing: the directory is repaired before it is read
    allow: C...        anomalies that may not be 0
    stats: C=N...      counters that must have this value
    tasks: N...        the names of the tasks, as `uftrace report --task` shows them, sorted
    check: FILE        a Python file beside the case; default: that of its name, if there is one

The expected calls are in a comment that begins with `/* calls:`: one tree a task, in any order,
separated by lines `--`; `xN` after a tree's last line and alone in its line says N such tasks.

A Python file's check(trace, own, done) is called last, `done` being the finished process; what is
wrong raises Failure. Without expected calls none are compared.

What is compared: calls of functions that the case itself defines (the function symbols of its object
files), each indented by how many of them are open; the C library and the dynamic linker are left out.
Then that the program printed and exited as without the plugin, that no anomaly rose, and
that the directory is as tests/tools/check_uftrace_dir.py wants it.
"""
import collections
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tools'))
sys.path.insert(0, HERE)
import check_uftrace_dir as checker  # noqa: E402
import trace as tracing  # noqa: E402

ARCHES = {
    'x86_64': ('', '/'),
    'aarch64': ('aarch64-linux-gnu-', '/usr/aarch64-linux-gnu'),
    'riscv64': ('riscv64-linux-gnu-', '/usr/riscv64-linux-gnu'),
    'i386': ('', '/'),
}
DEFAULT_FLAGS = ['-O1', '-g0', '-Wall', '-Werror', '-Wno-infinite-recursion', '-D_GNU_SOURCE', '-fno-inline', '-fno-optimize-sibling-calls', '-I' + HERE]
SEVERE = ['unknown-return', 'diverted-call', 'unknown-sigreturn', 'too-deep', 'missed-return',
          'guessed-frame']
SECONDS = 100


class Failure(Exception):
    pass


class Case:
    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding='utf-8') as f:
            text = f.read()
        self.keys, self.before = collections.defaultdict(str), []
        for key, value in re.findall(r'^ \* ([a-z]+): (.*)$', text.split('*/', 2)[1], re.M):
            if key == 'before':
                self.before.append(value.split())
            else:
                self.keys[key] = (self.keys[key] + ' ' + value).strip()
        calls = re.search(r'^/\* calls:\n(.*?)^ ?\*/', text, re.M | re.S)
        self.trees = parse_trees(calls[1]) if calls else None

    def words(self, key, default=''):
        return (self.keys[key] or default).split()


def parse_trees(text):
    trees = collections.Counter()
    for part in re.split(r'^--\n', text, flags=re.M):
        lines = part.rstrip('\n').split('\n')
        times = re.fullmatch(r'x(\d+)', lines[-1])
        count = int(times[1]) if times else 1
        trees['\n'.join(lines[:-1] if times else lines)] += count
    return trees


def run(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, check=False, timeout=SECONDS,
                          capture_output=True, **more)


def compile_to(case, arch, out, flags, libs, folder):
    """Object first: its function symbols are what the case calls its own."""
    tool = ARCHES[arch][0]
    compiler = tool + ('g++' if case.path.endswith('.cc') else 'gcc')
    made = f'{folder}/{os.path.basename(out)}.o'
    static = [f for f in flags if not f.startswith('-Wl,') and f not in ('-shared', '-static')]
    for command in ([compiler, *DEFAULT_FLAGS, *static, '-c', '-o', made, case.path],
                    [compiler, *flags, '-o', f'{folder}/{out}', made, *libs]):
        done = run(command, cwd=folder)
        if done.returncode:
            raise Failure(done.stderr.decode(errors='replace'))
    names = run([tool + 'nm', '--defined-only', made]).stdout.decode()
    return {l.split()[2] for l in names.splitlines() if l.split()[1] in 'tTwW'}


def build(case, arch, folder):
    own = set()
    for out, *flags in case.before:
        own |= compile_to(case, arch, out, flags, [], folder)
    return own | compile_to(case, arch, 'prog', case.words('flags'), case.words('libs'), folder)


def command_of(case, arch, folder, plugin):
    def words(key):
        for word in case.words(key):
            if word == '{plugin}':
                yield from ['-plugin', plugin] if plugin else []
            else:
                yield word.format(qemu=qemu, sysroot=ARCHES[arch][1], dir=folder)
    qemu = shutil.which('qemu-' + arch)
    option = ['-plugin', plugin] if plugin else []
    return [qemu, '-L', ARCHES[arch][1], *words('qemu'), *option, './prog', *words('args')]


def outcome(done):
    return done.returncode, done.stdout


def compare(case, trace, own):
    if case.trees is None:
        return
    got = collections.Counter()
    for tid in trace.tids():
        lines = trace.tree(tid, lambda path, name: name in own)
        if lines:
            got['\n'.join(lines)] += 1
    if got != case.trees:
        texts = []
        for name, trees in (('expected', case.trees or {}), ('recorded', got)):
            tasks = sorted(t + (f'\nx{n}' if n > 1 else '') for t, n in trees.items())
            texts.append('\n--\n'.join(tasks).split('\n'))
        print('\n'.join(difflib.unified_diff(*texts, 'expected', 'recorded', lineterm='', n=99)))
        raise Failure('the calls differ')


def check_counters(case, trace):
    for name in SEVERE:
        value = trace.stats.get('anomaly.' + name, 0)
        if value and name not in case.words('allow'):
            raise Failure(f'{name} is {value}')
    for word in case.words('stats'):
        key, value = word.split('=')
        if trace.stats.get(key) != int(value):
            raise Failure(f'{key} is {trace.stats.get(key)}, expected {value}')


def check_tasks(case, out):
    if not case.keys['tasks'] or not shutil.which('uftrace'):
        return
    said = run(['uftrace', 'report', '--task', '--no-pager', '-d', out]).stdout.decode()
    names = sorted(line.split()[-1] for line in said.splitlines()[2:])
    if names != sorted(case.words('tasks')):
        raise Failure(f'tasks are called {names}')


def record(case, arch, folder, out, arguments):
    """Runs it without the plugin and with it; returns the latter, finished, and the trace."""
    plugin = ','.join([os.environ['GUESTTRACE_PLUGINS'] + '/libuftrace.so', 'output=' + out,
                       *arguments])
    plain = run(command_of(case, arch, folder, None), cwd=folder)
    traced = run(command_of(case, arch, folder, plugin), cwd=folder)
    if outcome(plain) != outcome(traced):
        raise Failure(f'without the plugin: {outcome(plain)} {plain.stderr!r}\n'
                      f'with it: {outcome(traced)} {traced.stderr!r}')
    if plain.returncode != int(case.keys['exit'] or 0):
        raise Failure(f'exit status {plain.returncode}: {plain.stdout!r} {plain.stderr!r}')
    if case.keys['killed']:
        done = run([os.environ['GUESTTRACE'], 'repair', out])
        if done.returncode:
            raise Failure(f'repair: {done.stderr!r}')
    trace = tracing.Trace(out)
    check_counters(case, trace)
    return traced, trace


def check_directory(out, with_readers):
    try:
        checker.check_files(out, False)
        if with_readers and shutil.which('uftrace'):
            checker.check_readers(out, False)
    except checker.Bad as bad:
        raise Failure(str(bad)) from bad


def check_hook(case, trace, own, traced):
    hook = os.path.join(os.path.dirname(case.path), case.keys['check'] or case.name + '.py')
    if case.keys['check'] or os.path.exists(hook):
        scope = {'Failure': Failure}
        with open(hook, encoding='utf-8') as f:
            exec(compile(f.read(), hook, 'exec'), scope)  # pylint: disable=exec-used
        scope['check'](trace, own, traced)


def check_arch(case, arch, folder):
    own = build(case, arch, folder)
    out = f'{folder}/data'
    traced, trace = record(case, arch, folder, out, case.words('plugin'))
    compare(case, trace, own)
    check_directory(out, arch == 'x86_64')
    check_tasks(case, out)
    check_hook(case, trace, own, traced)
    if case.keys['again']:
        record(case, arch, folder, f'{folder}/again', case.words('again'))
        check_directory(f'{folder}/again', False)


def why_not(arch):
    if not shutil.which('qemu-' + arch):
        return f'no qemu-{arch}'
    with open(shutil.which('qemu-' + arch), 'rb') as f:
        if b'/ld-linux' not in f.read(4096):
            return f'qemu-{arch} is statically linked and loads no plugins'
    if not shutil.which(ARCHES[arch][0] + 'g++'):
        return f'no compiler for {arch}'
    return None


def main():
    case = Case(os.path.abspath(sys.argv[1]))
    arches = sys.argv[2:] or case.words('arches', 'x86_64 aarch64 riscv64')
    failed = ran = 0
    for arch in arches:
        reason = why_not(arch)
        if reason:
            print(f'SKIP: {reason}')
            continue
        ran += 1
        folder = tempfile.mkdtemp(prefix=f'guest-{case.name}-{arch}-')
        try:
            check_arch(case, arch, folder)
        except (Failure, OSError, subprocess.TimeoutExpired) as bad:
            failed += 1
            print(f'{case.name}, {arch}: {bad}')
        finally:
            if os.environ.get('KEEP'):
                print(folder)
            else:
                shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0 if ran else 77


if __name__ == '__main__':
    sys.exit(main())
