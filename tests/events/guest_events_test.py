#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace events at places in programs: as the guest prints them itself; forks; switched while it runs; errors.

usage: guest_events_test.py [ARCH...]

Needs a user-mode QEMU 9.0 or later that loads plugins (scripts/qemus user); older ones refuse the events.
"""
import glob
import json
import os
import re
import subprocess
import sys

from gttest import commands, paths, qemus, sockets
from gttest.commands import printed, run
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.results import Tally, folder, need, read_text, same_lines, write

EVENTS = '''# places in a program
ten(int a, const char *s, unsigned char c, long d, uint64_t e, short f, int8_t g, void *h, unsigned int i, long j) \
"a=%d s=%s c=%u d=%ld e=%"PRIu64" f=%d g=%d h=%p i=%u j=%ld"
at=ten@return ten_done(int ret) "ret=%d"

few(bool a, uint16_t b, size_t c, ssize_t d, int32_t e, uint32_t f, int16_t g, uint8_t h, bool i, int8_t j) \
"a=%d b=%u c=%zu d=%zd e=%d f=%u g=%d h=%u i=%d j=%d"
at=few@return few_done(bool ret) "ret=%d"
wide(uint64_t x) "x=0x%"PRIx64
at=wide@return wide_done(uint64_t ret) "ret=0x%"PRIx64""
text(const char *s) "s=%s"
vcpu at=work of_vcpu(void) "works"
disable at=work never(void)
'''
QMP = '{"execute": "trace-event-set-state", "arguments": {"name": "of_vcpu", "enable": true}}'
NAMES = ('ten', 'ten_done', 'few', 'few_done', 'wide', 'wide_done', 'text')
WRONG = [  # a line of a file, and what the error says after FILE:2:
    ('two', "1: unknown property 'two'"),
    ('two(int)', '5: expected an argument'),
    ('two(float x)', '5: type \'float\' is not known'),
    ('two(struct file *f, struct page p)', '21: type \'struct page\' is not known'),
    ('2two(void)', '1: event name \'2two\' begins with a digit'),
    ('fast two(void)', '1: unknown property \'fast\''),
    ('at= two(void)', '4: expected a place'),
    ('at=console "login two(void)', '12: the text has no closing quote'),
    ('two(int a) "%s"', "12: no argument is left that has the type of '%s'"),
    ('two(int a) "a"', None),
    ('two(void *a, char *b, size_t c) "%p %zu"', None),
    ('two(int a) "%d %d"', "12: no argument is left that has the type of '%d'"),
    ('two(size_t a) "%zu %#5zx"', "15: no argument is left that has the type of '%#5zx'"),
    ('two(char *a) "%zu"', "14: no argument is left that has the type of '%zu'"),
    ('two(int a) "%f"', '12: expected one of'),
    ('two(int a) "%*d"', '12: expected one of'),
    ('two(int a) "%n"', '12: expected one of'),
    ('two(int a) "%"', '12: the format ends within a conversion'),
    ('two(int a) "%d', '12: the format has no closing quote'),
    ('two(int a) "%"PRIy64', '15: expected a format in quotes, or a macro'),
    ('two(int a) "%d\\n"', '15: a format has no newline'),
    ('two(int a) format', '12: expected a format in quotes'),
    ('one(int a)', "1: event 'one' is declared before, in line 1"),
    ('tcg two(TCGv a) "a", "b"', "5: 'tcg' is for events of QEMU's translator"),
]
PLACES = [  # refused by the plugin
    ('at=one+5 two(void)', 'expected an offset as +0x1c'),
    ('at=one@entry two(void)', 'expected @return, not @entry'),
    ('at=one@return two(int a, int b)', 'a return has one value'),
    ('at=0x12z two(void)', 'expected an address'),
    ('at=o.* two(void)', 'expected the name of one function'),
    ('at=console "x" two(void)', 'a program has no console'),
]


def build(where, arch):
    return compile_to(f'{where}/guest', arch, paths.source('events', 'guest_events.c'), '-O1', '-g', '-static')


def record(where, arch, *more, status=0, events=EVENTS, **how):
    """The finished command; the trace is in where/trace."""
    done = run([GUESTTRACE, 'record', '-q', '--qemu', qemus.user_with_registers(arch), '--guest-events',
                write(f'{where}/events', events), '-o', f'{where}/trace', *more], **how)
    need(done.returncode == status, done.args, 'ends with', done.returncode, done.stderr.decode())
    return done


def records(where, trace='trace'):
    text = printed([GUESTTRACE, 'events', 'simpletrace', '--json', f'{where}/trace.events', f'{where}/{trace}'])
    return [json.loads(line) for line in text.splitlines()]


def line_of(record_):
    """As the log has it: the guest prints what is no number in the same way."""
    items = []
    for name, value in record_['args'].items():
        if name == 's':
            value = re.sub('[\x00-\x1f\x7f]', lambda c: f'\\x{ord(c[0]):02x}', value)
        elif name == 'h' and value == '0x0':
            value = '(nil)'
        elif record_['event'].startswith('wide'):
            value = hex(value)
        items.append(f'{name}={int(value) if isinstance(value, bool) else value}')
    return f'{record_["event"]} {" ".join(items)}'


def test_values(arch, where):
    program = build(where, arch)
    done = record(where, arch, '--backends', 'simple+log', '--log', f'{where}/log', program)
    said = [line for line in done.stdout.decode().splitlines() if line.split(' ')[0] in NAMES]
    log = read_text(f'{where}/log').splitlines()
    same_lines([line for line in log if not line.startswith('of_vcpu')], said, 'the log and what the guest prints')
    nulls = [line.replace('(null)', '') for line in said]
    found = records(where)
    same_lines([line_of(r) for r in found], nulls, 'the records and what the guest prints')
    need({r['pid'] for r in found} == {r['tid'] for r in found}, 'the guest has one thread')
    test_child(where, log)


def test_backends(arch, where):
    """The system log is not the program's standard error, where `log` alone would write."""
    program = build(where, arch)
    record(where, arch, '--backends', 'syslog', program)
    done = record(where, arch, '--backends', 'syslog+log', program, status=2)
    need(b'needs --log FILE' in done.stderr, done.stderr)


def test_child(where, log):
    """A forked process has a trace of its own, and lines in the log."""
    traces = [os.path.basename(path) for path in glob.glob(f'{where}/trace.[0-9]*')]
    need(len(traces) == 1, 'traces of children:', traces)
    child, = records(where, traces[0])
    need(child['event'] == 'of_vcpu' and f'.{child["pid"]}' in traces[0], child)
    need(child['args'] == {'__cpu': '0x0'}, child)
    lines = [line for line in log if line.startswith('of_vcpu')]
    need(lines == ['of_vcpu cpu=0 works'], 'lines of the child:', lines)


def test_prototypes(arch, where):
    """guest.GLOB takes them from the program; `events` writes the same."""
    program = build(where, arch)
    record(where, arch, program, events='guest.te*\nguest.wide\nat=wide@return wide_return(uint64_t ret)\n')
    printed([GUESTTRACE, 'events', 'list', '--match', 'te*', '--match', 'wide', '--returns', '-o', f'{where}/written', program])
    written = [line for line in read_text(f'{where}/written').splitlines()
               if re.match(r'(at=wide@return )?(ten|text|wide)', line)]
    declared = read_text(f'{where}/trace.events').splitlines()
    need([d for d in declared if d not in written] == declared[-1:], declared, written)
    need({r['event'] for r in records(where)} == {'ten', 'text', 'wide', 'wide_return'}, 'events')
    need(len([r for r in records(where) if r['event'] == 'ten' and r['args']['s'] == 'hello']) == 13, 'calls of ten')


def ask(where, command):
    return printed([GUESTTRACE, 'ctl', f'{where}/socket', command])


def tell(where, command):
    """By QMP."""
    with sockets.connect(f'{where}/socket') as link, link.makefile('rw') as lines:
        need('QMP' in json.loads(lines.readline()), 'no greeting')
        lines.write(command + '\n')
        lines.flush()
        need(json.loads(lines.readline()) == {'return': {}}, 'no answer')


def test_switches(arch, where):
    """While the guest runs: off, on, off; by both protocols."""
    child = commands.start(
        [GUESTTRACE, 'record', '-q', '--qemu', qemus.user_with_registers(arch), '--guest-events', write(f'{where}/events', EVENTS), '-o',
         f'{where}/trace', '--trace', 'off', '--control', f'{where}/socket', build(where, arch), 'rounds'],
        stdin=subprocess.PIPE)
    counts = []
    need(child.stdout.read(1) == b'>', 'no prompt')
    for command in ('info trace-events of_*', 'trace-event of_* on', 'trace-event of_vcpu off', QMP):
        answer = ask(where, command) if command != QMP else tell(where, command)
        need(not command.startswith('info') or answer == 'of_vcpu : state 0\n', answer)
        child.stdin.write(b'w')
        child.stdin.flush()
        need(child.stdout.read(1) == b'>', 'no prompt after', command)
        ask(where, 'trace-file flush')
        counts.append(len(records(where)))
    commands.finish(child, data=b'q')
    need(counts == [0, 1, 1, 2], 'events after each switch:', counts)


def test_chosen(arch, where):
    """Which are on at the start: patterns, and a file of them."""
    program = build(where, arch)
    chosen = write(f'{where}/chosen', '# of the file\nt*\n-ten\nwide_done\n\n-nobody*\nnobody\n')
    for words, names in ((['--trace', 'few+w*'], {'few', 'wide', 'wide_done'}),
                         (['--trace-events', chosen], {'ten_done', 'text', 'wide_done'}),
                         (['--trace', 'few', '--trace-events', chosen], {'few', 'ten_done', 'text', 'wide_done'}),
                         (['--trace', 'off'], set())):
        said = record(where, arch, *words, program).stderr.decode()
        need({r['event'] for r in records(where)} == names, words, {r['event'] for r in records(where)})
        need(said.count('nobody') == (chosen in words) and said.count('\n') == (chosen in words), words, said)
    said = record(where, arch, '--trace-events', f'{where}/none', program, status=125).stderr.decode()
    need(f'argument events: {where}/none: cannot be read' in said, said)


def test_wrong(arch, where):
    program = build(where, arch)
    for line, error in WRONG:
        said = record(where, arch, program, events=f'one(int a) "%d"\n{line}\n', status=125 if error else 0).stderr.decode()
        need(not error or f'{where}/events:2:{error}' in said, line, said)
    for line, error in PLACES:
        said = record(where, arch, program, events=f'one(int a) "%d"\n{line}\n', status=125).stderr.decode()
        need(':2: event \'two\'' in said and error in said, line, said)
    said = record(where, arch, program, events='guest.nobody\n', status=125).stderr.decode()
    need(f'{where}/events:1: guest.nobody: no function' in said, said)
    said = record(where, arch, program, events='wid(uint64_t x)\nabort(void)\nanother_wid(uint64_t x)\n').stderr.decode()
    need("event 'wid': no function wid; near to it: wide" in said, said)
    need("event 'another_wid': no function another_wid; near to it: another_wide" in said, 'a second name of wide:', said)
    need('abort' not in said, 'a function that did not run is reported:', said)
    said = record(where, arch, '--trace', 'tem*', program, status=125).stderr.decode()
    need("argument trace=tem*: no event's name matches" in said, said)


def test_old(where):
    """Without registers the plugin says so."""
    qemu = qemus.user_before('aarch64', qemus.TELLS_REGISTERS)
    program = build(where, 'aarch64')
    done = run([GUESTTRACE, 'record', '--qemu', qemu, '--guest-events', write(f'{where}/events', EVENTS), '-o',
                f'{where}/trace', program])
    need(b'QEMU 9.0 and later' in done.stderr, 'it does not say what is missing:', done.stderr)
    need(not os.path.exists(f'{where}/trace'), 'it leaves a trace')


def main():
    tally = Tally()
    for arch in sys.argv[1:] or ['x86_64', 'aarch64', 'riscv64']:
        for part in (test_values, test_prototypes, test_switches) + ((test_chosen, test_wrong, test_backends) if arch == 'aarch64' else ()):
            with folder('guest-events') as where:
                tally.run(f'{arch}: {part.__name__}', part, arch, where)
    with folder('guest-events') as where:
        tally.run('a QEMU without registers', test_old, where)
    return tally.status()


if __name__ == '__main__':
    sys.exit(main())
