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
    alone: yes         the compact file is recorded alone: QEMU itself may crash with two plugins, or a stack
                       goes from thread to thread, whose order two plugins may see differently
    check: FILE        a Python file beside the case; default: that of its name, if there is one

The expected calls are in a comment that begins with `/* calls:`: one tree a task, in any order,
separated by lines `--`; `xN` after a tree's last line and alone in its line says N such tasks.

A Python file's check(trace, own, done) is called last, `done` being the finished process; what is
wrong raises Failure. Without expected calls none are compared.

What is compared: calls of functions that the case itself defines (the function symbols of its object
files), each indented by how many of them are open; the C library and the dynamic linker are left out.
Then that the program printed and exited as without the plugin, that no anomaly rose, and
that the directory is as gttest.uftrace_check wants it. At last it is recorded in both formats at once.
"""
import collections
import difflib
import os
import re
import shutil
import sys

from gttest import compilers, elf, paths, qemus, recordings, sanitizers, uftrace
from gttest.commands import must, printed, run
from gttest.results import Failure, Tally, folder, need

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT_FLAGS = ['-O1', '-g0', '-Wall', '-Werror', '-D_GNU_SOURCE', *compilers.AS_WRITTEN, '-I' + HERE]


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


def compile_to(case, arch, out, flags, libs, scratch):
    """Object first: its function symbols are what the case calls its own."""
    made = f'{scratch}/{os.path.basename(out)}.o'
    compiler = compilers.compiler(arch, case.path)[0]  # a case of i386 has its own -m32
    static = [f for f in flags if not f.startswith('-Wl,') and f not in ('-shared', '-static')]
    must([compiler, *DEFAULT_FLAGS, *static, '-c', '-o', made, case.path], cwd=scratch)
    must([compiler, *flags, '-o', f'{scratch}/{out}', made, *libs], cwd=scratch)
    return {s.name for s in elf.functions(made)}


def build(case, arch, folder):
    own = set()
    for out, *flags in case.before:
        own |= compile_to(case, arch, out, flags, [], folder)
    return own | compile_to(case, arch, 'prog', case.words('flags'), case.words('libs'), folder)


def command_of(case, arch, folder, option):
    """`option`: QEMU's words that load the plugin."""
    qemu = qemus.user(arch)
    before, first = sanitizers.preloading(paths.plugin('uftrace')) if option else ([], [])

    def words(key):
        for word in case.words(key):
            if word == '{plugin}':
                yield from option
            elif word == '{qemu}' and before:
                yield from [shutil.which('env'), *before[1:], qemu, *first]
            else:
                yield word.format(qemu=qemu, sysroot=compilers.sysroot(arch), dir=folder)
    return [*before, qemu, *first, '-L', compilers.sysroot(arch), *words('qemu'), *option, './prog', *words('args')]


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
    recordings.check_severe(trace.stats, case.words('allow'))
    for word in case.words('stats'):
        key, value = word.split('=')
        need(trace.stats.get(key) == int(value), f'{key} is {trace.stats.get(key)}, expected {value}')


def check_tasks(case, out):
    if not case.keys['tasks'] or not shutil.which('uftrace'):
        return
    said = printed(['uftrace', 'report', '--task', '--no-pager', '-d', out])
    names = sorted(line.split()[-1] for line in said.splitlines()[2:])
    need(names == sorted(case.words('tasks')), f'tasks are called {names}')


def run_both(case, arch, folder, option):
    """Runs it without the plugin and with it; returns the latter, finished."""
    plain = run(command_of(case, arch, folder, []), cwd=folder)
    traced = run(command_of(case, arch, folder, option), cwd=folder)
    sanitizers.check(traced.stderr)
    need(outcome(plain) == outcome(traced), f'without the plugin: {outcome(plain)} {plain.stderr!r}\n'
         f'with it: {outcome(traced)} {traced.stderr!r}')
    need(plain.returncode == int(case.keys['exit'] or 0),
         f'exit status {plain.returncode}: {plain.stdout!r} {plain.stderr!r}')
    return traced


def record(case, arch, folder, out, arguments):
    """run_both(), and the trace."""
    plugin = ','.join([paths.plugin('uftrace'), 'output=' + out, *arguments])
    traced = run_both(case, arch, folder, ['-plugin', plugin])
    if case.keys['killed']:
        recordings.repair(out)
    trace = uftrace.Trace(out)
    check_counters(case, trace)
    return traced, trace


def check_alone(case, arch, folder):
    """A compact file has the calls that the case says."""
    file, out = f'{folder}/alone.gtrace', f'{folder}/alone'
    plugin = ','.join([paths.plugin('uftrace'), 'format=compact', 'output=' + file, *case.words('plugin')])
    run_both(case, arch, folder, ['-plugin', plugin])
    recordings.export(file, out)
    check_counters(case, uftrace.Trace(out))
    recordings.check_directory(out, False)
    check_tasks(case, out)


def check_formats(case, arch, folder):
    """In a compact file is what is in a directory."""
    if case.keys['alone']:
        check_alone(case, arch, folder)
        return
    both = recordings.BothFormats(folder, *case.words('plugin'))
    run_both(case, arch, folder, both.words())
    if case.keys['killed']:
        both.repair()
    both.check()


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
    recordings.check_directory(out, arch == 'x86_64')
    check_tasks(case, out)
    check_hook(case, trace, own, traced)
    if case.keys['again']:
        record(case, arch, folder, f'{folder}/again', case.words('again'))
        recordings.check_directory(f'{folder}/again', False)
    check_formats(case, arch, folder)


def check_here(case, arch):
    """check_arch() where its QEMU and compiler are."""
    qemus.user(arch)
    compilers.compiler(arch, '.cc')
    with folder(f'guest-{case.name}-{arch}') as scratch:
        check_arch(case, arch, scratch)


def main():
    case, tally = Case(os.path.abspath(sys.argv[1])), Tally()
    for arch in sys.argv[2:] or case.words('arches', 'x86_64 aarch64 riscv64'):
        tally.run(f'{case.name}, {arch}', check_here, case, arch)
    return tally.status()


if __name__ == '__main__':
    sys.exit(main())
