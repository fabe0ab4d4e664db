#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace etrace export: Chrome JSON, folded stacks and VCD of made streams; call stacks of a made
program whose every step is known."""
import fcntl
import json
import os
import re
import signal
import stat
import subprocess
import termios

from cli_case import CliTest
from gttest import cases, etrace_write as es, sockets
from gttest.cases import need
from gttest.paths import GUESTTRACE

# Labels are places that control passes; each entry of a stream runs from one to another.
PROGRAM = b'''
    .globl main, f, g, h, vector, tail
    .type main, %function
    .type f, %function
    .type g, %function
    .type h, %function
    .type tail, %function
    .type vector, %function
main:
    call f
main1:
    nop
main2:
    call *%rax
main3:
    ret
main_end:
    .size main, . - main
f:
    call g
f1: call f
f2: ret
f_end:
    .size f, . - f
g:
    nop
g1: jmp tail
g_end:
    .size g, . - g
h:
    jmp *%rax
h_end:
    .size h, . - h
tail:
    nop
tail1:
    ret
tail_end:
    .size tail, . - tail
vector:
    nop
vector1:
    call h
vector2:
    iretq
vector_end:
    .size vector, . - vector
'''


class ConvertTest(CliTest):
    def convert(self, data, *options, status=0):
        self.write('t.etrace', data, mode=0o644)
        return self.expect(status, 'etrace', 'export', *options, 't.etrace')


class Stacks(ConvertTest):
    ADDED = b''

    def setUp(self):
        super().setUp()
        need('gcc', 'nm', 'objcopy')
        self.write('p.S', PROGRAM + self.ADDED, mode=0o644)
        subprocess.run(['gcc', '-nostdlib', '-static', '-no-pie', '-Wl,-Ttext=0x401000',
                        '-Wl,-e,main', '-Wl,--build-id=none', 'p.S', '-o', 'p.elf'], cwd=self.dir,
                       check=True)
        lines = subprocess.run(['nm', 'p.elf'], cwd=self.dir, check=True, capture_output=True,
                               text=True).stdout.split('\n')
        self.place = {line.split()[2]: int(line.split()[0], 16) for line in lines if line}
        labels = [word for line in lines if line.split()[1:2] == ['t']
                  for word in ('-N', line.split()[2])]
        subprocess.run(['objcopy', *labels, 'p.elf'], cwd=self.dir, check=True)

    def stream(self, *steps, unit=0):
        """Steps are 'from-to', each lasting 1000 ns; one packet."""
        entries = []
        for step in steps:
            first, last = (self.place[p] if p in self.place else int(p, 16)
                           for p in step.split('-'))
            entries.append((1000, first, last))
        return es.execs(unit, 0, entries)

    def stacks(self, *steps):
        """Each step's call stack, from the outside in, by the Chrome file's nesting."""
        done = self.convert(es.start() + self.stream(*steps), '--elf', 'p.elf')
        events = [e for e in json.loads(done.stdout)['traceEvents'] if e['ph'] in 'BE']
        found, stack = [], []
        for i in range(len(steps)):
            while events and events[0]['ts'] <= i:
                event = events.pop(0)
                if event['ph'] == 'B':
                    stack.append(event['name'])
                else:
                    self.assertEqual(event['name'], stack.pop())
            found.append(' '.join(stack))
        self.assertEqual([e['ph'] for e in events], ['E'] * len(stack))
        self.assertEqual({e['ts'] for e in events}, {len(steps)})
        return found

    def test_call_and_return(self):
        self.assertEqual(self.stacks('main-main1', 'f-f1', 'g-g1', 'g1-g_end', 'tail-tail_end',
                                     'f1-f2', 'f-f1', 'g-g_end', 'tail-tail_end', 'f1-f2',
                                     'f2-f_end', 'f2-f_end', 'main1-main2'),
                         ['main', 'main f', 'main f g', 'main f g', 'main f tail', 'main f',
                          'main f f', 'main f f g', 'main f f tail', 'main f f', 'main f f',
                          'main f', 'main'])

    def test_call_without_files_code(self):
        """Calls into code that no file has, and back."""
        self.assertEqual(self.stacks('main2-main3', 'h-h_end', '700000-700010', '800000-800004',
                                     'main3-main_end', '900000-900004'),
                         ['main', 'main h', 'main [unknown]', 'main [unknown]', 'main',
                          '[unknown]'])

    def test_called_back(self):
        """A function that begins was called, also where the caller's code is not known."""
        self.assertEqual(self.stacks('main2-main3', '700000-700004', 'main-main1', 'f-f1'),
                         ['main', 'main [unknown]', 'main [unknown] main',
                          'main [unknown] main f'])

    def test_return_past_a_frame(self):
        """Where a return goes tells which of two frames of a function goes on."""
        self.assertEqual(self.stacks('main-main1', 'f-f1', 'g-g_end', 'tail-tail_end', 'f1-f2',
                                     'f-f1', 'g-g_end', 'tail-tail_end', 'f2-f_end')[-2:],
                         ['main f f tail', 'main f'])

    def test_return_to_a_caller_that_was_not_seen(self):
        self.assertEqual(self.stacks('tail1-tail_end', 'f1-f2'), ['tail', 'f'])

    def test_interrupt(self):
        """Code that does not follow from the instruction before it is a handler."""
        self.assertEqual(self.stacks('main-main1', 'f-f1', 'g-g1', 'vector-vector1',
                                     'vector1-vector2', 'h-h_end', 'tail-tail_end',
                                     'vector2-vector_end', 'g1-g_end', 'tail-tail_end', 'f1-f2'),
                         ['main', 'main f', 'main f g', 'main f g vector', 'main f g vector',
                          'main f g vector h', 'main f g vector tail', 'main f g vector',
                          'main f g', 'main f tail', 'main f'])

    def test_interrupt_between_call_and_callee(self):
        self.assertEqual(self.stacks('main-main1', 'vector-vector1', 'vector2-vector_end', 'f-f1'),
                         ['main', 'main f vector', 'main f vector', 'main f'])

    def test_interrupt_after_return(self):
        self.assertEqual(self.stacks('main-main1', 'f-f1', 'g-g_end', 'tail-tail_end',
                                     'vector-vector1', 'vector2-vector_end', 'f1-f2'),
                         ['main', 'main f', 'main f g', 'main f tail', 'main f tail vector',
                          'main f tail vector', 'main f'])

    def test_longjmp(self):
        self.assertEqual(self.stacks('main-main1', 'f-f1', 'g-g_end', 'h-h_end', 'main1-main2'),
                         ['main', 'main f', 'main f g', 'main f g h', 'main'])

    def test_depth_is_bounded(self):
        steps = ['f1-f2'] + ['f-f1', 'f1-f2'] * 3000
        self.assertLessEqual(max(len(s.split()) for s in self.stacks(*steps)), 1024)

    def test_folded(self):
        data = es.start() + self.stream('main-main1', 'f-f1', 'g-g1', 'g1-g_end', 'tail-tail_end',
                                        'f1-f2')
        self.assertEqual(self.convert(data, '-f', 'folded', '-e', 'p.elf').stdout,
                         'main 1000\nmain;f 2000\nmain;f;g 2000\nmain;f;tail 1000\n')
        self.assertEqual(self.convert(data + self.stream('h-h_end', unit=3), '-f', 'folded', '-e',
                                      'p.elf').stdout,
                         'CPU 0;main 1000\nCPU 0;main;f 2000\nCPU 0;main;f;g 2000\n'
                         'CPU 0;main;f;tail 1000\nCPU 3;h 1000\n')

    def test_kallsyms(self):
        """Names without instructions: a function that begins was called."""
        self.write('kallsyms', b'ffff800008010000 T _stext\nffff800008010000 T first\n'
                   b'ffff800008010040 t second\nffff800008020000 T _etext\n')
        base = 0xffff800008010000
        data = es.start() + es.execs(0, 0, [(3, base, base + 8), (4, base + 64, base + 72),
                                            (5, base + 8, base + 16)])
        self.assertEqual(self.convert(data, '-f', 'folded', '-e', 'kallsyms').stdout,
                         'first 8\nfirst;second 4\n')

    def test_elsewhere(self):
        data = es.start() + es.execs(0, 0, [(7, self.place['main'] + 0x1000,
                                             self.place['main1'] + 0x1000),
                                            (5, self.place['f'] + 0x1000,
                                             self.place['f1'] + 0x1000)])
        self.assertEqual(self.convert(data, '-f', 'folded', '-e', 'p.elf:0x1000').stdout,
                         'main 7\nmain;f 5\n')

    def test_time_that_no_code_took(self):
        """Empty entries are time of what ran before them."""
        at, end = self.place['tail1'], self.place['tail_end']
        data = es.start() + es.execs(0, 0, [(2, at, end), (3, end, end)])
        self.assertEqual(self.convert(data, '-f', 'folded', '-e', 'p.elf').stdout, 'tail 5\n')

    def test_no_elf(self):
        self.assertIn('x: ', self.convert(es.start(), '-e', 'x', status=1).stderr)


class Kernel(Stacks):
    """The same program as a vmlinux: functions and instructions come from the kernel's reader."""
    ADDED = b'''
    .globl _stext, _etext
    .set _stext, main
_etext:
    .section .rodata
    .asciz "Linux version 6.1.0 (us@here) #1 SMP"
'''


class Chrome(ConvertTest):
    def test_addresses(self):
        data = es.start() + es.execs(2, 5, [(1, 0x1000, 0x1004), (2, 0x2000, 0x2004),
                                            (4, 0x2000, 0x2008)])
        self.assertEqual(json.loads(self.convert(data).stdout), {
            'displayTimeUnit': 'ns', 'traceEvents': [
                {'ph': 'M', 'pid': 1, 'tid': 2, 'ts': 0, 'name': 'thread_name',
                 'args': {'name': 'CPU 2'}},
                {'ph': 'B', 'pid': 1, 'tid': 2, 'ts': 0.005, 'name': '0x1000'},
                {'ph': 'E', 'pid': 1, 'tid': 2, 'ts': 0.006, 'name': '0x1000'},
                {'ph': 'B', 'pid': 1, 'tid': 2, 'ts': 0.006, 'name': '0x2000'},
                {'ph': 'E', 'pid': 1, 'tid': 2, 'ts': 0.012, 'name': '0x2000'}]})
        self.assertEqual(self.convert(data, '--format', 'folded').stdout, '0x1000 1\n0x2000 6\n')

    def test_events(self):
        data = es.start() + es.event(1, 123456789, 'ua"rt\\', 'r\n\xe9@0', 7) \
            + es.old_event(0, 2000, 'd', 'e', 1)
        self.assertEqual(json.loads(self.convert(data).stdout)['traceEvents'], [
            {'ph': 'C', 'pid': 1, 'tid': 1, 'ts': 123456.789, 'name': 'ua"rt\\.r?\xe9@0',
             'args': {'value': 7}},
            {'ph': 'C', 'pid': 1, 'tid': 0, 'ts': 2, 'name': 'd.e', 'args': {'value': 1}}])

    def test_no_utf8(self):
        body = es.event(0, 0, 'd', 'abc', 1).replace(b'abc', b'a\xffc')
        self.assertEqual(json.loads(self.convert(es.start() + body).stdout)['traceEvents'][0]
                         ['name'], 'd.a\ufffdc')

    def test_every_unit(self):
        """A small stream does not make it large."""
        data = es.start() + b''.join(es.execs(u, u, [(1, 16, 32)]) for u in range(65536))
        with subprocess.Popen([GUESTTRACE, 'etrace', 'export', '-', '-o', 'out'], cwd=self.dir,
                              stdin=subprocess.PIPE) as child:
            child.stdin.write(data)
            child.stdin.close()
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        self.assertLess(used.ru_maxrss, 200 * 1024)
        self.assertEqual(self.read('out').count('"B"'), 65536)

    def test_damaged(self):
        """What came before is complete."""
        data = es.start() + es.execs(0, 0, [(1, 16, 32)]) + b'\1\0\0'
        done = self.convert(data, status=1)
        self.assertIn('t.etrace offset 88: truncated', done.stderr)
        self.assertEqual(len(json.loads(done.stdout)['traceEvents']), 3)

    def test_ended_by_a_signal(self):
        """A live stream that never ends: the signal ends it, and the file is complete."""
        data = es.start() + es.execs(0, 0, [(1, 16, 32)] * 3)
        for number in signal.SIGINT, signal.SIGTERM:
            with sockets.listen(self.path('s')) as listener:
                with subprocess.Popen([GUESTTRACE, 'etrace', 'export', '-o', 'out', 'unix:s'],
                                      cwd=self.dir, stderr=subprocess.PIPE) as child:
                    with listener.accept()[0] as writer:
                        writer.sendall(data + b'\1\0')
                        # What is taken from the socket was read with the signals blocked.
                        while fcntl.ioctl(writer, termios.TIOCOUTQ, bytes(4)) != bytes(4):
                            pass
                        self.assertFalse(os.path.exists(self.path('out')))
                        child.send_signal(number)
                        self.assertEqual(child.stderr.read(), b'')
                    self.assertEqual(child.wait(), 0)
            self.assertEqual(len(json.loads(self.read('out'))['traceEvents']), 3)
            os.unlink(self.path('s'))
            os.unlink(self.path('out'))

    def test_output(self):
        self.expect(0, 'etrace', 'export', '-o', 'out.json', self.write('t', es.start()))
        self.assertEqual(json.loads(self.read('out.json'))['traceEvents'], [])
        self.assertIn('no/x: cannot be opened', self.expect(1, 'etrace', 'export', '-o', 'no/x',
                                                            't').stderr)
        self.assertIn('No space left', self.expect(1, 'etrace', 'export', '-o', '/dev/full', 't').stderr)
        self.assertTrue(stat.S_ISCHR(os.stat('/dev/full').st_mode))
        self.write('no stream', b'x' * 100, mode=0o644)
        os.symlink('out.json', self.path('link'))
        for arguments in ('no stream',), ('-e', 'x', 't'), ('x',):
            self.expect(1, 'etrace', 'export', '-o', 'link', *arguments)
            self.assertEqual(json.loads(self.read('out.json'))['traceEvents'], [])
        self.expect(0, 'etrace', 'export', '-f', 'vcd', '-o', 'link', 't')
        self.assertIn('$enddefinitions', self.read('out.json'))
        self.assertTrue(os.path.islink(self.path('link')))
        self.assertEqual([n for n in os.listdir(self.dir) if n.endswith('.tmp')], [])
        self.assertIn("'./t' is the stream itself", self.expect(2, 'etrace', 'export', '-o', './t',
                                                                't').stderr)
        self.assertTrue(os.path.getsize(self.path('t')))
        self.assertIn('takes one stream', self.expect(2, 'etrace', 'export').stderr)


class Vcd(ConvertTest):
    STREAM = (es.start() + es.event(0, 30, 'uart', 'write@0x0', 65)
              + es.event(1, 10, 'timer', 'read@0x4', 2 ** 64 - 1)
              + es.event(0, 30, 'uart', 'read@0x18', 0) + es.old_event(0, 20, 'timer', 'irq', 1)
              + es.event(0, 30, 'uart', 'write@0x0', 66))

    def test_bytes(self):
        self.assertEqual(self.convert(self.STREAM, '--format', 'vcd').stdout, '''\
$version guesttrace $end
$timescale 1 ns $end
$scope module timer $end
$var wire 64 " read@0x4 $end
$var wire 64 $ irq $end
$upscope $end
$scope module uart $end
$var wire 64 ! write@0x0 $end
$var wire 64 # read@0x18 $end
$upscope $end
$enddefinitions $end
#10
b''' + '1' * 64 + ''' "
#20
b1 $
#30
b1000001 !
b0 #
b1000010 !
''')

    def test_names(self):
        names = ['a b', '', 'x[3]', 'tab\t', '\xe9', '$end']
        out = self.convert(es.start() + b''.join(es.event(0, 0, n, n, 1) for n in names),
                           '-f', 'vcd').stdout
        for name in re.findall(r'\$scope module (.*) \$end', out):
            self.assertRegex(name, r'^[!-~]+$')
            self.assertNotRegex(name, r'[][$]')
        self.assertEqual(len(re.findall(r'^\$var wire 64 \S+ \S+ \$end$', out, re.M)), 6)

    def test_nothing(self):
        self.assertIn('$enddefinitions', self.convert(es.start(), '-f', 'vcd').stdout)

    def read_by_gtkwave(self, data):
        """The changes as gtkwave's own converters give them back."""
        need('vcd2fst', 'fst2vcd')
        self.write('t.etrace', data)
        self.expect(0, 'etrace', 'export', '-f', 'vcd', '-o', 'a.vcd', 't.etrace')
        subprocess.run(['vcd2fst', 'a.vcd', 'a.fst'], cwd=self.dir, check=True,
                       capture_output=True)
        out = subprocess.run(['fst2vcd', 'a.fst'], cwd=self.dir, check=True, capture_output=True,
                             text=True).stdout
        scope, names, time, changes = None, {}, None, []
        for line in out.split('\n'):
            words = line.split()
            if line.startswith('$scope'):
                scope = words[2]
            elif line.startswith('$var'):
                names[words[3]] = f'{scope}.{words[4]}'
            elif line.startswith('#'):
                time = int(line[1:])
            elif line.startswith('b') and 'x' not in words[0]:
                changes.append((time, names[words[1]], int(words[0][1:], 2)))
        return changes

    def test_gtkwave_reads_it(self):
        changes = self.read_by_gtkwave(self.STREAM)
        self.assertEqual(changes[:2], [(10, 'timer.read@0x4', 2 ** 64 - 1), (20, 'timer.irq', 1)])
        self.assertEqual(sorted(changes[2:])[0], (30, 'uart.read@0x18', 0))
        self.assertEqual(changes[-1], (30, 'uart.write@0x0', 66))

    def test_gtkwave_reads_many(self):
        events = [(i * 3, f'd{i % 7}', f'e{i % 211}', i) for i in range(3000)]
        data = es.start() + b''.join(es.event(0, *e) for e in events)
        self.assertEqual(self.read_by_gtkwave(data), [(t, f'{d}.{e}', v) for t, d, e, v in events])


cases.main()
