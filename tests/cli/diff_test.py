#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace diff, and dump of execlog's binary logs: logs of EXECLOG_LINES lines, made twice, with a
difference planted; where it is, is found by comparing the texts line by line here."""
import json
import functools
import os
import re
import shutil
import subprocess
import tempfile

from cli_case import CliTest, make_elf
from gttest import cases, etrace_write as es, execlog, paths
from gttest.paths import GUESTTRACE

MAKE = os.path.join(paths.BUILD, 'tests', 'unit', 'format', 'execlog_make')
LINES = int(os.environ.get('EXECLOG_LINES', '400000'))
PLACE = LINES * 7 // 10
KINDS = ('register', 'address', 'extra', 'tail')
folder = {}


def setUpModule():
    folder['path'] = tempfile.mkdtemp(prefix='guesttrace-execlog-')
    for kind in ('none', *KINDS):
        subprocess.run([MAKE, log(kind, 'bin'), log(kind, 'txt'), str(LINES), str(PLACE), kind],
                       check=True, stdout=subprocess.DEVNULL)


def tearDownModule():
    shutil.rmtree(folder['path'])


def log(kind, form):
    return os.path.join(folder['path'], f'{kind}.{form}')


def first_difference(a, b):
    """Its line number, from 1, and the two lines, None where there is none."""
    with open(a, encoding='utf-8') as x, open(b, encoding='utf-8') as y:
        number = 0
        while True:
            number += 1
            left, right = x.readline(), y.readline()
            if left != right:
                return number, left or None, right or None
            if not left:
                return None


@functools.lru_cache(None)
def rax_before(number):
    """What the register was shown to be, before that line."""
    with open(log('none', 'txt'), encoding='utf-8') as f:
        *_, last = (x for _, x in zip(range(number - 1), f) if 'rax -> ' in x)
    return last.strip().rsplit(' ', 1)[1]


def events(data):
    """Where the chunks of events are."""
    at = execlog.HEAD
    while at < len(data):
        chunk = execlog.Chunk(data, at)
        if chunk.kind == execlog.EVENTS:
            yield at
        at = chunk.end


class Dump(CliTest):
    def text(self, kind='none'):
        with open(log(kind, 'txt'), encoding='utf-8') as f:
            return f.read()

    def test_all(self):
        for kind in ('none', 'tail'):
            dumped = self.path('dumped')
            with open(dumped, 'wb') as out:
                subprocess.run([GUESTTRACE, 'dump', log(kind, 'bin')], check=True, stdout=out)
            subprocess.run(['cmp', dumped, log(kind, 'txt')], check=True)

    def test_standard_input(self):
        with open(log('none', 'bin'), 'rb') as f:
            piped = subprocess.run([GUESTTRACE, 'dump', '--from', str(PLACE), '--to',
                                    str(PLACE + 1), '-'], input=f.read(), capture_output=True,
                                   check=True)
        self.assertEqual(piped.stdout.decode(),
                         self.expect(0, 'dump', '--from', str(PLACE), '--to', str(PLACE + 1),
                                     log('none', 'bin')).stdout)

    def test_lines(self):
        lines = self.text().splitlines(keepends=True)
        for first, last in ((1, 1), (PLACE, PLACE + 99), (len(lines) - 3, len(lines) + 10)):
            done = self.expect(0, 'dump', '--from', str(first), '--to', str(last), log('none', 'bin'))
            self.assertEqual(done.stdout, ''.join(lines[first - 1:last]))

    def test_addresses(self):
        lines = self.text().splitlines(keepends=True)
        done = self.expect(0, 'dump', '--mem', '0x1234', log('none', 'bin'))
        self.assertEqual(done.stdout, lines[PLACE - 1])
        pc = int(lines[PLACE - 1].split(', ')[1], 16)
        done = self.expect(0, 'dump', '--pc', hex(pc), '--to', str(PLACE), log('none', 'bin'))
        self.assertEqual(done.stdout, ''.join(x for x in lines[:PLACE] if f'0, {pc:#x}, ' in x))
        done = self.expect(0, 'dump', '--pc', f'{pc - 9:#x}-{pc + 9:#x}', '--mem', '1000-2000',
                           log('none', 'bin'))
        self.assertEqual(done.stdout, lines[PLACE - 1])
        # HI is the first address after the range; 0x may be left out.
        here = ''.join(x for x in lines if f'0, {pc:#x}, ' in x)
        for text, expected in ((f'{pc:x}', here), (f'{pc:x}-{pc + 1:x}', here),
                               (f'{pc - 1:#x}-{pc:#x}', '')):
            done = self.expect(0, 'dump', '--pc', text, log('none', 'bin'))
            self.assertEqual(done.stdout, expected)
            self.assertEqual(done.stderr, '' if expected else f'guesttrace dump: {log("none", "bin")}:'
                             ' no line matches the query\n')

    def test_cut_off(self):
        with open(log('none', 'bin'), 'rb') as f:
            data = f.read()
        self.write('cut.bin', data[:list(events(data))[-1] + 1000])
        done = self.expect(1, 'dump', 'cut.bin')
        self.assertRegex(done.stderr, r'cut.bin offset \d+: truncated: the log ends after ')
        self.assertTrue(self.text().startswith(done.stdout))
        self.assertGreater(len(done.stdout), len(self.text()) // 10)
        part = self.expect(1, 'dump', '--to', '3', 'cut.bin')
        self.assertEqual(part.stdout, ''.join(self.text().splitlines(keepends=True)[:3]))
        self.write('killed.bin', data[:-64])
        done = self.expect(1, 'dump', 'killed.bin')
        self.assertIn('killed.bin: has no end: its recording was interrupted', done.stderr)
        self.assertEqual(done.stdout, self.text())

    def test_other_version(self):
        with open(log('none', 'bin'), 'rb') as f:
            data = bytearray(f.read(4096))
        data[8] = 2
        self.write('later.bin', data)
        done = self.expect(1, 'dump', 'later.bin')
        self.assertEqual(done.stderr, 'guesttrace dump: later.bin: execlog log of version 2.0, this'
                                      ' guesttrace reads 1.x\n')
        self.assertEqual(done.stdout, '')

    def test_usage(self):
        for options, words in (
                (('--from', '9', '--to', '8'), 'no lines from 9 to 8'),
                (('--pc', '4x'), "option '--pc' takes a hex address, or LO-HI, HI the first one after"
                 " it, not '4x'"),
                (('--pc', '10000000000000000'), "option '--pc' takes a hex address"),
                (('--pc', '-'), "option '--pc' takes a hex address"),
                (('--mem', '20-20'), "option '--mem' takes a hex address"),
                (('--mem', '0x20-0x10'), "option '--mem' takes a hex address"),
                (('--from', '0'), "takes a number from 1 to")):
            self.assertIn(words, self.expect(2, 'dump', *options, log('none', 'bin')).stderr)
        self.assertIn('an execlog log: --elf is for etrace streams',
                      self.expect(1, 'dump', '-e', 'x', log('none', 'bin')).stderr)
        self.write('no.log', b'something else\n')
        for options in [], ['--to', '5']:
            self.assertEqual(self.expect(1, 'dump', *options, 'no.log').stderr,
                             'guesttrace dump: no.log: a text, expected an etrace stream or an execlog'
                             ' log in binary form\n')
        self.write('some.etrace', es.start())
        self.assertIn('some.etrace: an etrace stream: --from, ',
                      self.expect(1, 'dump', '--to', '5', 'some.etrace').stderr)
        self.assertIn('p.elf: an ELF file, expected an etrace stream',
                      self.expect(1, 'etrace', 'export', self.elf()).stderr)

    def elf(self):
        return self.write('p.elf', make_elf())


class Diff(CliTest):
    def test_planted(self):
        for kind in KINDS:
            number, left, right = first_difference(log('none', 'txt'), log(kind, 'txt'))
            self.assertLess(abs(number - PLACE), 20)
            for forms in (('bin', 'bin'), ('txt', 'txt'), ('bin', 'txt'), ('txt', 'bin')):
                a, b = log('none', forms[0]), log(kind, forms[1])
                done = self.expect(1, 'diff', '-c', '2', a, b)
                lines = done.stdout.split('\n')
                place = f'{b} line {number}' if right else f'{b} has no more'
                self.assertEqual(lines[0], f'vCPU 0: the logs differ: {a} line {number}, {place}')
                self.assertEqual(sum(x.startswith('  ') for x in lines), 2)
                self.assertEqual(lines[3], '- ' + left.rstrip('\n'))
                self.assertIn('+ ' + (right or '(no more lines)').rstrip('\n'), lines)
                self.assertEqual(sum(x.startswith('- ') for x in lines), 3)
                self.check_words(kind, done.stdout)
                again = re.search(r'\nthe same again: \S+ line (\d+), \S+ line (\d+)\n', done.stdout)
                self.assertEqual(again is None, kind == 'tail', done.stdout)
                if again:  # after one line; an instruction more moves what is planted, too
                    places = [int(g) - number for g in again.groups()]
                    self.assertEqual(places, [1, 1] if kind != 'extra' else [places[0], places[0] + 1])

    def test_json(self):
        for kind in KINDS:
            number, left, right = first_difference(log('none', 'txt'), log(kind, 'txt'))
            want = {'vcpu': 0, 'a_line': number, 'a': left.rstrip('\n')}
            if right:
                want |= {'b_line': number, 'b': right.rstrip('\n')}
            done = self.expect(1, 'diff', '--json', log('none', 'txt'), log(kind, 'txt'))
            self.assertEqual([json.loads(line) for line in done.stdout.splitlines()], [want])
        self.assertEqual(self.expect(0, 'diff', '--json', log('none', 'txt'), log('none', 'bin')).stdout, '')

    def check_words(self, kind, out):
        words = {'register': r'^differs: register rax: 0x00000000deadbeef and 0x00000200deadbeef'
                             r' \(bits 0x20000000000\)$',
                 'address': r'^differs: address of access \d: 0x00001234 and 0x00001236 \(bits 0x2\)$',
                 'extra': r"^differs: the instruction's address: 0x\w+ and 0x900000$",
                 'tail': r'^\+ \(no more lines\)$'}[kind]
        self.assertRegex(out, re.compile(words, re.M))
        value = rax_before(int(re.search(r' line (\d+)', out)[1]))
        self.assertRegex(out, re.compile(rf'^registers before: rax = {value}$', re.M))

    def test_same(self):
        for forms in (('bin', 'bin'), ('txt', 'txt'), ('bin', 'txt'), ('txt', 'bin')):
            done = self.expect(0, 'diff', log('none', forms[0]), log('none', forms[1]))
            self.assertEqual(done.stdout + done.stderr, '')

    def test_quiet(self):
        self.assertEqual(self.expect(1, 'diff', '-q', log('none', 'bin'), log('tail', 'txt')).stdout, '')

    def diff(self, a, b, *options, status=1):
        self.write('a', a.encode())
        self.write('b', b.encode())
        return self.expect(status, 'diff', *options, 'a', 'b').stdout

    def test_other_places(self):
        """A stack or a library that lies elsewhere is what the hint is for; a small distance is something else."""
        hint = 'record both with --no-aslr'
        line = '0, 0x{:x}, 0x1, "push", store, 0x{:08x}\n'.format
        self.assertIn(hint, self.diff(line(1, 0x7ffd1230), line(1, 0x7fee5230)))
        self.assertIn(hint, self.diff(line(0x7f0000401000, 8), line(0x7e0000401000, 8)))
        self.assertNotIn(hint, self.diff(line(1, 0x7ffd1230), line(1, 0x7ffd1238)))
        self.assertNotIn(hint, self.diff(line(1, 0x7ffd1230), line(1, 0x7ffd2231)))

    def test_each_vcpu_on_its_own(self):
        zero = [f'0, 0x{i:x}, 0x1, "nop"\n' for i in range(9)]
        one = [f'11, 0x{i:x}, 0x1, "nop"\n' for i in range(9)]
        mixed = ''.join(x for pair in zip(zero, one) for x in pair)
        self.assertEqual(self.diff(mixed, ''.join(one + zero), status=0), '')
        self.assertEqual(self.diff(mixed, ''.join(one[:8] + zero[:5] + zero[6:]), '-c', '1'), '''\
vCPU 0: the logs differ: a line 11, b line 14
  0, 0x4, 0x1, "nop"
- 0, 0x5, 0x1, "nop"
- 0, 0x6, 0x1, "nop"
+ 0, 0x6, 0x1, "nop"
+ 0, 0x7, 0x1, "nop"
differs: the instruction's address: 0x5 and 0x6
the same again: a line 13, b line 14
vCPU 11: the logs differ: a line 18, b has no more
  11, 0x7, 0x1, "nop"
- 11, 0x8, 0x1, "nop"
+ (no more lines)
''')

    def test_vcpus_that_take_turns(self):
        lines = {v: [f'{v}, 0x{i:x}, 0x1, "nop"{", load, 0x00001000" * (i % 7)}\n' for i in range(5000)]
                 for v in (0, 1, 12)}
        mixed = {}
        for turn in (1, 30, 777): # lines of a vCPU before those of the next one
            mixed[turn] = ''.join(''.join(lines[v][at:at + turn]) for at in range(0, 5000, turn)
                                  for v in lines)
        for a, b in ((1, 30), (30, 777), (777, 1)):
            self.assertEqual(self.diff(mixed[a], mixed[b], status=0), '')
        other = mixed[30].replace('12, 0x1234, 0x1, ', '12, 0x1234, 0x2, ')
        self.assertNotEqual(other, mixed[30])
        for a in mixed.values():
            out = self.diff(a, other)
            self.assertIn('differs: the opcode: 0x1 and 0x2', out)
            self.assertEqual(out.count('differs: '), 1)
            self.assertEqual(re.match(r'vCPU 12: the logs differ: a line (\d+), b line (\d+)\n', out).groups(),
                             tuple(str(next(n for n, x in enumerate(text.split('\n'), 1)
                                            if x.startswith('12, 0x1234,'))) for text in (a, other)))

    def test_the_same_again(self):
        def log(*pcs):
            return ''.join(f'{v}, 0x{pc:x}, 0x1, "nop"\n' for pc in pcs for v in (0, 1))
        common, more = range(0x100, 0x110), range(0x500, 0x540)
        out = self.diff(log(*common, *range(3), *more), log(*common, *range(40, 45), *more))
        self.assertEqual(re.findall(r'the same again: (.*)', out),
                         ['a line 39, b line 43', 'a line 40, b line 44'])
        out = self.diff(log(1, 2, 3, *range(1000, 4000)), log(1, 2, *range(4000, 6500)))
        self.assertEqual(out.count('not the same again within 1000 lines\n'), 2)
        # the last lines of both; four in the middle are not enough
        tail = (1, 2, 3)
        self.assertIn('the same again: a line 3, b line 5\n', self.diff(log(9, *tail), log(8, 7, *tail)))
        self.assertNotIn('\nthe same again', self.diff(log(9, 1, 2, 3, 4, 5), log(8, 1, 2, 3, 4, 6)))

    def test_words(self):
        line = '0, 0x10, 0x90, "mov a, \\"b\\""'
        for a, b, words in (
                (', load, 0x00001000', ', load, 0x00001000, store, 0x00002000',
                 'differs: only + has "store"'),
                (', load, 0x00001000, RAM', ', load, 0x00001000, uart', 'differs: RAM and uart'),
                (', load, 0x00001000', ', store, 0x00001000', 'differs: load and store'),
                (', a -> 0x1, b -> 0x2', ', a -> 0x1, c -> 0x2', 'differs: b -> 0x2 and c -> 0x2'),
                ('', ' ', 'differs: ')):
            self.assertIn(words, self.diff(f'{line}{a}\n', f'{line}{b}\n'))
        self.assertIn('differs: the opcode: 0x90 and 0x91',
                      self.diff(f'{line}\n', line.replace('90', '91') + '\n'))
        self.assertIn('differs: the disassembly', self.diff(f'{line}\n', line.replace('mov', 'mow') + '\n'))
        self.assertIn('differs: the end of the line', self.diff(f'{line}\n', line))

    def test_lines_without_an_instruction(self):
        first, last = ', rax -> 0x1\n', '\n'
        line = '0, 0x10, 0x90, "nop"\n'
        self.assertEqual(self.diff(first + line + last, first + line + last, status=0), '')
        out = self.diff(first + line + last, first + line)
        self.assertTrue(out.startswith('lines of no vCPU: the logs differ: a line 3, b has no more\n'), out)

    def test_empty(self):
        self.assertEqual(self.diff('', '', status=0), '')
        self.assertIn('vCPU 0: the logs differ: a has no more, b line 1\n', self.diff('', '0, 0x1, 0x1, "x"\n'))

    def test_no_context(self):
        number, left, _ = first_difference(log('none', 'txt'), log('register', 'txt'))
        done = self.expect(1, 'diff', '-c', '0', log('none', 'bin'), log('register', 'txt'))
        lines = done.stdout.split('\n')
        self.assertIn(f' line {number}', lines[0])
        self.assertEqual(lines[1], '- ' + left.rstrip('\n'))
        self.assertRegex(lines[2], r'^\+ ')
        self.assertEqual(sum(x.startswith(('  ', '- ', '+ ')) for x in lines), 2)

    def test_no_logs(self):
        self.write('s.etrace', es.start() + es.execs(0, 0, [(1, 16, 32)]))
        self.write('p.elf', make_elf())
        self.write('odd', bytes(range(1, 9)) * 9)
        self.write('zero.log', b'0, 0x1, 0x2, "nop"\n0, 0x\0')
        for name, what in (('s.etrace', ': an etrace stream'), ('p.elf', ': an ELF file'),
                           ('odd', ': not text, and of an unknown type'),
                           ('zero.log', ' line 2: a zero byte')):
            for pair in (name, log('none', 'txt')), (log('none', 'bin'), name):
                done = self.expect(2, 'diff', *pair)
                self.assertEqual(done.stdout, '')
                self.assertIn(f'{name}{what}, expected a log', done.stderr)

    def test_trouble(self):
        self.assertIn('absent: ', self.expect(2, 'diff', log('none', 'bin'), 'absent').stderr)
        self.assertIn('takes two recordings', self.expect(2, 'diff', log('none', 'bin')).stderr)
        with open(log('none', 'bin'), 'rb') as f:
            data = bytearray(f.read())
        data[len(data) // 2] ^= 1
        self.write('damaged.bin', data)
        done = self.expect(2, 'diff', 'damaged.bin', log('none', 'bin'))
        self.assertRegex(done.stderr, r'damaged.bin offset \d+: .*: left out')


if __name__ == '__main__':
    cases.main()
