#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one program under valgrind's callgrind and, recorded, under QEMU, and compares all calls.

    callgrind_check.py CASE

Compared is how often each function called each other one, tail calls included, by address: of the
program, its libraries and the dynamic linker. Both runs have the same arguments and environment, the
file that valgrind preloads, and a processor without the features that the C library would choose
other functions for. What must differ is in EXPLAINED, by name.

Then: no anomaly rose, the records are well-formed, the directory is as
gttest.uftrace_check wants it, and a second recording has the same bytes, or where libraries lie elsewhere the same calls.

Exit status: 0 equal, 1 not (what differs is on stdout), 77 cannot run here.
"""
import collections
import os
import shutil
import sys

import callgrind
import functions
import recording
import without_vdso
from gttest import paths, qemus, results
from gttest.commands import run, tool
from gttest.compilers import compile_to
from gttest.recordings import check_directory
from gttest.results import Failure, Skip, need, status, write

PROGRAMS = paths.source('truth', 'programs')
# What the C library chooses functions by.
FEATURES = ('AVX2 AVX AVX512F AVX512VL AVX512BW XSAVE XSAVEC ERMS FSRM AVX_Fast_Unaligned_Load SSSE3 '
            'SSE4_1 SSE4_2 BMI1 BMI2 LZCNT MOVBE POPCNT FMA FMA4 RTM').split()
CPU = 'Haswell-noTSX,-pcid,-x2apic,-tsc-deadline,-invpcid'
ANOMALIES = ['unknown-return', 'diverted-call', 'missed-return', 'guessed-frame', 'unknown-sigreturn',
          'too-deep']
SECONDS = 120
HOST_MAPS = (8, 1)  # from here on libraries are mapped where the host wants

# What differs for a reason, by the name of the caller or the callee.
EXPLAINED_CALLERS = {
    'handle_intel': 'calls as often as CPUID leaf 2 of the two processors has descriptors',
}
EXPLAINED_CALLEES = {
    'register_tm_clones': 'valgrind reads no symbols without a size, so the jump there is no call',
}
EXPLAINED_PAIRS = {
    ('alloc_new_heap', 'munmap'): 'how much of a heap is cut off depends on where it was mapped',
}
# Code without symbols: these calls are explained where CPUID is among the code just before.
NEAR_CPUID = 0x800
# lua's hashes are seeded with the time and with addresses. What collisions make it call: these, and
# its own function that calls frexp, which has no name.
EXPLAINED_LUA = {'frexp', '__memcmp_sse2'}


class Case:
    def __init__(self, command, sources=(), flags=(), parts=(), stdin='', files=None, must_call=(),
                 twice=True, static=False, env=None, before=None):
        self.command, self.sources, self.flags, self.parts = command, sources, flags, parts
        self.stdin, self.files = stdin, files or {}
        self.must_call = must_call  # functions that must have been called; `a|b`: one of them
        self.twice = twice          # two recordings are alike
        self.static, self.env = static, env or {}
        self.before = before        # takes a QEMU before this version


def own(source, *must_call, flags=(), args=(), parts=(), twice=True):
    return Case(['./prog', *args], [source], list(flags), parts, must_call=must_call, twice=twice,
                static='-static' in flags)


NUMBERS = ''.join(f'{n * 7919 % 301} {n}\n' for n in range(120))
LUA = '''
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 40 do t[i] = (i * 7919) % 41 end
table.sort(t)
print(fib(8), table.concat(t, ","), pcall(error, "x"))
print(string.format("%5.2f|%s", 3.14159, ("abc"):rep(3)))
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
print(co(), co(), co(), (("hello world"):gsub("o", "0")))
print(select(2, pcall(function() error({}) end)) ~= nil)
'''
PERL = r'''
use strict;
my %h;
sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
for (1 .. 30) { $h{$_ % 7} .= "x$_" }
print fib(7), " ", join(",", map { "$_=$h{$_}" } sort { $a <=> $b } keys %h), "\n";
for my $i (1 .. 5) { eval { die {n => $i} if $i % 2; 1 } or print "died $@->{n}\n" }
my $s = "abc123def456";
$s =~ s/(\d+)/sprintf("%05d", $1 * 2)/ge;
print "$s\n";
'''
BASH = r'''
fib() {
    local n=$1
    if [ $n -lt 2 ]; then r=$n; else fib $((n-1)); local a=$r; fib $((n-2)); r=$((r+a)); fi
}
fib 5; echo $r
for i in a b c; do case $i in b) continue;; esac; echo ${i^^}; done
while read -r line; do [[ $line =~ ^(1.) ]] && echo ${BASH_REMATCH[1]}; done < numbers
exit 0
'''
CASES = {
    'run-on': own('run_on.c', 'strncasecmp|__strncasecmp_sse2'),
    'recursion': own('recursion.c', 'fib', 'ackermann', 'is_even', 'complain'),
    'pointers': own('pointers.c', 'by_value', 'by_name', 'add', 'last_step', 'at_exit'),
    'pointers-no-plt': own('pointers.c', 'by_value', flags=['-fno-plt', '-no-pie', '-O0']),
    'exceptions': own('exceptions.cc', '__cxa_throw', '__cxa_rethrow', '_Unwind_Resume'),
    'exceptions-static': own('exceptions.cc', '__cxa_rethrow', flags=['-static']),
    'jumps': own('jumps.c', 'levels', 'leaf', 'longjmp', 'siglongjmp'),
    'threads': own('threads.c', 'start_thread', 'destroy', 'pthread_exit', flags=['-pthread'],
                   twice=False),
    'threads-static': own('threads.c', 'start_thread', flags=['-pthread', '-static'], twice=False),
    'plugins': own('plugins.c', 'plugin_run', 'step', 'callback', 'begin', 'end',
                   args=['./plugin1.so', './plugin2.so', './plugin3.so'],
                   parts=[(f'plugin{k}.so', ['plugin.c', f'-DKIND={k}', '-shared', '-fPIC',
                                             '-nostartfiles']) for k in (1, 2, 3)]),
    'tailcalls': own('tailcalls.c', 'ping', 'pong', 'letter', 'digit', 'finish', 'say'),
    'tailcalls-static': own('tailcalls.c', 'ping', 'pong', 'letter', 'digit', 'finish',
                            flags=['-static']),
    'lua': Case(['lua5.4', 'script.lua'], files={'script.lua': LUA}, must_call=['lua_pcallk'],
                twice=False),
    'busybox-sort': Case(['busybox', 'sort', '-n', 'numbers'], files={'numbers': NUMBERS},
                         static=True),
    'busybox-awk': Case(['busybox', 'awk', '{ s += $1 * $2 } END { print s }', 'numbers'],
                        files={'numbers': NUMBERS}, static=True),
    'bash': Case(['bash', '--norc', 'script.sh'], files={'script.sh': BASH, 'numbers': NUMBERS},
                 must_call=['execute_command_internal', '_setjmp|__sigsetjmp']),
    'perl': Case(['perl', 'script.pl'], files={'script.pl': PERL},
                 env={'PERL_HASH_SEED': '0', 'PERL_PERTURB_KEYS': '0'},
                 before=HOST_MAPS,  # later ones: one reallocation more than under valgrind, each time
                 must_call=['Perl_runops_standard', 'Perl_die_unwind', 'Perl_regexec_flags']),
    'sed': Case(['sed', '-E', r's/(1|2)+([0-9])/<\2\1>/g; $!N; P; D', 'numbers'],
                files={'numbers': NUMBERS}, must_call=['regexec|re_search']),
    'gzip': Case(['gzip', '-9'], stdin=NUMBERS, must_call=['_dl_init', 'read', 'write']),
    'sort': Case(['sort', '--parallel=1', '-n', '-k2', 'numbers'], files={'numbers': NUMBERS},
                 must_call=['malloc', '__memchr_sse2|__memcmp_sse2']),
    'mawk': Case(['mawk', '{ s[$1 % 7] += $2 } END { for (i = 0; i < 7; i++) print s[i] }',
                  'numbers'], files={'numbers': NUMBERS}, must_call=['malloc', 'free']),
}


def build(case, folder):
    jobs = list(case.parts)
    if case.sources:
        jobs.append(('prog', [*case.sources, *case.flags]))
    for out, (source, *words) in jobs:
        words = [f'{PROGRAMS}/{w}' if w.endswith(('.c', '.cc')) else w for w in words]
        compile_to(f'{folder}/{out}', 'x86_64', f'{PROGRAMS}/{source}', '-O2', '-g', *words)
    for name, text in case.files.items():
        write(f'{folder}/{name}', text)
    program = case.command[0]
    return [program if program.startswith('./') else os.path.realpath(tool(program)),
            *case.command[1:]]


def found_environment(emulator, env, folder):
    """What a program below it finds in its environment, in order: getenv compares with one after the other."""
    done = run([*emulator, shutil.which('env'), '-0'], env=env, cwd=folder)
    need(done.returncode == 0, done.stderr.decode())
    return [tuple(e.split('=', 1)) for e in done.stdout.decode().split('\0') if e]


def environment(valgrind, qemu, case, bind_now, folder):
    """What a program under valgrind finds in its environment, and an order in which QEMU, some of whose versions turn it
    round, gives it the same one."""
    env = {'PATH': '/usr/bin:/bin', 'LC_ALL': 'C', **case.env}
    if not case.static:
        env['GLIBC_TUNABLES'] = 'glibc.cpu.hwcaps=' + ','.join('-' + f for f in FEATURES)
    if bind_now:
        env['LD_BIND_NOW'] = '1'
    wanted = found_environment([valgrind, '--tool=none', '-q'], env, folder)
    for pairs in wanted, wanted[::-1]:
        if found_environment([qemu], dict(pairs), folder) == wanted:
            return env, dict(pairs)
    raise Failure('QEMU gives a program another environment than valgrind, in any order:', wanted)


def profile(case, valgrind, command, env, folder):
    out, log = f'{folder}/callgrind.out', f'{folder}/callgrind.log'
    done = run([valgrind, '--tool=callgrind', '-v', '-v', '--vgdb=no', '--run-libc-freeres=no',
                '--run-cxx-freeres=no', '--separate-threads=no', '--compress-strings=no',
                '--compress-pos=no', '--dump-instr=yes', '--collect-jumps=yes', f'--log-file={log}',
                f'--callgrind-out-file={out}', *command], env=env, cwd=folder,
               input=case.stdin.encode())
    need(os.path.exists(out), 'callgrind wrote nothing:', done.stderr.decode())
    return done, callgrind.read(out, log)


def record(case, qemu, command, env, folder, name):
    directory = f'{folder}/{name}'
    done = without_vdso.run(qemu, ['-seed', '1', '-cpu', CPU, '-plugin',
                                   f'{paths.plugin("uftrace")},output={directory},clock=insn,summary=off', *command],
                            case.stdin.encode(), folder, env)
    need(os.path.exists(f'{directory}/guesttrace.stats'), 'nothing recorded:', done.stderr.decode())
    return done, recording.Recording(directory)


def named(place):
    if place is None:
        return 'nobody'
    obj, addr = place
    file = functions.load(obj)
    what = "?" if addr is None else file.name(addr) if file else f'{addr:#x}'
    return f'{os.path.basename(obj)}: {what}'


def names_of(place):
    """Without what the compiler appends to copies."""
    file = functions.load(place[0]) if place and place[1] is not None else None
    return {n.split('.')[0].split('@')[0] for n in file.names.get(place[1], ())} if file else set()


def is_unnamed(callee):
    file = functions.load(callee[0])
    return file and file.stripped and callee[1] not in file.names


def near_cpuid(edges):
    """The callees of code without symbols, all of whose calls are just after a CPUID."""
    near = collections.defaultdict(list)
    for e in edges:
        file = functions.load(e.from_object)
        if file and file.stripped:
            code = file.bytes_at(max(e.site - NEAR_CPUID, file.text_start()), NEAR_CPUID)
            near[e.object, e.target].append(b'\x0f\xa2' in code)
    return {callee for callee, sites in near.items() if all(sites) and is_unnamed(callee)}


def lua_collisions(edges):
    """lua's function around its calls of frexp."""
    lua = [e for e in edges if os.path.basename(e.from_object).startswith('lua')]
    entries = sorted({e.target for e in lua if e.object == e.from_object})
    return {(e.from_object, max(t for t in entries if t <= e.site)) for e in lua
            if 'frexp' in names_of((e.object, e.target))}


def explain(edges, roots):
    cpu, lua = near_cpuid(edges), lua_collisions(edges)

    def explained(caller, callee):
        if any(a in names_of(caller) and b in names_of(callee) for a, b in EXPLAINED_PAIRS):
            return True
        if names_of(caller) & set(EXPLAINED_CALLERS) or names_of(callee) & set(EXPLAINED_CALLEES):
            return True
        if caller is None and callee in roots:
            return True  # nobody calls a thread's first function
        if None not in (caller, *(caller or ())) and caller[0] == callee[0] and functions.runs_on(*caller, callee[1]):
            return True  # callgrind's profile has only calls and jumps
        return caller == functions.NO_SYMBOLS and (
            callee in cpu or callee in lua or bool(lua and names_of(callee) & EXPLAINED_LUA))
    return explained


def is_linker(place):
    return place and place[1] is not None and '_dl_start' in functions.load(place[0]).by_name


def normal(calls):
    """_dl_start_user is a label that _start of the dynamic linker runs on into; clone, which a new
    thread returns from, does not call the thread's first function; the dynamic linker jumps to a
    program's _start, which is no call that can be seen if the program is stripped."""
    result = collections.Counter()
    for (caller, callee), n in calls.items():
        if caller not in (None, functions.NO_SYMBOLS):
            caller = functions.caller(*caller)
        if '_dl_start_user' in names_of(caller):
            caller = caller[0], functions.load(caller[0]).by_name['_start']
        if 'start_thread' in names_of(callee):
            caller = None
        if '__libc_start_main' in names_of(callee) and is_linker(caller):
            caller = functions.NO_SYMBOLS
        result[caller, callee] += n
    return result


def compare(edges, calls):
    theirs, ours = normal(callgrind.calls(edges)), normal(calls)
    roots = {callee for caller, callee in ours if caller is None and callee not in
             {c for _, c in theirs}}
    need(len(roots) == 1, 'the first function is not one:', *map(named, roots))
    explained = explain(edges, roots)
    wrong = [f'{theirs[p]:8} {ours[p]:8}  {named(p[0])} -> {named(p[1])}'
             for p in sorted(set(theirs) | set(ours), key=str)
             if theirs[p] != ours[p] and not explained(*p)]
    need(not wrong, 'callgrind and we count differently:\n' + '\n'.join(wrong))
    return theirs, ours


def check_run(case, bind_now, folder):
    qemu = qemus.user_before('x86_64', case.before) if case.before else qemus.user('x86_64')
    valgrind = tool('valgrind.bin', 'valgrind')
    if case.static and 'avx2' not in open('/proc/cpuinfo', encoding='utf-8').read().split():
        raise Skip('valgrind shows programs no AVX2 here, and a static one chooses functions by it')
    command = build(case, folder)
    theirs_env, ours_env = environment(valgrind, qemu, case, bind_now, folder)
    theirs, edges = profile(case, valgrind, command, theirs_env, folder)
    ours, rec = record(case, qemu, command, ours_env, folder, 'first')
    need((theirs.returncode, theirs.stdout) == (ours.returncode, ours.stdout),
         'the two runs differ:', theirs, ours)
    need(ours.returncode in (0, 1) and ours.stdout, 'the program failed:', ours)
    for name in ANOMALIES:
        need(rec.stats['anomaly.' + name] == 0, f'{rec.stats["anomaly." + name]} {name}')
    need(rec.stats['lost_records'] == 0, 'records were lost')
    calls = rec.calls()
    need(sum(calls.values()) * 2 == rec.stats['records'], 'not as many records as said')
    pairs, _ = compare(edges, calls)
    called = {n for _, callee in pairs for n in names_of(callee)}
    for name in case.must_call:
        need(called & set(name.split('|')), f'nothing called {name}')
    check_directory(rec.path)
    if case.twice:
        _, again = record(case, qemu, command, ours_env, folder, 'second')
        alike = again.placed() == rec.placed() if qemus.number_of(qemu) >= HOST_MAPS else \
            sorted(again.streams().values()) == sorted(rec.streams().values())
        need(alike, 'a second recording differs from the first')
    return sum(pairs.values()), len(pairs)


def check(name):
    case = CASES[name]
    for bind_now in (False,) if case.static or not case.sources else (False, True):
        with results.folder('truth') as scratch:
            calls, pairs = check_run(case, bind_now, scratch)
        print(f'{name}{", LD_BIND_NOW" if bind_now else ""}: {calls} calls, {pairs} pairs of caller '
              'and callee: equal')


if __name__ == '__main__':
    sys.exit(status(check, sys.argv[1]))
