#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of a guest's processes by name, in Debian's Linux recorded with --sysroot.

Programs that say themselves how often they called what, and where they are (sysroot_guest.c): alpha and
beta are linked for the same address, where the shell that forks them is, too; gamma and its libraries,
of a cross toolchain's root, are where ASLR puts them, twice. Then, on aarch64, Lua as Debian has it: stripped.

usage: sysroot_test.py ARCH SERIES
"""
import collections
import glob
import os
import re
import shutil
import sys

from gttest import boots, compilers, elf, paths, qemus, uftrace, uftrace_check
from gttest.commands import run
from gttest.recordings import check_directory, symbols
from gttest.results import Skip, in_folder, need, read_bytes, skip

Arch = collections.namedtuple('Arch', 'source libraries found shell syscall')
# shell: a function of busybox that the shell calls; syscall: one of the kernel for system calls;
# found: the libraries that say enough of their functions to be found, as riscv64's loader does not
ARCHS = {
    'aarch64': Arch('/usr/aarch64-linux-gnu/lib',
                    ['lib/ld-linux-aarch64.so.1', 'lib/libc.so.6'], 2, 'busybox+0x580', 'do_el0_svc'),
    'riscv64': Arch('/usr/riscv64-linux-gnu/lib',
                    ['lib/libc.so.6', 'lib/ld-linux-riscv64-lp64d.so.1'], 1, None, 'do_trap_ecall_u'),
    'x86_64': Arch('/lib/x86_64-linux-gnu',
                   ['lib64/ld-linux-x86-64.so.2', 'lib/libc.so.6'], 2, None, 'do_syscall_64'),
}
SCRIPT = b'''local t = {}
for i = 1, 3000 do t[i] = tostring((i * 7919) % 3001) end
table.sort(t)
print(table.concat(t, ","):len(), ("x"):rep(10):gsub("x", "y"))
'''
COMMANDS = '''cat /proc/sys/kernel/randomize_va_space
/alpha
/beta
/gamma
/gamma later
ls -l /sys/kernel >/dev/null
cat /proc/meminfo | sort | wc -l'''
LUA = '/lua/lib/ld-linux-aarch64.so.1 --library-path /lua/lib /lua/bin/lua5.4 /script.lua'
PROGRAMS = {'alpha': ['-static', '-no-pie', '-DSHAPE=1'], 'beta': ['-static', '-no-pie', '-DSHAPE=2', '-O2'],
            'gamma': ['-fPIE', '-pie', '-DSHAPE=3']}
RUNS = {'alpha': 1, 'beta': 1, 'gamma': 2}
ONCE = ['lua_newstate', 'luaL_openlibs', 'luaopen_string', 'luaopen_table', 'lua_close']
CALLED = {'lua5.4': [*ONCE, 'lua_pushvalue', 'luaL_checklstring'], 'libc.so.6': ['malloc'],
          'ld-linux-aarch64.so.1': []}
NAMED = 0.99  # of the calls in user mode; the vDSO and the kernel's trampolines have no file
TRAMPOLINES = 0xfbfffdbf0000, 0xfbfffdc00000
BUSYBOX = 0x400000  # it is linked there, as alpha and beta are; _start of theirs is in the same place
UNKNOWN = 'it is not known which tasks are one process: each is taken for one'
READERS = glob.glob(os.path.join(paths.CACHE, 'uftraces', '*', 'uftrace'))


def make_root(arch, kernels, root):
    """What the guest's processes run, and the same for its initrd."""
    row = ARCHS[arch]
    if not os.path.exists(f'{row.source}/libc.so.6'):
        raise Skip(f'no libc for {arch}')
    folders = ['bin', *sorted({os.path.dirname(path) for path in row.libraries})]
    for folder in folders:
        os.mkdir(os.path.join(root, folder))
    shutil.copy(os.path.join(kernels, 'busybox'), os.path.join(root, 'bin'))
    for path in row.libraries:
        shutil.copy(os.path.join(row.source, os.path.basename(path)), os.path.join(root, path))
    for name, options in PROGRAMS.items():
        compilers.compile_to(os.path.join(root, name), arch, paths.source('boot', 'sysroot_guest.c'), '-O1', '-Wall',
                             '-Werror', f'-DNAME={name}', *options)
    files = {}
    if arch == 'aarch64':
        shutil.copytree(os.path.join(kernels, 'lua'), os.path.join(root, 'lua'))
        folders += ['lua', 'lua/bin', 'lua/lib']
        files['script.lua'] = SCRIPT
    for folder, _, names in os.walk(root):
        for name in sorted(set(names) - {'busybox'}):
            path = os.path.join(folder, name)
            files[os.path.relpath(path, root)] = read_bytes(path)
    return sorted(set(folders) - {'bin'}), files


class Calls:
    """The calls of each task outside of the kernel: {tid: {(module, function): calls}}"""

    def __init__(self, trace):
        self.trace = trace
        self.of = {}
        self.known = {}  # (session, address): name
        for tid in trace.tids():
            found = collections.Counter()
            sessions = [(time, sid) for time, pid, sid, _ in trace.sessions
                        if pid == trace.pid_of[tid]]
            for time, kind, _, addr, _ in uftrace.read_records(trace.data(tid)):
                if kind != uftrace.ENTRY:
                    continue
                while len(sessions) > 1 and sessions[1][0] <= time:
                    sessions.pop(0)
                found[self.name(tid, time, sessions[0][1], addr)] += 1
            self.of[tid] = {key: n for key, n in found.items() if not key[0].startswith('vmlinuz')}

    def name(self, tid, time, sid, addr):
        if (sid, addr) not in self.known:
            module, name = self.trace.name(tid, time, addr)
            self.known[sid, addr] = re.split('[@+]', os.path.basename(module or ''))[0], name
        return self.known[sid, addr]

    def tasks(self, module, name):
        return [tid for tid, calls in self.of.items() if (module, name) in calls]


def check_counts(arch, calls, console):
    """Each program's functions were called as often as it says, and in no other task."""
    for program, runs in RUNS.items():
        said = re.findall(rf'^COUNT {program} (\w+) (\d+)\r?$', console, re.M)
        need(len(said) == 12 * runs, program, 'said', said)
        tasks = calls.tasks(program, f'{program}_0')
        need(len(tasks) == runs, program, 'is in tasks', tasks)
        for tid in tasks:
            for name, n in said:
                found = calls.of[tid].get((program, name), 0)
                need(found == int(n), f'{name}: {found} calls in task {tid}, the guest counted {n}')
            shell = {name for module, name in calls.of[tid] if module == 'busybox'}
            need((ARCHS[arch].shell or min(shell, default='')) in shell, 'the shell of task', tid,
                 'has no names')
            others = {m for m, _ in calls.of[tid]} & set(PROGRAMS) - {program}
            need(not others, others, 'in task', tid)


def bases(console, program):
    """Of each run: {file: address of its first byte}, as /proc/self/maps has it."""
    runs = []
    for said in console.split(f'COUNT {program} {program}_0 ')[1:]:
        runs.append({})
        for start, path in re.findall(
                rf'^MAPS {program} (\w+)-\w+ \S+ 0+ \S+ \d+ +(/\S+)\r?$', said, re.M):
            runs[-1].setdefault(path, int(start, 16))
    return runs


def addresses(path):
    """{function: link address}"""
    return {s.name: s.addr for s in elf.functions(path)}


def check_places(arch, trace, calls, console, root, shared):
    """Where the recording has gamma and its libraries, the guest has them: in its own process, or for
    what is shared where the first one has it."""
    runs = bases(console, 'gamma')
    need(len(runs) == 2 and runs[0]['/gamma'] != runs[1]['/gamma'], 'no ASLR?', runs)
    for run, tid in enumerate(sorted(calls.tasks('gamma', 'gamma_0'))):
        sid = [sid for _, pid, sid, _ in trace.sessions if pid == trace.pid_of[tid]][-1]
        for file in ['gamma', *ARCHS[arch].libraries[:ARCHS[arch].found]]:
            path = os.path.join(root, file)
            lines = [(lo, module) for lo, _, module in trace.maps[sid]
                     if re.match(re.escape(path) + '($|@)', module)]
            need(lines, f'no {file} in task {tid}')
            good = {r[f'/{file}'] for r in (runs if shared else runs[run:run + 1])}
            known = addresses(path)
            for lo, module in lines:
                symbols = trace.symbols[module]
                found = {lo + addr - known[name] for addr, name in zip(symbols.addrs, symbols.names)
                         if name in known}
                need(len(found & good) == 1, module, 'is at', found, 'and in the guest at', good)


def check_lua(calls):
    tasks = calls.tasks('lua5.4', 'lua_newstate')
    need(len(tasks) == 1, 'Lua is in tasks', tasks)
    mine = calls.of[tasks[0]]
    for module, names in CALLED.items():
        need(module in {m for m, _ in mine}, 'nothing of', module)
        missing = [name for name in names if (module, name) not in mine]
        need(not missing, 'no calls of', missing, 'in', module)
    more = {name: mine['lua5.4', name] for name in ONCE if mine['lua5.4', name] != 1}
    need(not more, 'calls of', more)
    user = {key: n for key, n in mine.items()
            if not key[1].startswith('0x') or not TRAMPOLINES[0] <= int(key[1], 16) < TRAMPOLINES[1]}
    total = sum(user.values())
    named = sum(n for (_, name), n in user.items() if not name.startswith('0x'))
    need(total > 10000 and named >= NAMED * total, named, 'of', total, 'calls have names')
    return tasks[0]


def check_sessions(arch, trace, series):
    """The guest's names, where it can be asked for them."""
    names = [os.path.basename(name) for _, _, _, name in trace.sessions]
    want = {'busybox', 'alpha', 'beta', 'gamma'}
    if series != '7.2':
        want |= {'init', 'ls', 'sort', 'wc'} | ({'ld-linux-aarch6'} if arch == 'aarch64' else set())
    need(want <= set(names), 'sessions:', names)
    for name, runs in RUNS.items():
        need(names.count(name) == runs, names.count(name), 'sessions of', name)
    pids = [pid for _, pid, _, name in trace.sessions if os.path.basename(name) in ('alpha', 'beta')]
    twice = [sum(pid == other for _, other, _, _ in trace.sessions) for pid in pids]
    need(twice == [2, 2], 'sessions of those that execute alpha and beta:', twice)


def report(reader, out, tid):
    done = run([reader, 'report', '--no-pager', '-d', out, '--tid', str(tid)])
    need(done.returncode == 0 and not done.stderr, reader, 'says', done.stderr)
    lines = [line.split() for line in done.stdout.decode().splitlines()[2:] if line]
    return {line[-1]: int(line[-2]) for line in lines}


def check_readers(arch, out, calls, root, task):
    taken = {name: {*addresses(os.path.join(root, name)).values()} for name in PROGRAMS}
    for reader in [uftrace_check.reader(), *READERS]:
        if not reader:
            skip('no uftrace to try')
            continue
        shown = report(reader, out, task)
        need(arch != 'aarch64' or shown.get('lua_newstate') == 1, reader, 'shows', shown.get('lua_newstate'))
        need(ARCHS[arch].syscall in shown, reader, 'shows no function of the kernel')
        for program in PROGRAMS:
            tid = calls.tasks(program, f'{program}_0')[0]
            want = {name: n for (module, name), n in calls.of[tid].items()
                    if module == program and name.startswith(program)}
            shown = report(reader, out, tid)
            need(want.items() <= shown.items(), reader, 'shows', shown, 'not', want)
            shell = {name: n for (module, name), n in calls.of[tid].items() if module == 'busybox'}
            shell = {name: n for name, n in shell.items() if BUSYBOX + int(name[8:], 16) not in taken[program]}
            need(len(shell) > 5 and shell.items() <= shown.items(), reader, 'shows', shown, 'not', shell)


def check_again(out, root, series):
    """The same once more, and what it says."""
    before = {path: read_bytes(path) for end in ('txt', 'map', 'sym') for path in glob.glob(f'{out}/*.{end}')}
    done = symbols(out, '--sysroot', root)
    need(not done.stderr, 'symbols says', done.stderr)
    for path, data in before.items():
        need(read_bytes(path) == data, path, 'is another')
    said = done.stdout.decode()
    need((UNKNOWN in said) == (series == '7.2'), 'symbols says', said)
    need(re.search('/alpha: ran in 1 process\n', said), 'symbols says', said)


def check(arch, series, folder):
    root, out = f'{folder}/root', f'{folder}/data'
    os.mkdir(root)
    kernels = boots.kernel(arch)
    if arch == 'aarch64' and not os.path.isdir(os.path.join(kernels, 'lua')):
        raise Skip('no Lua beside the kernel')
    more = make_root(arch, kernels, root)
    commands = COMMANDS + ('\n' + LUA if arch == 'aarch64' else '')
    line = boots.command(arch, qemus.of_series(arch, series), folder, commands, more=more)
    console = boots.record(out, line, ['--sysroot', root])
    need((arch != 'aarch64' or 'yyyyyyyyyy' in console) and re.search(r'^2\r?$', console, re.M),
         'the guest says', console[-2000:])
    check_directory(out, readers=False)
    trace = uftrace.Trace(out)
    calls = Calls(trace)
    check_counts(arch, calls, console)
    boots.check_returns(arch, trace.stats)  # though programs have different code at the same addresses
    check_places(arch, trace, calls, console, root, series != '7.2')
    task = check_lua(calls) if arch == 'aarch64' else calls.tasks('gamma', 'gamma_0')[0]
    check_sessions(arch, trace, series)
    check_readers(arch, out, calls, root, task)
    check_again(out, root, series)
    print('good:', len(trace.sessions), 'sessions')


def main():
    return in_folder('boot-sysroot', lambda folder: check(sys.argv[1], sys.argv[2], folder))


if __name__ == '__main__':
    sys.exit(main())
