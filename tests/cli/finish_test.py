#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `record` says and does when QEMU has ended, and `repair`."""
import os
import signal
import struct
import subprocess

from cli_case import DIRECTORY, GOOD_STATS, CliTest
from gttest import cases
from gttest.cases import need
from gttest.paths import GUESTTRACE



class Finish(CliTest):
    def record(self, status, do, *options, output='uftrace.data'):
        done = self.expect(status, 'record', *DIRECTORY, '-o', output, *options, self.program(), do=do)
        self.assertEqual(done.stdout, '')
        return [line.removeprefix('guesttrace record: ')
                for line in done.stderr.strip().split('\n') if line]

    def check_whole(self, name='uftrace.data'):
        self.check_recording(name)


class Summary(Finish):
    def test_exact(self):
        lines = self.record(0, 'record ' + GOOD_STATS)
        self.assertRegex(lines[0], r'^1,234,567 calls in 1 task, 197 MB, \d+\.\d s$')
        self.assertEqual(lines[1:], [
            'all 1,234,560 returns matched their calls',
            'view it with: uftrace replay -d uftrace.data'])

    def test_removed(self):
        """It was made: the plugin was loaded. The program's status stays, but for 0."""
        for status, want in (0, 125), (5, 5):
            lines = self.record(want, f'record {GOOD_STATS} remove exit={status}')
            self.assertEqual(lines, ['nothing is left: uftrace.data was removed while it was recorded'])

    def test_others(self):
        """Calls that ended without a return are counted, too."""
        lines = self.record(0, f'record {GOOD_STATS},calls_tracked:1234567')
        self.assertEqual(lines[2], 'the other 7 calls ended without a return of their own: by a jump to another function, '
                                   'by unwinding, or with their task\'s records')

    def test_others_with_anomalies(self):
        lines = self.record(0, f'record {GOOD_STATS},calls_tracked:1234567,anomaly.unknown-return:1')
        self.assertEqual(lines[1:3], ['1,234,560 returns matched their calls, 1 anomalies: 99.99 % matched',
                                      'the other 7 calls ended without a return of their own: by a jump to another function, '
                                      "by unwinding, at an anomaly, or with their task's records"])
        self.assertRegex(lines[3], '^anomaly: 1 unknown-return: .+')

    def test_anomalies(self):
        lines = self.record(0, f'record {GOOD_STATS},anomaly.unknown-return:1,count.unwound:2000,'
                            'anomaly.diverted-call:0,anomaly.new-kind:3')
        self.assertEqual(lines[1], '1,234,560 returns matched their calls, 4 anomalies: 99.99 % matched')
        self.assertRegex(lines[2], '^anomaly: 1 unknown-return: .+')
        self.assertEqual(lines[3], 'anomaly: 3 new-kind')
        self.assertRegex(lines[4], '^count: 2,000 unwound: .+')
        self.assertEqual(len(lines), 6)

    def test_losses(self):
        for quiet in ([], ['-q']):
            lines = self.record(0, f'record {GOOD_STATS},error:x.dat:full,lost_records:1234', *quiet)
            self.assertEqual(lines[:2], ['the recording is incomplete: x.dat:full',
                                         '1,234 records were lost; the trace says where'
                                         ' (guesttrace:lost)'])
            self.assertEqual(len(lines), 2 if quiet else 5)

    def test_standard_streams(self):
        """Closed, or read by nobody: the guest goes on, and its status is ours."""
        command = [GUESTTRACE, 'record', *DIRECTORY, '-o', self.path('uftrace.data'), self.program()]
        env = dict(self.env, FAKE_DO='record ' + GOOD_STATS + ' exit=3')
        for closed in ('>&-', '2>&-', '<&-', '>&- 2>&- <&-'):
            done = subprocess.run(['sh', '-c', f'exec "$@" {closed}', 'sh', *command], env=env, capture_output=True,
                                  check=False)
            self.assertEqual(done.returncode, 3, (closed, done.stderr))
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(command, env=env, stderr=writer, check=False)
        os.close(writer)
        self.assertEqual(done.returncode, 3)
        # What is to be written there and cannot is an error.
        done = subprocess.run(['sh', '-c', 'exec "$@" >&-', 'sh', GUESTTRACE, 'info', self.path('uftrace.data')],
                              env=self.env, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'standard output', done.stderr)

    def test_code_map_left(self):
        """What a `record` that was killed has left beside the recording belongs into it."""
        self.record(0, 'record ' + GOOD_STATS)
        self.write('uftrace.data.code.map', b'# guesttrace code: 1\n')
        self.expect(0, 'repair', self.path('uftrace.data'))
        self.assertFalse(os.path.exists(self.path('uftrace.data.code.map')))
        self.assertTrue(os.path.exists(self.path('uftrace.data', 'code.map')))

    def test_nothing_to_see(self):
        """What the plugin could not write it has said itself; nobody is sent to look at it."""
        self.assertEqual(self.record(3, 'full exit=3', output='full.data'), [])
        self.assertEqual(self.record(3, 'record stats=calls:9,records:0,bytes:0,lost_records:18,'
                                     'error:x.dat:full exit=3'),
                         ['the recording is incomplete: x.dat:full',
                          '18 records were lost; the trace says where (guesttrace:lost)'])
        self.assertEqual(self.record(0, 'record stats=calls:0,records:0,bytes:0'),
                         ['nothing was recorded: the guest made no calls'])

    def test_quiet(self):
        self.assertEqual(self.record(4, f'record {GOOD_STATS} exit=4', '-q'), [])

    def test_hostile_stats(self):
        lines = self.record(0, 'record stats=calls:99999999999999999999999,tasks:-1,anomaly.x:1e9,'
                            'bytes:0x10,matched:,=:=')
        self.assertRegex(lines[0], '^0 calls in 0 tasks, 16 B')

    def test_what_to_type_can_be_pasted(self):
        lines = self.record(0, 'record ' + GOOD_STATS, output="it's $HOME")
        self.assertEqual(lines[-1], "view it with: uftrace replay -d 'it'\\''s $HOME'")
        os.mkdir(self.path('a'))
        lines = self.record(0, 'record ' + GOOD_STATS, output='a/b_c-1.2,x=3')
        self.assertEqual(lines[-1], 'view it with: uftrace replay -d a/b_c-1.2,x=3')


class Broken(Finish):
    def test_killed(self):
        lines = self.record(-signal.SIGKILL, 'partial kill=KILL')
        self.assertEqual(lines, [
            'the program was killed (Killed); the recording was completed: 1 task file, 7 records: 7'
            ' bytes of incomplete records cut off, 1 running functions ended',
            'view it with: uftrace replay -d uftrace.data'])
        self.check_whole()

    def test_killed_but_whole(self):
        """The plugin finished: nothing to tell but the summary."""
        lines = self.record(-signal.SIGTERM, f'record {GOOD_STATS} kill=TERM')
        self.assertRegex(lines[0], '^1,234,567 calls')

    def test_unfinished(self):
        lines = self.record(1, 'partial exit=1', '-q')
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], '^the plugin did not finish; the recording was completed: ')
        self.check_whole()

    def test_not_loaded(self):
        self.assertEqual(self.record(125, 'exit=1'),
                         ['nothing was recorded: QEMU ended before the plugin started'])
        self.assertRegex(self.record(0, 'exit=0')[0],
                         r'^nothing was recorded: the plugin was not loaded \(does .*/qemu-x86_64'
                         r' pass its arguments on to QEMU\?\)$')

    def test_an_earlier_recording_is_not_taken_for_ours(self):
        self.record(0, 'record ' + GOOD_STATS)
        before = {name: self.read_bytes(name) for name in os.listdir(self.path('uftrace.data'))}
        self.assertEqual(self.record(125, 'exit=1'),
                         ['nothing was recorded: QEMU ended before the plugin started'])
        self.assertEqual(before, {name: self.read_bytes(name)
                                  for name in os.listdir(self.path('uftrace.data'))})

    def test_stale_stats_are_not_taken_for_ours(self):
        self.record(0, 'record ' + GOOD_STATS)
        lines = self.record(0, 'partial')
        self.assertRegex(lines[0], '^the plugin did not finish')

    def test_damaged(self):
        lines = self.record(0, 'partial')
        with open(self.path('uftrace.data/1.dat'), 'r+b') as f:
            f.write(struct.pack('<QQ', 1, 0))
        done = self.expect(1, 'repair', 'uftrace.data')
        self.assertIn('1.dat', done.stderr)
        self.assertTrue(lines)

    def read_bytes(self, name):
        with open(self.path('uftrace.data', name), 'rb') as f:
            return f.read()


class Repair(Finish):
    def test_repair(self):
        self.expect(0, 'record', '-q', *DIRECTORY, self.program(), do='record ' + GOOD_STATS)
        with open(self.path('uftrace.data/1.dat'), 'r+b') as f:
            f.truncate(3 * 16 + 5)
        done = self.expect(0, 'repair', 'uftrace.data')
        self.assertEqual(done.stdout, 'uftrace.data: 1 task file, 3 records: 5 bytes of incomplete'
                         ' records cut off, 3 running functions ended\n')
        self.check_whole()
        done = self.expect(0, 'repair', 'uftrace.data', 'uftrace.data')
        self.assertEqual(done.stdout, 2 * 'uftrace.data: 1 task file, 6 records, nothing to repair\n')
        need('uftrace')
        shown = subprocess.run(['uftrace', 'replay', '-d', self.path('uftrace.data'), '-F', '.'],
                               capture_output=True, text=True, check=False)
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def test_half_written(self):
        """Files that a killed process was writing go, and nothing is said about them."""
        self.expect(0, 'record', '-q', *DIRECTORY, self.program(), do='record ' + GOOD_STATS)
        self.expect(0, 'repair', 'uftrace.data')
        names = os.listdir(self.path('uftrace.data'))
        with subprocess.Popen(['true']) as dead:
            dead.wait()
        mine = f'.info.{os.getpid()}.0.tmp'
        self.write(f'uftrace.data/.task.txt.{dead.pid}.0.tmp', b'half')
        self.write(f'uftrace.data/{mine}', b'half')
        done = self.expect(0, 'repair', 'uftrace.data')
        self.assertRegex(done.stdout, '^uftrace.data: .*, nothing to repair\n$')
        self.assertEqual(sorted(os.listdir(self.path('uftrace.data'))), sorted([*names, mine]))

    def test_no_directory(self):
        done = self.expect(1, 'repair', 'nowhere')
        self.assertRegex(done.stderr, '^guesttrace repair: .*nowhere: no such directory')
        self.write('text', b'')
        self.expect(1, 'repair', 'text')
        os.mkdir(self.path('empty'))
        self.expect(1, 'repair', 'empty')


cases.main()
