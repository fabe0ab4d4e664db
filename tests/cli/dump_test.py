#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace dump: the text of every item, damaged streams, names, and streams that are live."""
import os
import random
import signal
import struct
import subprocess

from cli_case import HERE, CliTest
from gttest import cases, etrace_write as es, sockets
from gttest.cases import need
from gttest.paths import GUESTTRACE


class DumpTest(CliTest):
    def dump(self, data, *options, status=0):
        self.write('t.etrace', data, mode=0o644)
        return self.expect(status, 'dump', *options, 't.etrace')


class Text(DumpTest):
    def test_items(self):
        done = self.dump(
            es.start(machine=es.AARCH64)
            + es.execs(0, 5, [(2, 0x1000, 0x1008), (3, 0xffffffc008010000, 0xffffffc00801000c)])
            + es.translated(1, 0x1000, 0x1000, b'\x1f\x20\x03\xd5')
            + es.note(1, 7, b'0x1000: nop\n') + es.note(1, 7, b'two\nlines')
            + es.memory(65535, 123456789012, 0xffff0, 0x80002000, 0xdeadbeef, 1, 4)
            + es.memory(2, 0, 0xffff0, 0, 0, 0, 8)
            + es.event(3, 99, 'pl011', 'write@0x0', 65, 64)
            + es.old_event(4, 18446744073709551615, 'cpu0', 'irq', 1)
            + es.note(0, 0, b''))
        self.assertEqual(done.stdout, '''\
guest arch=aarch64 64bit
E0 1000 1008
E0 ffffffc008010000 ffffffc00801000c
0x1000: nop
two
lines
M65535 123456789012 w 80002000 deadbeef
M2 0 r 0 0
EV 99 3 pl011.write@0x0 65
EV 18446744073709551615 4 cpu0.irq 1
''')
        self.assertEqual(done.stderr, '')

    def test_32_bits(self):
        done = self.dump(es.start(machine=es.RISCV, bits=32)
                         + es.execs(10, 0, [(1, 0x80000000, 0x80000004), (1, 0, 0xffffffff)], 32))
        self.assertEqual(done.stdout, 'guest arch=riscv 32bit\nE10 80000000 80000004\n'
                         'E10 0 ffffffff\n')

    def test_arch(self):
        self.assertEqual(self.dump(es.start(machine=4711, bits=32, big_endian=1)).stdout,
                         'guest arch=4711 32bit big-endian\n')

    def test_seed_arch(self):
        """ARCH as a C compiler lays out what the readers in the field declare, and what follows it: the
        writer sets nothing of the host, and no byte order."""
        for words in (['243', '32'], ['243', '64'], ['40', '32', '-DGARBAGE=0xaa']):
            subprocess.run(['gcc', '-Wall', '-Werror', '-o', self.path('writer'), *words[2:],
                            f'-DMACHINE={words[0]}', f'-DBITS={words[1]}',
                            os.path.join(HERE, 'seed_writer.c')], check=True)
            data = subprocess.run([self.path('writer')], check=True, capture_output=True).stdout
            name = {'243': 'riscv', '40': 'arm'}[words[0]]
            self.assertEqual(self.dump(data).stdout,
                             f'guest arch={name} {words[1]}bit\nE3 80000000 80000004\nE3 0 80000010\n')

    def test_arch_without_padding(self):
        data = es.info() + es.packet(es.ARCH, 0, struct.pack('<IBBIBB', es.RISCV, 32, 0, 62, 64, 0))
        self.assertEqual(self.dump(data + es.execs(1, 0, [(1, 4, 8)], 32)).stdout,
                         'guest arch=riscv 32bit\nE1 4 8\n')

    def test_notes_in_pieces(self):
        """A line that came in several notes is one line; anything but a note of its unit ends it."""
        out = self.dump(
            es.start() + es.note(1, 0, b'0x1000:  ') + es.note(1, 0, b'') + es.note(1, 1, b'nop\n')
            + es.note(1, 2, b'a\nb') + es.note(2, 2, b'c') + es.execs(1, 0, [(1, 1, 2)])
            + es.note(1, 2, b'd') + es.event(1, 1, 'x', 'y', 1) + es.note(1, 2, b'end')).stdout
        self.assertEqual(out, 'guest arch=x86_64 64bit\n0x1000:  nop\na\nb\nc\nE1 1 2\nd\nEV 1 1 x.y 1\n'
                         'end\n')

    def test_many(self):
        """Numbers of every length, over the borders of the output's buffer."""
        rng = random.Random(1)
        entries = [(1, *(rng.getrandbits(rng.randrange(65)) for _ in range(2)))
                   for _ in range(40000)]
        lines = [f'E1 {a:x} {b:x}' for _, a, b in entries]
        self.assertEqual(self.dump(es.start() + es.execs(1, 0, entries)).stdout.split('\n')[1:],
                         lines + [''])

    def test_control_characters(self):
        done = self.dump(es.start() + es.note(0, 0, b'a\x1b[31m\x00\tb\x7f\n')
                         + es.event(0, 0, 'a\x1b', 'b\r', 1))
        self.assertEqual(done.stdout, 'guest arch=x86_64 64bit\na?[31m?\tb?\nEV 0 0 a?.b? 1\n')

    def test_long_note(self):
        text = b'x' * 600000 + b'\n'
        self.assertEqual(self.dump(es.start() + es.note(0, 0, text)).stdout.encode(),
                         b'guest arch=x86_64 64bit\n' + text)

    def test_chained(self):
        done = self.dump(es.info(attr=1) + es.arch())
        self.assertEqual(done.stderr, 'guesttrace dump: t.etrace: QEMU chained blocks: not every'
                         ' executed block is listed\n')

    def test_standard_input(self):
        done = subprocess.run([GUESTTRACE, 'dump', '-'], input=es.start(), check=True,
                              capture_output=True)
        self.assertEqual(done.stdout, b'guest arch=x86_64 64bit\n')

    def test_full_disk(self):
        self.write('t.etrace', es.start())
        with open('/dev/full', 'wb') as full:
            done = subprocess.run([GUESTTRACE, 'dump', self.path('t.etrace')], stdout=full,
                                  stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'No space left', done.stderr)


class Damage(DumpTest):
    def test_cut_at_every_byte(self):
        parts = [es.info(), es.arch(), es.execs(0, 0, [(1, 16, 32)]), es.note(0, 0, b'hello'),
                 es.event(0, 1, 'd', 'e', 2)]
        lines = [b'', b'guest arch=x86_64 64bit\n', b'E0 10 20\n', b'hello\n', b'EV 1 0 d.e 2\n']
        whole = b''.join(parts)
        borders, at = {}, 0
        for n, part in enumerate(parts):
            borders[at] = b''.join(lines[:n])
            at += len(part)
        borders[at - len(parts[-1]) - len(parts[-2]) - 8] = borders[at - len(parts[-1])
                                                                   - len(parts[-2])]
        shown = b''
        for cut in range(1, len(whole)):
            shown = borders.get(cut, shown)
            done = subprocess.run([GUESTTRACE, 'dump', '-'], input=whole[:cut],
                                  capture_output=True, check=False)
            self.assertEqual(done.stdout, shown, cut)
            self.assertEqual(done.returncode, 0 if cut in borders else 1, cut)
            if cut not in borders:
                offset = max(b for b in borders if b < cut)
                self.assertIn(f'standard input offset {offset}: truncated: the stream ends'
                              f' after {cut - offset} of the packet'.encode(), done.stderr)

    def test_too_long(self):
        done = self.dump(es.start() + es.note(0, 0, b'before') + b'\1\0\0\0\xff\xff\xff\xff',
                         status=1)
        self.assertEqual(done.stdout, 'guest arch=x86_64 64bit\nbefore\n')
        self.assertEqual(done.stderr, 'guesttrace dump: t.etrace offset 66: packet of type 0x1 has'
                         ' 4294967295 bytes, expected at most 2097152\n')

    def test_unknown_and_damaged(self):
        done = self.dump(es.start() + es.packet(0x999, 7, b'abc') + es.note(0, 0, b'between')
                         + es.packet(es.EXEC, 0, bytes(8 + 19)) + es.note(0, 0, b'after'),
                         status=1)
        self.assertEqual(done.stdout, 'guest arch=x86_64 64bit\nbetween\nafter\n')
        self.assertEqual(done.stderr.split('\n'), [
            'guesttrace dump: t.etrace offset 44: packet of unknown type 0x999 and 3 bytes: left'
            ' out',
            'guesttrace dump: t.etrace offset 78: EXEC packet of 27 bytes: expected 8 + n * 20'
            ' bytes: left out',
            'guesttrace dump: t.etrace: packets left out: 2', ''])

    def test_message_stands_where_the_packet_was(self):
        data = (es.start() + es.note(0, 0, b'before') + es.packet(0x999, 0, b'')
                + es.note(0, 0, b'after'))
        done = subprocess.run([GUESTTRACE, 'dump', '-'], input=data, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lines = done.stdout.decode().split('\n')
        self.assertEqual([lines[1], lines[3]], ['before', 'after'])
        self.assertIn('left out', lines[2])

    def test_many_damaged(self):
        done = self.dump(es.start() + es.packet(0x999, 0, b'') * 1000, status=1)
        self.assertEqual(len(done.stderr.split('\n')), 5 + 1 + 1)
        self.assertIn('t.etrace: packets left out: 1000', done.stderr)

    def test_no_stream(self):
        for data, text in ((b'', 't.etrace: empty, expected an etrace stream or an execlog log in binary form'),
                           (b'\x7fELF\2\1\1\0', 't.etrace: an ELF file, expected an etrace stream'
                            ' or an execlog log in binary form'),
                           (b'\x7f\x45\0\0' * 4, 't.etrace: not an etrace stream: it begins with a'
                            ' packet of type 0x457f, expected INFO, 0x4554')):
            done = self.dump(data, status=1)
            self.assertEqual(done.stderr, f'guesttrace dump: {text}\n')
        self.assertIn('x: cannot be opened: No such file', self.expect(1, 'dump', 'x').stderr)
        self.assertIn('.: a folder that is not a recording, expected a file', self.expect(1, 'dump', '.').stderr)

    def test_usage(self):
        for operands in ([], ['a', 'b']):
            done = self.expect(2, 'dump', *operands)
            self.assertIn('takes one stream: FILE, - or unix:PATH', done.stderr)


class Names(DumpTest):
    def setUp(self):
        super().setUp()
        need('gcc')
        self.write('p.S', b'.globl _start, second\n.type _start,%function\n_start:\n'
                   b' .skip 16\n.size _start,16\n .skip 16\n'
                   b'.type second,%function\nsecond: .skip 8\n.size second,8\n', mode=0o644)
        subprocess.run(['gcc', '-nostdlib', '-static', '-no-pie', '-Wl,-Ttext=0x401000',
                        '-Wl,--build-id=none', 'p.S', '-o', 'p.elf'], cwd=self.dir, check=True,
                       stderr=subprocess.DEVNULL)

    def names(self, addresses, *options):
        data = es.start() + b''.join(
            es.execs(0, i, [(1, a, (a + 4) % 2 ** 64) for a in addresses[i:i + 1000]])
            for i in range(0, len(addresses), 1000))
        return [' '.join(line.split()[3:]) for line in
                self.dump(data, *options).stdout.split('\n')[1:-1]]

    def test_names(self):
        base = 0x401000
        places = [base, base + 15, base + 16, base + 32, base + 39, base + 40, base - 1, 0,
                  2 ** 64 - 4096]
        expected = ['_start', '_start', '', 'second', 'second', '', '', '', '']
        self.assertEqual(self.names(places), [''] * 9)
        self.assertEqual(self.names(places, '--elf', 'p.elf'), expected)
        self.assertEqual(self.names(places * 2, '--elf', 'p.elf'), expected * 2)
        for offset in (0x1000, 2 ** 64 - 0x1000, 0xffffffc000000000):
            moved = [(p + offset) % 2 ** 64 for p in places]
            self.assertEqual(self.names(moved, '--elf', f'p.elf:{offset:#x}'), expected)

    def test_kallsyms(self):
        """A kernel's functions from a copy of the guest's list; its modules' as well."""
        self.write('kallsyms', b'ffff800008010000 T _stext\nffff800008010000 T first\n'
                   b'ffff800008010040 t second\nffff800008020000 T _etext\n'
                   b'ffff800001000000 t other\t[mod]\nffff800001000010 t last\t[mod]\n')
        places = [0xffff800008010000, 0xffff800008010044, 0xffff800001000004, 0x401000]
        self.assertEqual(self.names(places, '-e', 'kallsyms'), ['first', 'second', 'other', ''])
        moved = [p + 0x200000 for p in places]
        self.assertEqual(self.names(moved, '-e', 'kallsyms:0x200000')[:2], ['first', 'second'])

    def test_other_files(self):
        self.write('p.c', b'int f(void) { return 1; }', mode=0o644)
        subprocess.run(['gcc', '-c', 'p.c', '-o', 'p.o'], cwd=self.dir, check=True)
        self.write('image', bytes(range(256)) * 16)
        data = es.start() + es.execs(0, 0, [(1, 16, 32)])
        for name in 'p.o', 'image', 'p.c':
            done = self.dump(data, '-e', name, status=1)
            self.assertIn('guesttrace dump: ', done.stderr)
            self.assertIn(f'{name}:', done.stderr)
            self.assertEqual(done.stdout, '')

    def test_two_files(self):
        self.assertEqual(self.names([0x401000, 0x501020], '--elf', 'p.elf', '--elf',
                                    'p.elf:0x100000'), ['_start', 'second'])

    def test_more_addresses_than_are_kept(self):
        rng = random.Random(1)
        places = [0x401000 + i % 64 for i in range(0, 100)] + [rng.getrandbits(48)
                                                               for _ in range(100000)]
        names = self.names(places * 2, '--elf', 'p.elf')
        self.assertEqual(names[:64], (['_start'] * 16 + [''] * 16 + ['second'] * 8 + [''] * 24))
        self.assertEqual(names[len(places):], names[:len(places)])
        self.assertEqual(set(names[100:len(places)]), {''})

    def test_no_elf(self):
        self.write('x', b'text')
        self.assertIn('x: ', self.dump(es.start(), '--elf', 'x', status=1).stderr)


class Live(CliTest):
    """Nothing here waits for a time to pass: each step waits for the other side's."""

    def begin(self, where='unix:s', **more):
        return self.start(GUESTTRACE, 'dump', where, env=self.env, **more)

    def listen(self, name='s'):
        listener = sockets.listen(name, 1, self.dir)
        self.addCleanup(listener.close)
        return listener

    def connect(self, name='s'):
        writer = sockets.connect(self.path(name))
        self.addCleanup(writer.close)
        return writer

    def check_stream(self, reader, writer):
        """Each item is shown as soon as it is whole."""
        writer.sendall(es.start())
        self.assertEqual(reader.stdout.readline(), 'guest arch=x86_64 64bit\n')
        packet = es.note(0, 0, b'one\n')
        writer.sendall(packet + packet[:5])
        self.assertEqual(reader.stdout.readline(), 'one\n')
        writer.sendall(packet[5:])
        self.assertEqual(reader.stdout.readline(), 'one\n')

    def test_connects(self):
        listener = self.listen()
        reader = self.begin()
        writer, _ = listener.accept()
        self.check_stream(reader, writer)
        writer.close()
        self.assertEqual(reader.wait(60), 0, reader.stderr.read())

    def test_waits(self):
        reader = self.begin()
        self.assertEqual(reader.stderr.readline(),
                         'guesttrace dump: unix:s: waiting for a writer\n')
        writer = self.connect()
        self.check_stream(reader, writer)
        self.assertFalse(os.path.exists(self.path('s')))
        writer.sendall(b'\1\0\0')
        writer.close()
        self.assertEqual(reader.wait(60), 1)
        self.assertIn('truncated', reader.stderr.read())

    def test_takes_the_place_of_a_socket_without_listener(self):
        self.listen().close()
        reader = self.begin()
        self.assertIn('waiting', reader.stderr.readline())
        self.connect().close()
        self.assertEqual(reader.wait(60), 1)
        self.assertIn('unix:s: empty', reader.stderr.read())

    def test_killed_while_it_waits(self):
        reader = self.begin()
        self.assertIn('waiting', reader.stderr.readline())
        reader.send_signal(signal.SIGINT)
        self.assertEqual(reader.wait(60), -signal.SIGINT)
        self.assertFalse(os.path.exists(self.path('s')))

    def test_a_signal_that_is_ignored_stays_so(self):
        reader = self.begin(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertIn('waiting', reader.stderr.readline())
        reader.send_signal(signal.SIGHUP)
        writer = self.connect()
        self.check_stream(reader, writer)
        writer.close()
        self.assertEqual(reader.wait(60), 0)

    def test_paths(self):
        self.write('file', b'mine')
        self.assertIn('file: exists and is not a socket',
                      self.expect(1, 'dump', 'unix:file').stderr)
        self.assertEqual(self.read('file'), 'mine')
        self.assertIn("a socket's path has at most 107 bytes, this one has 108",
                      self.expect(1, 'dump', 'unix:' + 'x' * 108).stderr)
        self.assertIn("expected a socket's path", self.expect(1, 'dump', 'unix:').stderr)
        self.assertIn('cannot be listened at: No such file',
                      self.expect(1, 'dump', 'unix:no/s').stderr)
        self.listen('real')
        self.assertIn('real: is a socket: use unix:real', self.expect(1, 'dump', 'real').stderr)

    def test_longest_path(self):
        name = 'x' * 107
        listener = self.listen(name)
        reader = self.begin('unix:' + name)
        writer, _ = listener.accept()
        writer.sendall(es.start())
        writer.close()
        self.assertEqual(reader.wait(60), 0)


class Reader(DumpTest):
    def test_closed_pipe(self):
        """`dump | head` ends when head does."""
        self.write('t', es.start() + es.execs(0, 0, [(1, 16, 32)] * 100000) * 3)
        with subprocess.Popen([GUESTTRACE, 'dump', self.path('t')], stdout=subprocess.PIPE) as dump:
            dump.stdout.read(10)
            dump.stdout.close()
            self.assertEqual(dump.wait(60), -signal.SIGPIPE)


cases.main()
