#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that a recorded program executes are recorded, too; those that run outside QEMU are named.

How often each calls leaf() and what it prints is the programs' own word; what they print is the same as without guesttrace.
"""
import os
import platform
import re
import socket
import sys

from gttest import paths, qemus
from gttest.commands import must, printed, run, start, finish
from gttest.compilers import compile_to
from gttest.results import Skip, Tally, folder, need, read_text, same, skip, write

ARCH = platform.machine()
FORMATS = ['compact', 'uftrace']


class Place:
    """A folder with the programs, and a QEMU."""

    def __init__(self, qemu, where):
        self.qemu, self.where = qemu, where
        compile_to(f'{where}/prog', ARCH, paths.source('guest', 'executed.c'), '-O1', '-g')
        write(f'{where}/script', '#!/bin/sh\nexec ./prog "$@"\n')
        os.chmod(f'{where}/script', 0o755)
        must(['cp', f'{where}/prog', f'{where}/rights'])
        os.chmod(f'{where}/rights', 0o4755)

    def record(self, form, *words, more=(), env=None):
        return run([paths.GUESTTRACE, 'record', '--qemu', self.qemu, '--format', form, '-o', 'out', *more, *words],
                   cwd=self.where, env=env)

    def plain(self, *words, env=None):
        return run(words, cwd=self.where, env=env)

    def calls(self, name='leaf'):
        text = printed([paths.GUESTTRACE, 'replay', '--no-pager', '-f', 'none', 'out'], cwd=self.where)
        return len(re.findall(rf'^ *{name}\(\)[ ;]', text, re.M))

    def check(self, form, calls, *words, outside=(), last=None, more=(), env=None):
        """As the host runs it, but recorded: so many calls of leaf(), and no others left out than those."""
        want, got = self.plain(*words, env=env), self.record(form, *words, more=more, env=env)
        errors = got.stderr.decode()
        need(got.returncode == want.returncode and sorted(got.stdout.splitlines()) == sorted(want.stdout.splitlines()),
             f'{words}: {got}, not {want}')
        same(str(self.calls()), str(calls), f'{words}: calls of leaf(): {errors}')
        named = re.search(r'guesttrace-uftrace: (\d+) programs? .* outside QEMU and (?:is|are) not recorded: (.*)', errors)
        same(named[2] if named else '', ', '.join(outside), f'{words}: programs outside')
        went_on = re.search(r'went on as (.*) outside QEMU', errors)
        same(went_on[1] if went_on else '', last or '', f'{words}: what the first process executed outside')
        counted = re.search(r'count: (\d+) outside', errors)
        same(counted[1] if counted else '0', str((int(named[1]) if named else 0) + bool(last)), f'{words}: programs outside, counted')
        need('anomaly' not in errors and 'did not finish' not in errors, errors)
        left = [f for f in os.listdir(self.where) if f.startswith('out.') and not f.startswith('out.old')]
        need(not left, f'{words}: left behind: {left}')
        return errors


def test_shell(place, form):
    """Children, and the shell's own process; each call is counted once."""
    errors = place.check(form, 3 + 4 + 5, '/bin/sh', '-c', './prog work 3; ./prog work 4; exec ./prog work 5')
    need(' in 3 tasks' in errors, errors)
    info = printed([paths.GUESTTRACE, 'info', 'out'], cwd=place.where)
    need('command       : ./prog work 5' in info, info)  # what the first process executed last


def test_script(place, form):
    """A script's interpreter is what runs; its arguments are the kernel's."""
    place.check(form, 2, '/bin/sh', '-c', 'exec ./script work 2')


def test_descriptor(place, form):
    """A program without a name has its functions' names."""
    place.check(form, 6, './prog', 'memfd', './prog', '6')
    place.check(form, 7, './prog', 'removed', './prog', '7')


def test_failing(place, form):
    """An execve that fails changes nothing; counts of what went before are not doubled."""
    errors = place.check(form, 1, './prog', 'fails', './prog')
    calls = int(re.search(r'([\d,]+) calls', errors)[1].replace(',', ''))
    text = printed([paths.GUESTTRACE, 'replay', '--flat', '--no-pager', 'out'], cwd=place.where)
    need(calls == len(re.findall(r' enter | \d+ *enter|enter', text)) or 'enter' not in text, f'{calls} calls')


def test_output(place, form):
    """What is executed with other standard descriptors has nothing of ours in them, whatever happens to it."""
    errors = place.check(form, 2, '/bin/sh', '-c', './prog work 2 2>said; cat said')
    same(read_text(f'{place.where}/said'), '', 'standard error')
    need('matched' in errors, errors)


def test_environment(place, form):
    """The guest's variables are its own, those of the loader as well."""
    env = dict(os.environ, LD_NOTHING='a', LD_BIND_NOW='1')
    place.check(form, 1, '/bin/sh', '-c', 'exec ./prog work 1', env=env)


def test_outside(place, form):
    """What gains rights, what cannot reach the recording, and what the user leaves outside."""
    place.check(form, 0, '/bin/sh', '-c', './rights work 2; exec ./rights work 3', outside=['./rights'], last='./rights')
    place.check(form, 0, './prog', 'limits', './prog', '4', last='./prog')
    place.check(form, 0, '/bin/sh', '-c', './prog work 2', outside=['./prog'], more=['--no-follow-exec'])


def test_killed(place, form):
    """A program that is killed after it was executed: the recording is completed, and a line says so."""
    done = place.record(form, '/bin/sh', '-c', './prog work 2; exec ./prog killed')
    need(done.returncode == -9 or done.returncode == 137, done)
    need(b'was killed (Killed); the recording was completed' in done.stderr, done.stderr.decode())
    need(place.calls() == 3, place.calls())


def test_flight(place, _form):
    """A flight recorder has the calls of all."""
    place.record('compact', '/bin/sh', '-c', './prog work 3; exec ./prog work 4', more=['--last', '4M'])
    need(place.calls() == 7, place.calls())


def test_refused(place, _form):
    """What cannot run: record says why."""
    must(['cp', f'{place.where}/prog', f'{place.where}/plain'])
    os.chmod(f'{place.where}/plain', 0o644)
    must([*'gcc -shared -fPIC -x c -o lib.so /dev/null'.split()], cwd=place.where)
    for word, why in ('./plain', 'Permission denied: it is not executable (chmod +x ./plain)'), \
                     ('./lib.so', 'is not executable' if os.geteuid() == -1 else 'is a shared library, not a program'):
        done = place.record('compact', word)
        need(done.returncode == 126 and why in done.stderr.decode(), done)


class Tool:
    """A tool that has a file for each program; each counts the calls of leaf() in one in its own way."""

    def __init__(self, name, *options, newest=False):
        self.words, self.newest = ['--tool', name, *options], newest

    def count(self, place, path, name='leaf'):
        if self.newest:
            return printed([paths.GUESTTRACE, 'events', 'simpletrace', 'out.events', path], cwd=place.where).count('began ')
        if 'execlog' in self.words:  # --sym
            return len(re.findall(r'^\d+, 0x', read_text(f'{place.where}/{path}'), re.M)) // place.insns
        done = run([paths.GUESTTRACE, 'etrace', 'coverage', '-e', 'prog', '--format', 'lcov', path], cwd=place.where)
        need(done.returncode == 0 or b'the guest did not run it' in done.stderr, done)
        found = re.search(rf'^FNDA:(\d+),{name}$', done.stdout.decode(), re.M)
        return int(found[1]) if found else 0


TOOLS = [Tool('etrace', '--flags', 'coverage'), Tool('execlog', '--sym', 'leaf'),
         Tool('events', '--guest-events', 'events', newest=True)]


def insns_of_leaf(place):
    text = printed(['objdump', '-d', '--no-show-raw-insn', '--disassemble=leaf', 'prog'], cwd=place.where)
    return len(re.findall(r'^ +[0-9a-f]+:\t', text, re.M))


def programs(place):
    """The files of the programs that were executed, in the order of their names."""
    return sorted(f for f in os.listdir(place.where) if re.fullmatch(r'out\.\d+\.\d+', f))


def lines(done):
    """What was printed; the order of the variables is not kept."""
    return sorted(done.stdout.splitlines())


def check_tool(place, tool, counts, *words, said=(), more=()):
    """The guest's own word, and so many calls of leaf() in the files of the programs, in any order; the first has none."""
    for name in programs(place):
        os.unlink(f'{place.where}/{name}')
    want = place.plain(*words)
    done = run([paths.GUESTTRACE, 'record', '--qemu', place.qemu, '-o', 'out', *tool.words, *more, '--', *words], cwd=place.where)
    errors = done.stderr.decode()
    need((done.returncode, lines(done)) == (want.returncode, lines(want)), f'{tool.words} {words}: {done}, not {want}')
    files = programs(place)
    got = sorted(tool.count(place, name) for name in files)
    same(str(got), str(sorted(counts)), f'{tool.words} {words}: calls of leaf() in {files}: {errors}')
    named = re.search(r'(\d+) programs? that the guest executed (?:is|are) recorded beside it: (.*)', errors)
    same(named[2] if named else '', ', '.join(files), errors)
    outside = [line.split(': ', 1)[1] for line in errors.splitlines() if 'outside' in line or 'was not executed' in line]
    same(str(outside), str(list(said)), f'{tool.words} {words}')
    return errors


WENT_ON = 'the program went on as %s outside QEMU: that is not recorded'


def check_followed(place, tool):
    check_tool(place, tool, [3, 4, 5], '/bin/sh', '-c', './prog work 3; ./prog work 4; exec ./prog work 5')
    check_tool(place, tool, [0, 2], '/bin/sh', '-c', 'exec ./script work 2')  # the script's process has two programs
    check_tool(place, tool, [6], './prog', 'memfd', './prog', '6')
    if 'etrace' in tool.words:  # the counts of the first one are those until it executed another
        same(str(tool.count(place, 'out', 'main')), '1', 'calls of main() in the first program')
    check_tool(place, tool, [], './prog', 'fails', './prog')


def check_outside(place, tool):
    """What cannot be followed is named, once: by who it is, or together at the end."""
    ran = '1 program that the guest executed ran outside QEMU and is not recorded: %s'
    children = tool.newest  # these are recorded, and each says it
    first = [(WENT_ON if children else ran) % './rights', WENT_ON % './rights']
    check_tool(place, tool, [], '/bin/sh', '-c', './rights work 2; exec ./rights work 3', said=first)
    check_tool(place, tool, [], './prog', 'limits', './prog', '4', said=[WENT_ON % './prog'])
    check_tool(place, tool, [], '/bin/sh', '-c', 'exec ./prog work 2', said=[WENT_ON % './prog'], more=['--no-follow-exec'])


def check_refused(place, tool):
    """Where its recording cannot be made, a program that is executed runs all the same, and a line says so."""
    os.makedirs(f'{place.where}/sub', exist_ok=True)
    words = ['/bin/sh', '-c', 'mv sub gone; ./prog work 2; exec ./prog work 3']
    done = run([paths.GUESTTRACE, 'record', '--qemu', place.qemu, '-o', 'sub/out', *tool.words, '--', *words], cwd=place.where)
    errors = done.stderr.decode()
    need([line for line in done.stdout.splitlines() if b'prog' in line] == [b'./prog 2', b'./prog 3'], done)
    same(str(errors.count('; a program that the guest executed is not recorded')), '2', errors)
    must(['rm', '-r', 'gone'], cwd=place.where)


def test_other_tools(place, _form):
    """The other tools follow into a file for each program."""
    write(f'{place.where}/events', 'at=leaf began(void) ""\n')
    place.insns = insns_of_leaf(place)
    for tool in TOOLS:
        if tool.newest and not qemus.version(place.qemu).startswith(('9', '1')):
            continue  # it is refused
        check_followed(place, tool)
        check_outside(place, tool)
        if not tool.newest:  # its file is made with the first event
            check_refused(place, tool)


def test_socket(place, _form):
    """A socket has the stream of the first program; the others are named."""
    words = ['/bin/sh', '-c', './prog work 2; exec ./prog work 3']
    plain = lines(place.plain(*words))
    for tool in 'etrace', 'execlog':
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f'{place.where}/{tool}')
            server.listen()
            child = start([paths.GUESTTRACE, 'record', '--qemu', place.qemu, '-o', f'unix:{tool}', '--tool', tool, '--', *words],
                          cwd=place.where)
            taken = [server.accept()[0]]
            with taken[0] as stream:
                while data := stream.recv(1 << 20):
                    taken.append(len(data))
            done = finish(child)
        errors = done.stderr.decode()
        need(lines(done) == plain and done.returncode == 0 and sum(taken[1:]) > 1000, done, taken)
        need('1 program that the guest executed ran outside QEMU and is not recorded: ./prog' in errors, errors)
        need('the program went on as ./prog outside QEMU: that is not recorded' in errors, errors)


def test_records_itself(place, _form):
    """A QEMU with a plugin of ours that the guest executes is no program outside."""
    for name in 'uftrace', 'etrace', 'execlog':
        inner = f'{place.qemu} -plugin {paths.plugin(name)},output={place.where}/inner ./prog work 3'
        plain = lines(place.plain('./prog', 'work', '3'))
        for words in ['/bin/sh', '-c', f'exec {inner}'], ['/bin/sh', '-c', f'{inner}; true']:
            done = run([paths.GUESTTRACE, 'record', '--qemu', place.qemu, '-o', 'outer', '--tool', name, '--', *words], cwd=place.where)
            need(lines(done) == plain and b'outside' not in done.stderr, done)
            need(os.path.getsize(f'{place.where}/inner') > 0, done)
            must(['rm', '-rf', 'inner', 'outer'], cwd=place.where)


TESTS = [test_shell, test_script, test_descriptor, test_failing, test_output, test_environment, test_outside, test_killed]


def main():
    tally = Tally()
    versions = {}
    for find in qemus.user_with_registers, qemus.user:
        try:
            qemu = find(ARCH)
            versions.setdefault(qemus.version(qemu), qemu)
        except Skip as why:
            skip(str(why))
    if not versions:
        raise Skip(f'no user-mode QEMU for {ARCH}')
    for version, qemu in versions.items():
        for turn, test in enumerate([*TESTS, test_flight, test_other_tools, test_socket, test_records_itself, test_refused]):
            for form in qemus.by_turns(FORMATS, turn) if test in TESTS else FORMATS[:1]:
                with folder('executed') as where:
                    tally.run(f'{version} {form}: {test.__name__[5:]}', test, Place(qemu, where), form)
    return tally.status()


if __name__ == '__main__':
    try:
        sys.exit(main())
    except Skip as reason:
        print(f'SKIP: {reason}')
        sys.exit(77)
