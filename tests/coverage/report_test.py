#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports: that their readers take them without a word, what is left out, and what is said of streams
that are damaged."""
import json
import fcntl
import os
import re
import signal
import struct
import subprocess
import termios

from coverage_case import CoverageTest, lcov
from gttest import cases, etrace_write as es, qemulog, sockets
from gttest.documented import documented, keys
from gttest.paths import GUESTTRACE

SOURCE = '''int twice(int x)
{
    return 2 * x;
}

int never(int x)
{
    x++;
    return x;
}

int main(void)
{
    for (int i = 0; i < 3; i++)
        twice(i);
    return 0;
}
'''
QCOV = '''        -:    0:Source:{source}
        3:    1:int twice(int x)
        -:    2:{{
        3:    3:    return 2 * x;
        -:    4:}}
        -:    5:
    #####:    6:int never(int x)
        -:    7:{{
    #####:    8:    x++;
    #####:    9:    return x;
        -:   10:}}
        -:   11:
        1:   12:int main(void)
        -:   13:{{
        4:   14:    for (int i = 0; i < 3; i++)
        3:   15:        twice(i);
        1:   16:    return 0;
        -:   17:}}
'''
TEXT = '''{source}: 6 of 9 lines ran, 66.7%
             3  twice (line 1)
             0  never (line 6)
             1  main (line 12)
  lines that never ran: 6-9
'''


class Report(CoverageTest):
    def setUp(self):
        super().setUp()
        self.source = self.write('small.c', SOURCE)
        self.program = self.compile(self.source, '-O0', '-static')
        self.entries = self.run_entries(self.program)
        self.stream = self.write('stream', es.start(62) + es.ranges(self.entries))

    def run_entries(self, program, *arguments):
        """What ran, block by block, of a program."""
        self.run_in('qemu-x86_64', *qemulog.LOGGING, '-D', 'qemu.log', program, *arguments)
        return qemulog.Log(self.path('qemu.log')).ranges()

    def report(self, form, *more, **how):
        return self.coverage(self.stream, '-e', self.program, '-f', form, *more, **how)

    def test_qcov(self):
        self.assertEqual(self.report('qcov').stdout, QCOV.format(source=self.source))

    def test_qcov_without_source(self):
        os.unlink(self.source)
        want = [line.split(':')[:2] + ['/*EOF*/'] for line in QCOV.split('\n')[1:-1]
                if line[8] != '-']
        got = [line.split(':') for line in self.report('qcov').stdout.split('\n')[1:-1]]
        self.assertEqual(got, want)

    def test_text(self):
        self.assertTrue(self.report('text').stdout.startswith(TEXT.format(source=self.source)))

    def test_json(self):
        for words in ['-f', 'json'], ['--json']:
            found = json.loads(self.coverage(self.stream, '-e', self.program, *words).stdout)
            self.assertEqual(keys(found), documented('etrace.md', 'Coverage'))
            (own,) = [f for f in found['files'] if f['file'] == self.source]
            self.assertEqual((own['lines'], own['ran']), (9, 6))
            self.assertEqual(own['functions'], [{'name': 'twice', 'line': 1, 'calls': 3}, {'name': 'never', 'line': 6, 'calls': 0},
                                                {'name': 'main', 'line': 12, 'calls': 1}])
            self.assertEqual(own['counts'], [[int(line[10:15]), 0 if '#' in line else int(line[:9])]
                                             for line in QCOV.split('\n')[1:-1] if line[8] != '-'])
            self.assertEqual(found['ran'], sum(f['ran'] for f in found['files']))

    def check_genhtml(self, form, *more):
        self.report(form, '-o', 'out')
        done = self.must('genhtml', '--function-coverage', *more, '-o', 'html', 'out')
        said = done.stdout + done.stderr
        self.assertNotRegex(said, '(?i)warning|error|negative|mismatch')
        self.assertRegex(said, r'lines\.*: 66\.7% \(6 of 9 lines\)')
        self.assertRegex(said, r'functions\.*: 66\.7% \(2 of 3 functions\)')

    def test_genhtml(self):
        """Records of functions that lcov 1 can read do not say where they end, which lcov 2 guesses."""
        cases.need('genhtml')
        version = int(re.search(r'version (\d+)', self.must('genhtml', '--version').stdout)[1])
        self.check_genhtml('lcov', *['--rc', 'derive_function_end_line=0'] if version >= 2 else [])
        if version >= 2:
            self.check_genhtml('lcov2')

    def test_lcov2(self):
        plain, ends = self.report('lcov').stdout, self.report('lcov2').stdout
        functions = lcov(ends, ends=True)[self.source][1]
        self.assertEqual(functions, {'twice': (1, 4, 3), 'never': (6, 10, 0), 'main': (12, 17, 1)})
        self.assertEqual(re.sub(r'(?m)^(FN:\d+,)\d+,', r'\1', ends), plain)

    def test_ends_that_are_guessed(self):
        """Of a function that never returns, two that begin in a line, and optimised code."""
        source = self.write('ends.c', 'void stay(void)\n{\n    for (;;)\n        ;\n}\n'
                            '#define TWO int a(void) { return 1; } int b(void)\nTWO\n{\n return 2;\n}\n'
                            'int main(void)\n{\n    return 0xc3000000 == a();\n}\n')
        for option, want in (('-O0', {'stay': 3, 'a': 9, 'b': 9, 'main': 14}),
                             ('-O2', {'stay': 3, 'a': 10, 'b': 10, 'main': 14})):
            program = self.compile(source, option, '-static', output='ends')
            said = self.coverage(self.write('none', es.start(62)), '-e', program, '-f', 'lcov2',
                                 quiet=False).stdout
            functions = lcov(said, ends=True)[source][1]
            self.assertEqual({name: f[1] for name, f in functions.items()}, want, option)

    def costs(self, tool, form, everything):
        """What an annotator says of the source's lines, and the total."""
        cases.need(tool)
        self.report(form, '-o', 'out')
        done = self.must(tool, everything, 'out')
        self.assertEqual(done.stderr, '')
        self.assertNotRegex(done.stdout, '(?i)warning|error')
        lines = re.findall(r'^[\s>]*([\d,]+) +\([ \d.,%]+\)  (.*)$', done.stdout, re.M)
        costs = {text: int(cost.replace(',', '')) for cost, text in lines}
        return costs

    def check_costs(self, costs):
        want = 0
        listing = self.must('objdump', '-d', '-w', self.program).stdout
        addresses = {int(a, 16) for a in re.findall(r'^ +([0-9a-f]+):\t', listing, re.M)}
        for start, end in self.entries:
            want += sum(a in addresses for a in range(start, end))
        self.assertEqual(costs['PROGRAM TOTALS'], want)
        body = re.search(r'<twice>:\n(.*?)\n\n', listing, re.S).group(1).split('\n')
        names = 'small.c:twice', f'twice:{self.source}'  # valgrind 3.21 turned them round
        twice = [cost for text, cost in costs.items() if text.endswith(names)]
        self.assertEqual(twice, [3 * len(body)])
        self.assertEqual(costs['        twice(i);'], 3 * 3)

    def test_cg_annotate(self):
        self.check_costs(self.costs('cg_annotate', 'cachegrind', '--threshold=0'))

    def test_callgrind_annotate(self):
        self.check_costs(self.costs('callgrind_annotate', 'callgrind', '--threshold=100'))

    def test_exclude(self):
        for text, gone in (('small.c:8', {8}), (f'{self.source}:6-9\n# no\n\n', {6, 8, 9}),
                           ('mall.c:8', set()), ('small.c:1\nsmall.c:3', {1, 3})):
            self.write('x', text)
            lines = lcov(self.report('lcov', '-x', 'x').stdout)[self.source][0]
            self.assertEqual({1, 3, 6, 8, 9, 12, 14, 15, 16} - set(lines), gone)
        self.write('x', 'small.c')
        self.assertNotIn(self.source, self.report('lcov', '-x', 'x').stdout)
        self.write('x', 'a.c:1\nsmall.c:9-8\n')
        done = self.report('lcov', '-x', 'x', status=1)
        self.assertEqual(done.stderr, 'guesttrace etrace coverage: x:2: "small.c:9-8": expected FILE,'
                         ' FILE:LINE or FILE:FIRST-LAST\n')

    def test_offset(self):
        moved = [(s + 0x7000000000, e + 0x7000000000) for s, e in self.entries]
        stream = self.write('moved', es.start(62) + es.ranges(moved))
        done = self.coverage(stream, '-e', self.program + ':0x7000000000', '-f', 'qcov')
        self.assertEqual(done.stdout, QCOV.format(source=self.source))
        done = self.coverage(stream, '-e', self.program, '-f', 'qcov', '-o', 'out', status=1)
        self.assertIn(f'none of its {len(moved)} entries is inside', done.stderr)
        self.assertFalse(os.path.exists(self.path('out')))

    def test_two_programs(self):
        """One program in two places, and another that did not run."""
        moved = [(s + 0x7000000000, e + 0x7000000000) for s, e in self.entries]
        both = self.write('both', es.start(62) + es.ranges(self.entries + moved))
        other = self.compile(self.write('other.c', 'int main(void)\n{\n    return 1;\n}\n'),
                             '-O0', '-static', '-Wl,-Ttext-segment=0x8000000', output='other')
        done = self.coverage(both, '-e', self.program, '-e', other, '-e',
                             self.program + ':0x7000000000', '-f', 'lcov')
        once, twice = (lcov(d.stdout) for d in (self.report('lcov'), done))
        self.assertEqual(twice[self.source][0],
                         {line: 2 * n for line, n in once[self.source][0].items()})
        self.assertEqual(set(twice[self.path('other.c')][0].values()), {0})

    def test_counts_of_blocks(self):
        ran = {}
        for entry in self.entries:
            ran[entry] = ran.get(entry, 0) + 1
        first = [es.count(*e, n // 2) for e, n in ran.items()]
        then = [es.count(*e, n, n // 2) for e, n in ran.items()]
        other = es.count(*self.entries[0], 1000, device='gpio')
        stream = self.write('counts', es.start(62) + b''.join(first + [other] + then))
        done = self.coverage(stream, '-e', self.program, '-f', 'qcov')
        self.assertEqual(done.stdout, QCOV.format(source=self.source))
        counts, entries = b''.join(first + then), es.ranges(self.entries)
        # A stream that begins with its reader; then one that has the entries, too.
        for body in (b''.join(then), entries + counts, counts + entries,
                     b''.join(first) + es.packet(es.EXEC, 0, bytes(8)) + b''.join(then)):
            done = self.coverage(self.write('other', es.start(62) + body), '-e', self.program,
                                 '-f', 'qcov')
            self.assertEqual(done.stdout, QCOV.format(source=self.source))

    def test_bad_counts(self):
        at = len(es.start(62))
        for event, text in (
                (es.count(0, 0, 1, name='main'), 'a count of "main", expected a range'),
                (es.count(8, 4, 1), 'a count of "0x8-0x4", expected a range'),
                (es.count(4, 8, 1, 2), '0x4-0x8 ran 1 times, expected at least the previous'
                 ' 2'),
                (es.count(4, 8, 2**64 - 1), 'more than 2^63')):
            done = self.coverage(self.write('bad', es.start(62) + event), '-e', self.program,
                                 status=1)
            self.assertIn(f'bad offset {at}: ', done.stderr)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stdout, '')

    def test_cut_off(self):
        data = self.read_bytes(self.stream)
        whole = len(es.start(62)) + 8 + 8 + 20 * 1000 + 8
        self.write('cut', data[:whole + 100])
        done = self.coverage('cut', '-e', self.program, '-f', 'cachegrind', status=1)
        self.assertRegex(done.stderr, rf'cut offset {whole}: .*100 of .*the report covers the part before')
        self.write('cut', data[:whole])
        self.assertEqual(self.coverage('cut', '-e', self.program, '-f', 'cachegrind').stdout,
                         done.stdout)

    def test_left_out(self):
        """Packets of other types, and damaged ones, are told; the rest is counted."""
        at = len(es.start(62))
        data = (es.start(62) + es.packet(0x999, 0, b'abc')
                + es.packet(es.EXEC, 0, bytes(27)) + es.ranges(self.entries))
        done = self.coverage(self.write('odd', data), '-e', self.program, '-f', 'qcov', status=1)
        self.assertEqual(done.stdout, QCOV.format(source=self.source))
        self.assertIn(f'odd offset {at}: packet of unknown type 0x999 and 3 bytes: left out\n',
                      done.stderr)
        self.assertIn(f'odd offset {at + 11}: EXEC packet of 27 bytes', done.stderr)
        self.assertIn('packets left out: 2; the report covers the part before\n', done.stderr)

    def test_hostile(self):
        """Entries that are empty, turned round, or all of memory."""
        top = 2**64 - 1
        wild = [(0, 0), (5, 3), (top, 0), (0, top), (top, top), (0x401000, 0x401000)]
        self.stream = self.write('wild', es.start(62) + es.ranges(wild))
        lines = lcov(self.report('lcov').stdout)[self.source][0]
        self.assertEqual(set(lines.values()), {1})
        self.write('part', es.start(62) + es.packet(es.EXEC, 0, struct.pack('<QI', 0, 1)))
        done = self.coverage('part', '-e', self.program, status=1)
        self.assertIn(f'part offset {len(es.start(62))}: ', done.stderr)

    def test_refused(self):
        for arguments, status, text in (
                ((), 2, 'needs a stream'),
                ((self.stream,), 2, 'needs --elf'),
                (('absent', '-e', self.program), 1, 'absent: cannot be opened: No such file'),
                ((self.stream, '-e', 'absent'), 1, 'absent'),
                ((self.stream, '-e', self.source), 1, 'not an ELF file; an image has no functions'
                 ' and lines: give the ELF file that it was made from'),
                ((self.stream, '-e', '.'), 1, 'not a regular file'),
                ((self.stream, '-e', self.program, '-e', self.program), 1, 'both have code at 0x'),
                ((self.stream, '-e', self.program, '-o', 'no/where'), 1, 'no/where'),
                ((self.stream, '-e', self.program, '-o', '/dev/full'), 1, 'No space left'),
                ((self.source, '-e', self.program), 1, 'a text, expected an etrace stream')):
            done = self.coverage(*arguments, status=status)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stdout, '')
        self.stream = self.write('other', es.start(183) + es.ranges(self.entries))
        self.assertIn('machine 62 of ELF, but the guest of other was machine 183'.replace(
            'other', self.stream), self.report('lcov', status=1).stderr)

    def test_inputs(self):
        """A socket where a writer listens, and standard input."""
        want = self.report('qcov').stdout
        command = [GUESTTRACE, 'etrace', 'coverage', '-e', self.program, '-f', 'qcov']
        data = self.read_bytes(self.stream)
        with sockets.listen(self.path('socket')) as listener:
            with subprocess.Popen([*command, 'unix:' + self.path('socket')],
                                  stdout=subprocess.PIPE, text=True) as child:
                with listener.accept()[0] as writer:
                    writer.sendall(data)
                self.assertEqual(child.communicate()[0], want)
        # one that never ends, until the signal
        with subprocess.Popen([*command, '-'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as child:
            child.stdin.buffer.write(data)
            child.stdin.flush()
            while fcntl.ioctl(child.stdin, termios.FIONREAD, bytes(4)) != bytes(4):
                pass
            child.send_signal(signal.SIGTERM)
            self.assertEqual(child.stdout.read(), want)
            self.assertEqual(child.wait(), 0)
        done = subprocess.run([*command, '-'], input=data, capture_output=True, check=True)
        self.assertEqual(done.stdout.decode(), want)

    def test_chained(self):
        self.write('chained', es.start(62, attr=1) + es.ranges(self.entries))
        done = self.coverage('chained', '-e', self.program, '-f', 'qcov', quiet=False)
        self.assertIn('not every executed block is listed', done.stderr)

    def test_without_lines(self):
        self.must('strip', '-g', self.program)
        self.assertIn('           1  main\n', self.report('text').stdout)
        self.assertIn('no line table', self.report('lcov', status=1).stderr)
        self.assertIn('fl=???\nfn=', self.report('cachegrind').stdout)

    def test_memory(self):
        """A stream of 60 MB needs no more memory than one of 100 KB."""
        body = es.ranges(self.entries[-1000:])
        with open(self.path('long'), 'wb') as f:
            f.write(es.start(62))
            for _ in range(60_000_000 // len(body)):
                f.write(body)

        def peak(stream):
            with subprocess.Popen([GUESTTRACE, 'etrace', 'coverage', stream, '-e', self.program],
                                  cwd=self.dir, stdout=subprocess.DEVNULL) as child:
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(child.returncode, 0)
            return usage.ru_maxrss
        self.assertLess(peak('long'), peak('stream') + 4096)


if __name__ == '__main__':
    cases.main('qemu-x86_64', 'gcc', 'objdump')
