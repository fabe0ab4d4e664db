#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What triggers do beside choosing calls: mark=, backtrace, read=, finish; at the exit status."""
import os
import re
import signal
import sys

from gttest import paths, qemus
from gttest.commands import printed, tool
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.recordings import record
from gttest.results import Tally, in_folder, need, read_text


def lines(out):
    """(seconds.ns, text) of extern.dat."""
    path = f'{out}/extern.dat'
    return [tuple(line.split(' ', 1)) for line in read_text(path).splitlines()] if os.path.exists(path) else []


def recorded(folder, program, *options, **more):
    out = f'{folder}/data'
    record(out, ['-q', *options], [program], **more)
    return out


def calls_of(out, name):
    return re.findall(rf'(?m)^ *([\d.]+) .* enter +- {name}$', printed([GUESTTRACE, 'replay', '--no-pager', '--flat', out]))


def never_came(said):
    return re.findall(rb'-T \(trigger=\): (.*) matches no ([\w ]+) that came before the end', said)


def check_marks(folder, program):
    out = recorded(folder, program, '-T', 'tail_one@mark="a, b",count=2', '-T', 'fib@mark=long,if:took>100ns')
    marks = lines(out)
    need([t for t, text in marks if text == 'a, b'] == calls_of(out, 'tail_one')[:2], marks)
    need(sum(text == 'long' for _, text in marks) >= 1, marks)
    need(marks == sorted(marks, key=lambda m: [int(n) for n in m[0].split('.')]), 'not in order', marks)
    shown = printed([tool('uftrace'), 'replay', '--no-pager', '-d', out])
    need(shown.count('a, b') == 2, shown)


def check_backtrace(folder, program):
    out = recorded(folder, program, '-F', 'jump_back', '-T', 'jump_out@backtrace,count=2')
    need([text for _, text in lines(out)] == ['backtrace: jump_out < jump_back'] * 2, lines(out))


def check_finish(folder, program):
    """Nothing is recorded after it, whatever comes; what is open ends there."""
    out = recorded(folder, program, '-T', 'send_signal@finish', '-T', 'tail_one@trace-on,mark=later')
    need(len(calls_of(out, 'send_signal')) == 1, 'send_signal')
    need(len(calls_of(out, 'tail_one')) == 2, calls_of(out, 'tail_one'))
    ends = re.findall(r'(?m)^ *([\d.]+) .* open .* (?:main|_start|send_signal)$',
                      printed([GUESTTRACE, 'replay', '--no-pager', '--flat', out]))
    need(len(set(ends)) == 1, ends)


def check_exit(folder, program):
    """The status of ways is 0. What has not fired is reported."""
    out = f'{folder}/data'
    done = record(out, ['-T', 'exit==0@mark=good', '-T', 'exit!=0@mark=bad', '-T', 'signal:@mark=bad'], [program])
    need([text for _, text in lines(out)] == ['good'], lines(out))
    need(never_came(done.stderr) == [(b'exit!=0@mark=bad', b'exit status'), (b'signal:@mark=bad', b'signal')], done.stderr)


def build_dies(folder):
    """The program that a signal kills, which is its argument."""
    return compile_to(f'{folder}/dies', 'x86_64', paths.source('filter', 'dies.c'), '-O1', '-static')


def check_signal(folder, _):
    """The signal that ends a program, which record dies of as well; with a flight recorder a snapshot."""
    program = build_dies(folder)
    for number, others in (signal.SIGSEGV, signal.SIGABRT), (signal.SIGABRT, signal.SIGSEGV):
        out = f'{folder}/dies{number}'
        options = ['-T', 'signal:@mark=any', '-T', f'signal:{number}@mark=this,count=1', '-T', f'signal:{others}@mark=other',
                   '-T', 'exit!=0@mark=ended', '-T', 'signal@mark=a function']
        done = record(out, options, [program, number], status=-number)
        need([text for text, _ in never_came(done.stderr)] == [f'signal:{others}@mark=other'.encode(), b'exit!=0@mark=ended'], done.stderr)
        need([text for _, text in lines(out)] == ['any', 'this'], number, lines(out))
        need(len(calls_of(out, 'work')) == 100 and len(calls_of(out, 'last')) == 1, calls_of(out, 'last'))
        done = record(out + '.gtrace', ['--last', '1M', '-T', f'signal:{number}'], [program, number], status=-number)
        taken = done.stderr.count(b'snapshot: ')  # a second one where QEMU, before 8, ends without a word to its plugins
        need(taken in (1, 2) and len(calls_of(out + '.gtrace', 'last')) == 1, done.stderr)


def check_killed(folder, _):
    """What a pattern named that never ran is told whatever ends the program."""
    done = record(f'{folder}/killed', ['-F', 'wrok', '-F', 'last'], [build_dies(folder), signal.SIGSEGV], status=-signal.SIGSEGV)
    need(b'wrok matches no function that ran; near to it: work' in done.stderr, done.stderr)


def check_compact(folder, program):
    out = f'{folder}/marks.gtrace'
    record(out, ['-q', '--format', 'compact', '-T', 'tail_one@mark=here,count=3'], [program])
    need(printed([GUESTTRACE, 'replay', '--no-pager', out]).count('here') == 3, 'marks')


def check_unused(folder, program):
    out = f'{folder}/unused.data'
    done = record(out, ['-F', 'tail_ine', '-F', 'fib'], [program])
    need(b'tail_ine matches no function that ran; near to it: tail_one' in done.stderr, done.stderr)
    done = record(out, ['-F', 'no_such_thing'], [program], status=125)
    need(b'filters have left nothing of' in done.stderr, done.stderr)
    record(out, ['-t', '1000s'], [program], status=125)
    record(out, ['-F', 'no_such_thing'], ['/bin/false'], status=1)  # a status of the program's own stays


def check_refused(folder, program):
    """Before the program runs: status 2, and nothing is there."""
    out = f'{folder}/refused.data'
    for options, said in ((['-F', 'a('], b'-F a(: character 3'), (['-T', 'f@nothing=1'], b"no action 'nothing=1'"),
                          (['-t', '5 apples'], b'expected a time'), (['--kernel-only'], b'not known here')):
        done = record(out, options, [program], status=2)
        need(said in done.stderr and not os.path.exists(out), options, done.stderr)


def check(folder):
    qemus.user('x86_64')
    program = compile_to(f'{folder}/ways', 'x86_64', paths.source('filter', 'ways.c'), '-O1', '-static', '-DSTATIC')
    tally = Tally()
    for part in check_marks, check_backtrace, check_finish, check_exit, check_signal, check_killed, check_compact, check_unused, check_refused:
        tally.run(part.__name__, part, folder, program)
    return tally.status()


if __name__ == '__main__':
    sys.exit(in_folder('filter-actions', check))
