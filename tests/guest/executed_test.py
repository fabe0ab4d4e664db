#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that a recorded program executes are recorded, too; those that run outside QEMU are named.

How often each calls leaf() and what it prints is the programs' own word; what they print is the same as without guesttrace.
"""
import os
import platform
import re
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


def test_other_tools(place, _form):
    """What does not follow names what a process went on as, and takes back what failed; children are counted."""
    write(f'{place.where}/events', 'at=main began(void) ""\n')
    for tool in (['etrace'], ['execlog', '--last', '10'], ['events', '--guest-events', 'events']):
        if tool[0] == 'events' and not qemus.version(place.qemu).startswith(('9', '1')):
            continue  # it is refused
        for words, name in ((['/bin/sh', '-c', 'exec ./prog work 2'], './prog'), (['./prog', 'memfd', './prog', '1'], 'a descriptor'),
                            (['./prog', 'fails', './prog'], None), (['/bin/sh', '-c', './prog work 2; true'], None)):
            done = run([paths.GUESTTRACE, 'record', '--qemu', place.qemu, '-o', 'stream', '--tool', *tool, '--', *words],
                       cwd=place.where)
            want, errors = place.plain(*words), done.stderr.decode()
            need((done.returncode, done.stdout) == (want.returncode, want.stdout), f'{tool} {words}: {done}')
            went_on = re.findall(r'the program went on as (.*) outside QEMU: that is not recorded', errors)
            for failed in re.findall(r': (.*) was not executed: the recording goes on', errors):
                went_on.remove(failed)
            went_on = ['a descriptor' if n.startswith('/proc/self/fd/') else n for n in went_on]  # where QEMU has no execveat()
            child = tool[0] == 'events' and './prog' in words[-1] and not name and 'fails' not in words
            same(str(went_on), str([name] if name else ['./prog'] if child else []), f'{tool} {words}: {errors}')


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
        for test in [*TESTS, test_flight, test_other_tools, test_refused]:
            for form in FORMATS if test in TESTS else FORMATS[:1]:
                with folder('executed') as where:
                    tally.run(f'{version} {form}: {test.__name__[5:]}', test, Place(qemu, where), form)
    return tally.status()


if __name__ == '__main__':
    try:
        sys.exit(main())
    except Skip as reason:
        print(f'SKIP: {reason}')
        sys.exit(77)
