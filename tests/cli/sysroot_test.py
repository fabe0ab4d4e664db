#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`symbols --sysroot` and `record --sysroot`: names for a machine's processes."""
import glob
import json
import os
import random
import re
import shutil
import subprocess

from cli_case import DIRECTORY, GOOD_STATS
from gttest import cases, paths, recordings, uftrace, uftrace_check
from gttest.cases import need
from sysroot_machine import AT, GUEST, TEXT, Sysroot

QEMU = 'qemu-system-x86_64'
READERS = glob.glob(f'{paths.CACHE}/uftraces/*/uftrace')


class Processes(Sysroot):
    def two(self):
        one, two = self.build('root/one', 60, 1), self.build('root/two', 80, 2)
        self.build('root/never', 100, 4)
        self.build('root/never.so', 150, 5, '-shared')
        self.machine({1001: one.values(), 1002: list(two.values())[:40],
                      1003: list(two.values())[40:], 1004: [0x1234567]}, GUEST)
        return one, two

    def test_two_programs_at_one_address(self):
        one, two = self.two()
        done = self.symbols('--sysroot', 'root')
        self.assertEqual(self.ran(done), {'one': '1', 'two': '1'})
        self.names(1001, one)
        for tid in (1002, 1003):
            self.names(tid, two)
        self.assertEqual(self.trace.pid_of, {1: 1, 1001: 1001, 1002: 1002, 1003: 1002, 1004: 1})
        self.assertEqual([(pid, name) for _, pid, _, name in self.trace.sessions],
                         [(1, 'guest'), (1001, 'init'), (1002, 'sh')])
        self.assertEqual(self.name(1004, 0x1234567), '0x1234567')
        self.assertEqual(self.name(1, 0x1000), '0x1000')

    def test_readers(self):
        self.two()
        self.symbols('--sysroot', 'root')
        need('uftrace')
        for reader in [uftrace_check.reader(), *READERS]:
            uftrace_check.check_readers(self.out, False, reader)
            out = subprocess.run([reader, 'replay', '-d', self.out, '--no-pager', '-f', 'tid'],
                                 capture_output=True, text=True, check=True).stdout
            shown = dict(re.findall(r'\[ *(\d+)\] \| (\w+)_59\(', out))
            self.assertEqual(shown, {'1001': 'one', '1003': 'two'}, reader)

    def test_again(self):
        """The same once more; other files: nothing is left of the former ones."""
        one, _ = self.two()
        before = self.read('uftrace.data', 'task.txt')
        self.symbols('--sysroot', 'root')
        first = self.files()
        self.symbols('--sysroot', 'root')
        self.assertEqual(self.files(), first)
        self.assertEqual(self.read('uftrace.data', 'task.txt.recorded'), before)
        os.unlink(self.path('root', 'two'))
        self.symbols('--sysroot', 'root')
        self.names(1001, one)
        self.assertEqual(self.trace.pid_of[1003], 1)
        self.assertEqual(len(glob.glob(self.out + '/sid-*.map')), 2)

    def test_kernel(self):
        """Its names are in each session, whether they come before or after."""
        funcs = dict(zip((f'k{i}' for i in range(200)),
                         (TEXT + 16 * i * (i % 7 + 1) for i in range(1, 1000, 5))))
        funcs = dict(sorted(funcs.items(), key=lambda item: item[1]))
        lines = [f'{TEXT:016x} T _text', f'{TEXT:016x} T _stext']
        lines += [f'{addr:016x} t {what}' for what, addr in funcs.items()]
        self.write('System.map', '\n'.join([*lines, f'{TEXT + 0x40000:016x} T _etext\n']).encode())
        one = self.build('root/one')
        calls = [*one.values(), *(addr + 0x200000 for addr in funcs.values())]
        for arguments in ((('System.map', '--sysroot', 'root'),), (('System.map',), ('--sysroot', 'root')),
                          (('--sysroot', 'root'), ('System.map',))):
            self.machine({1001: calls, 1002: calls[60:]})
            for some in arguments:
                self.symbols(*some)
            self.names(1001, {**one, **{k: v + 0x200000 for k, v in funcs.items()}})
            self.names(1002, funcs, 0x200000)
            self.assertEqual(self.trace.pid_of, {1: 1, 1001: 1001, 1002: 1})

    def test_nameless(self):
        """What other tasks called in a file has its name in each session, too."""
        one = self.build('root/one', 60, 1)
        self.write('pad.s', b'.space 0x1000, 0x90\n')
        subprocess.run(['cc', '-nostdlib', '-c', 'pad.s'], check=True, cwd=self.dir)
        fw = self.build('fw', 60, 9, '-static', '-no-pie', '-Wl,-Ttext-segment=0x80000000',
                        self.path('pad.o'))
        before = min(fw.values()) - 0x800
        self.machine({1001: one.values(), 1002: [*fw.values(), before]})
        for arguments in (('--sysroot', 'root'), ('fw',)):
            self.symbols(*arguments)
        self.names(1001, one)
        self.names(1002, fw)
        self.assertRegex(self.name(1002, before), r'^fw\+0x')

    def test_exec(self):
        """A process that executed a program where another was has the names of each in its time, and
        what was open then keeps its own."""
        one, two = self.build('root/one', 60, 1), self.build('root/two', 80, 2)
        opened = {what: addr for what, addr in one.items() if addr not in two.values()}
        opened = dict(list(opened.items())[3:5])
        begins = 2 * len(one) + 1
        self.execs(lambda at: {
            1001: [*(-addr if addr in opened.values() else addr for addr in one.values()), at,
                   *two.values()]},
            '1001 7 7 sh\n1001 7 7 two\n')
        done = self.symbols('System.map', '--sysroot', 'root')
        self.assertEqual(self.ran(done), {'one': '1', 'two': '1'})
        self.assertNotIn('it is not known', done.stdout)
        self.names(1001, one, time=begins - 1)
        self.names(1001, two, time=begins)
        self.names(1001, opened)
        self.assertEqual([(pid, os.path.basename(name)) for _, pid, _, name in self.trace.sessions],
                         [(1, 'guest'), (1001, 'one'), (1001, 'two')])
        need('uftrace')
        for reader in [uftrace_check.reader(), *READERS]:
            uftrace_check.check_readers(self.out, False, reader)
            out = subprocess.run([reader, 'report', '-d', self.out, '--no-pager', '--tid', '1001'],
                                 capture_output=True, text=True, check=True).stdout
            shown = {line.split()[-1]: line.split()[-2] for line in out.splitlines()[2:]}
            self.assertEqual(shown, {what: '1' for what in
                                     ['begin_new_exec', *one, *two]}, reader)

    def test_exec_of_another(self):
        """A program that is in no file has not the names of what was in its place."""
        one, two = self.build('root/one', 60, 1), self.build('two', 80, 2)
        self.execs(lambda at: {1001: [*one.values(), at, *two.values()]})
        self.symbols('System.map', '--sysroot', 'root')
        self.names(1001, one, time=2 * len(one))
        for addr in two.values():
            self.assertEqual(self.name(1001, addr), f'{addr:#x}')
        uftrace_check.check_readers(self.out, False)

    def test_exec_elsewhere(self):
        """Where nothing is across another, a process stays one session."""
        one = self.build('root/one', 60, 1)
        lib = self.build('root/libx.so', 200, 3, '-shared')
        here, there = 0x7f1122334000, 0x7fee00010000
        self.execs(lambda at: {1001: [
            *one.values(), *(addr + here for addr in lib.values()), at,
            *one.values(), *(addr + there for addr in lib.values())]})
        self.symbols('System.map', '--sysroot', 'root')
        self.assertEqual([pid for _, pid, _, _ in self.trace.sessions], [1, 1001])
        for offset in (here, there):
            self.names(1001, lib, offset)
        self.names(1001, one)

    def test_exec_of_a_thread(self):
        """What other threads of the process had open ends in the session in which it began."""
        one, two = self.build('root/one', 60, 1), self.build('root/two', 80, 2)
        first, second = list(one.values()), list(two.values())
        self.execs(lambda at: {1001: [*first, at, *second], 1002: [-first[3], *first]},
                   '1001 7 7 two\n1002 8 7 sh\n')
        self.symbols('System.map', '--sysroot', 'root')
        lines = [line for line in self.read('uftrace.data', 'task.txt').splitlines() if 'tid=1001 ' in line]
        self.assertEqual(len(lines), 2)
        self.assertEqual(sum('tid=1002 ' in line for line in self.read('uftrace.data', 'task.txt').splitlines()), 1)

    def test_not_known(self):
        """What the recording does not say is told in one line."""
        one, two = self.build('root/one', 60, 1), self.build('root/two', 80, 2)
        tasks = {1001: [*one.values(), *two.values()]}
        self.machine(tasks)
        self.assertIn('it is not known which tasks are one process: each is taken for one; nor when a'
                      ' process executed another program: ', self.symbols('--sysroot', 'root').stdout)
        self.names(1001, two)
        self.machine(tasks, '1001 7 7 two\n')
        self.assertIn('it is not known when a process executed another program: ',
                      self.symbols('--sysroot', 'root').stdout)
        self.execs(lambda at: tasks)
        self.assertIn('it is not known which tasks are one process: each is taken for one\n',
                      self.symbols('System.map', '--sysroot', 'root').stdout)

    def test_same_addresses(self):
        """Of two that fit equally well the one that is called as the process is, or none, and nothing
        else instead; two that give the same names are one."""
        one = self.build('root/one', 60, 1)
        self.build('root/two', 60, 1)
        worse = self.build('root/worse', 50, 1)
        self.machine({1001: [*one.values(), 0x9999999], 1002: one.values(), 1003: worse.values()},
                     '1001 7 7 sh\n1001 7 7 two\n1003 8 8 worse\n')
        done = self.symbols('--sysroot', 'root')
        self.assertEqual(self.ran(done), {'two': '1', 'worse': '1'})
        self.assertRegex(done.stdout, r'(?m)^/.*/root/one and /.*/root/two fit equally well: neither')
        self.names(1001, {what.replace('one', 'two'): addr for what, addr in one.items()})
        self.names(1003, worse)
        self.assertEqual(self.trace.pid_of[1002], 1)
        shutil.copy(self.path('root/one'), self.path('root/two'))
        done = self.symbols('--sysroot', 'root')
        self.assertNotIn('equally', done.stdout)
        self.names(1002, one)

    def test_library(self):
        """It is where each process has it; a page that the other one ran first has that one's
        addresses."""
        lib = self.build('root/lib/libx.so', 200, 3, '-shared')
        one, two = self.build('root/one', 60, 1), self.build('root/two', 80, 2)
        here, there = 0x7f1122334000, 0x7fee00010000
        few = {what: lib[what] for what in ('libx_190', 'libx_191', 'libx_192')}
        some = {what: addr for what, addr in lib.items() if what not in few}
        self.machine({1001: [*one.values(), *(addr + here for addr in lib.values())],
                      1002: [*two.values(), *(addr + there for addr in some.values()),
                             *(addr + here for addr in few.values())]})
        self.assertEqual(self.ran(self.symbols('--sysroot', 'root')),
                         {'one': '1', 'two': '1', 'lib/libx.so': '2'})
        self.names(1001, {**one, **{what: addr + here for what, addr in lib.items()}})
        self.names(1002, {**two, **{what: addr + there for what, addr in some.items()},
                          **{what: addr + here for what, addr in few.items()}})
        module = self.trace.name(1002, 1, few['libx_191'] + here)[0]
        self.assertRegex(module, r'/root/lib/libx\.so@0x7f11\w+$')

    def test_stripped(self):
        """What the file still exports is named, the rest by its place; made-up names elsewhere."""
        lib = self.build('root/libx.so', 200, 3, '-shared')
        subprocess.run(['strip', self.path('root', 'libx.so')], check=True)
        more = max(lib.values()) + 0x10000
        self.machine({1001: [*(addr + AT for addr in lib.values()), lib['libx_5'] - 1 + AT,
                             more + AT]})
        self.symbols('--sysroot', 'root', '--prefix-symbols')
        self.names(1001, {'libx.so:' + what: addr for what, addr in lib.items()}, AT)
        self.assertEqual(self.name(1001, more + AT), f'{more + AT:#x}')

    def test_alone(self):
        """Without the guest's own list a task is a process; also the one that has the number of the
        recording's session."""
        one, two = self.build('root/one', 60, 1), self.build('root/two', 80, 2)
        self.machine({1: one.values(), 1001: two.values(), 1002: [0x5000]})
        self.symbols('--sysroot', 'root')
        self.names(1, one)
        self.names(1001, two)
        self.assertEqual(self.trace.pid_of, {1: 1003, 1001: 1001, 1002: 1})


class Compact(Sysroot):
    """A compact file gets the names that a directory gets."""

    def both(self, *arguments, status=0):
        """What `symbols` prints of the directory and of the file, without which of them it is."""
        said = []
        for what in 'uftrace.data', 'a.gtrace':
            done = self.expect(status, 'symbols', '--dir', what, *arguments)
            said.append((done.stdout + done.stderr).replace(self.path(what), what).replace(what, 'WHAT'))
        self.assertEqual(said[0], said[1])
        return said[0]

    def same(self):
        """The file has the directory's files, and no others; of symbols those of functions that ran."""
        shutil.rmtree(self.path('back'), ignore_errors=True)
        self.expect(0, 'export', '-f', 'uftrace', '-o', 'back', 'a.gtrace')
        wanted = self.files()
        got = {name: self.read_bytes('back', name) for name in os.listdir(self.path('back'))}
        self.assertEqual(sorted(wanted), sorted(got))
        for name, data in wanted.items():
            if not name.endswith('.sym'):
                self.assertEqual(data, got[name], name)
        self.assertEqual(recordings.called(self.out), recordings.called(self.path('back')))
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith('a.gtrace')], ['a.gtrace'])

    def test_names(self):
        one, two = self.build('root/one', 60, 1), self.build('root/two', 80, 2)
        self.execs(lambda at: {1001: [*one.values(), at, *two.values()], 1002: [*two.values(), -0x5000]},
                   '1001 7 7 sh\n1001 7 7 two\n1002 8 8 two\n')
        self.expect(0, 'export', '-f', 'compact', '-o', 'a.gtrace', 'uftrace.data')
        said = self.both('System.map', '--sysroot', 'root')
        self.assertRegex(said, r'(?m)/root/two: ran in 2 processes$')
        self.same()
        self.out = self.path('back')
        self.trace = uftrace.Trace(self.out)
        self.names(1001, one, time=2 * len(one))
        self.names(1002, two)
        self.out = self.path('uftrace.data')
        rows = json.loads(self.expect(0, 'report', '--json', 'a.gtrace').stdout)['rows']
        self.assertTrue({*one, *two} <= {row['function'] for row in rows})
        self.both('System.map', '--sysroot', 'root')
        self.same()
        os.unlink(self.path('root', 'one'))
        self.both('--sysroot', 'root')
        self.same()

    def test_refused(self):
        one = self.build('root/one')
        self.build('other/two', 80, 2)
        self.machine({1001: one.values()})
        self.expect(0, 'export', '-f', 'compact', '-o', 'a.gtrace', 'uftrace.data')
        before = self.read_bytes('a.gtrace')
        self.assertIn('none of its 1 programs and libraries ran in', self.both('-L', 'other', status=1))
        self.assertEqual(self.read_bytes('a.gtrace'), before)
        self.same()


class Folder(Sysroot):
    def test_hostile(self):
        one = self.build('root/one')
        self.build('outside/two', 80, 2)
        two = self.build('root/deep/two', 80, 2)
        os.unlink(self.path('root/deep/two'))
        os.symlink('..', self.path('root/deep/loop'))
        os.symlink('self', self.path('root/self'))
        os.symlink('../outside', self.path('root/out'))
        os.symlink('../../outside/two', self.path('root/deep/two'))
        os.symlink('/proc/self/exe', self.path('root/exe'))
        os.link(self.path('root/one'), self.path('root/same'))
        os.mkfifo(self.path('root/fifo'))
        self.write('root/cut', b'\x7fELF\2\1\1' + bytes(9) + b'\2\0' + bytes(100))
        self.write('root/secret', b'\x7fELF', 0)
        self.write('root/text:0x10', b'hello')
        os.mkdir(self.path('root/closed'), 0)
        self.addCleanup(os.chmod, self.path('root/closed'), 0o700)  # only root removes it as it is
        self.machine({1001: one.values(), 1002: two.values()})
        self.assertEqual(self.ran(self.symbols('--sysroot', 'root')), {'one': '1'})
        self.names(1001, one)
        self.assertEqual(self.trace.pid_of[1002], 1)
        os.symlink('root', self.path('link'))
        self.symbols('-L', 'link')
        self.names(1001, one)

    def refuse(self, text, *arguments):
        before = self.files()
        done = self.expect(1, 'symbols', *arguments)
        self.assertIn(text, done.stderr)
        self.assertEqual(self.files(), before)

    def test_refused(self):
        one = self.build('root/one')
        self.build('other/two', 80, 2)
        self.machine({1001: one.values()})
        self.refuse('none of its 1 programs and libraries ran in', '-L', 'other')
        self.refuse('nosuch: No such file or directory', '-L', 'nosuch')
        self.refuse('root/one: Not a directory', '-L', 'root/one')
        os.mkdir(self.path('empty'))
        self.expect(1, 'symbols', '--dir', 'empty', '--sysroot', 'root')
        self.put('task.txt', self.read('uftrace.data', 'task.txt') +
                 'FORK timestamp=0.000000009 pid=1009 ppid=1\n')
        self.refuse('--sysroot needs the recording of a machine', '--sysroot', 'root')
        self.put('task.txt', 'SESS hello\n')
        self.refuse('task.txt line 1', '--sysroot', 'root')

    def test_too_little(self):
        """Three functions may be there by chance; and elsewhere most of it is another's."""
        one = list(self.build('root/one', 200).values())
        chance = random.Random(5)
        self.machine({1001: one[:3], 1002: one[:9] + [AT + 0x1000 + 4 * chance.randrange(10000) + 1
                                                      for _ in range(60)]})
        self.refuse('none of its', '--sysroot', 'root')


class Record(Sysroot):
    def test_record(self):
        one = self.build('root/one')
        self.fake(QEMU)
        self.write('machine', json.dumps({'entries': list(one.values())}).encode())
        done = self.expect(0, 'record', *DIRECTORY, '--sysroot', 'root', '--', QEMU,
                           do=f'machine=machine {GOOD_STATS}')
        self.assertRegex(done.stderr, r'record: /.*/root/one: ran in 1 process\n')
        os.unlink(os.path.join(self.out, 'guesttrace.stats'))  # fake_qemu.py's is no real one
        self.trace = uftrace.Trace(self.out)
        self.names(1, one)
        self.assertNotIn('-L', self.started()[0])

    def test_no_folder(self):
        self.fake(QEMU)
        done = self.expect(125, 'record', '--sysroot', 'nosuch', '--', QEMU)
        self.assertIn('nosuch: no such folder', done.stderr)
        self.assertFalse(os.path.exists(self.log), 'QEMU was started all the same')

    def test_nothing_fits(self):
        self.build('root/one')
        self.fake(QEMU)
        self.write('machine', json.dumps({'entries': [0x1234]}).encode())
        done = self.expect(0, 'record', *DIRECTORY, '--sysroot', 'root', '--', QEMU,
                           do=f'machine=machine {GOOD_STATS}')
        self.assertIn('no symbols of processes: ', done.stderr)


cases.main()
