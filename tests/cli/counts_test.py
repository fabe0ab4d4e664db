#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The number of calls is one: what record says at its end, info, the sum of report, and the entries that are in the records, of
programs with threads and forked children, whatever is left out."""
import json
import os
import re
import sys

from gttest import compact, functions, paths, qemus, uftrace
from gttest.commands import printed
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.recordings import record
from gttest.results import equal, need

SAID = re.compile(r'record: ([\d,]+)(?: of ([\d,]+))? calls? in (\d+) tasks?,')
RETURNS = re.compile(r'all ([\d,]+) returns matched their calls')
OTHERS = re.compile(r'the other ([\d,]+) calls ended without a return')


def number(text):
    return int(text.replace(',', ''))


def entries(out):
    """Read from the recording's own bytes."""
    if os.path.isdir(out):
        return sum(kind == uftrace.ENTRY for tid in uftrace.tids_of(out)
                   for _, kind, *_ in uftrace.read_records(uftrace.Trace(out).data(tid)))
    with open(out, 'rb') as f:
        return sum(word & 3 == uftrace.ENTRY for records in compact.read(f.read()).records.values() for _, word in records)


def check(out, program, options, some):
    said = record(out, options, [program]).stderr.decode()
    calls, tracked, _ = SAID.search(said).groups()
    calls, tracked = number(calls), number(tracked or calls)
    what = options, said
    equal(tracked > calls, some, *what)
    equal(entries(out), calls, 'entries', *what)
    equal(json.loads(printed([GUESTTRACE, 'info', '--json', out]))['calls'], calls, 'info', *what)
    rows = json.loads(printed([GUESTTRACE, 'report', '--json', out]))['rows']
    equal(sum(row['calls'] for row in rows), calls, 'report', *what)
    returns, others = RETURNS.search(said), OTHERS.search(said)
    need(returns, 'anomalies', said)
    equal(number(returns[1]) + (number(others[1]) if others else 0), tracked, 'returns and others', *what)
    return calls, tracked


def check_program(t, source, *more):
    program = compile_to(f'{t.folder}/{source}', 'x86_64', paths.source('guest', 'cases', f'{source}.c'), '-O1', '-pthread',
                         '-D_GNU_SOURCE', f'-I{paths.source("guest")}')
    for form in 'uftrace', 'compact':
        for i, (options, some) in enumerate([([], False), (['--depth', '5'], True), (['-F', 'main'], True),
                                             (['-t', '1us', '--clock', 'insn'], True), *more]):
            check(f'{t.folder}/{source}-{form}-{i}', program, ['--format', form, *options], some)


def test_forks_and_threads(t):
    """Children of several threads, deep in a recursion."""
    qemus.user('x86_64')
    check_program(t, 'fork', (['-N', 'deep'], True))


def test_programs_that_are_executed(t):
    check_program(t, 'spawn')


def test_threads(t):
    check_program(t, 'threads')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
