#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings without a format or a name: what `record` writes, what it leaves alone, what readers take."""
import json
import os
import signal

from cli_case import DIRECTORY, GOOD_STATS, CliTest
from gttest import cases, compact
from gttest.cases import need
from gttest.paths import GUESTTRACE

SOURCE = '''
__attribute__((noinline)) static int leaf(int n) { __asm__ volatile(""); return n + 1; }
int main(void)
{
    int n = 0;
    for (int i = 0; i < 100; i++)
        n = leaf(n);
    return n == 100 ? 7 : 1;
}
'''
FILE, FOLDER = 'uftrace.gtrace', 'uftrace.data'


class Written(CliTest):
    """With the real plugin and QEMU."""

    def setUp(self):
        super().setUp()
        need('gcc')
        self.qemu = self.real_qemu('x86_64')
        self.write('p.c', SOURCE)
        self.must('gcc', '-O1', '-static', 'p.c', '-o', 'prog')
        self.before = self.listed()

    def listed(self):
        return {name: os.path.isdir(self.path(name)) or self.read_bytes(name) for name in os.listdir(self.dir)}

    def made(self):
        return sorted(set(self.listed()) - set(self.before))

    def record(self, *options, status=7):
        return self.expect(status, 'record', *options, '--qemu', self.qemu, './prog')

    def calls(self, name):
        done = self.expect(0, 'report', '--json', name)
        return next(row['calls'] for row in json.loads(done.stdout)['rows'] if row['function'] == 'leaf')

    def test_one_file(self):
        done = self.record()
        self.assertEqual(self.made(), [FILE])
        self.assertTrue(done.stderr.endswith(f'view it with: guesttrace view {FILE}\n'), done.stderr)
        data = self.read_bytes(FILE)
        self.assertTrue(compact.read(data).records)
        self.assertEqual(self.calls(FILE), 100)

    def test_any_name(self):
        for name in 'boot.data', 'x y':
            self.record('-o', name)
            self.assertTrue(os.path.isfile(self.path(name)), name)
            self.assertEqual(self.calls(name), 100)

    def test_directory(self):
        done = self.record(*DIRECTORY)
        self.assertEqual(self.made(), [FOLDER])
        self.check_recording()
        self.assertIn(f'view it with: uftrace replay -d {FOLDER}\n', done.stderr)

    def test_earlier_one_is_kept(self):
        for format_, name in ([], FILE), (DIRECTORY, FOLDER):
            self.record(*format_)
            info = self.expect(0, 'info', '--json', name).stdout
            self.record(*format_, '--depth', '1')
            self.assertNotEqual(self.expect(0, 'info', '--json', name).stdout, info)
            kept = self.expect(0, 'info', '--json', f'{name}.old').stdout
            self.assertEqual(kept.replace(f'{name}.old', name), info)
        self.assertEqual(self.made(), [FOLDER, f'{FOLDER}.old', FILE, f'{FILE}.old'])

    def test_earlier_one_is_not_taken_for_ours(self):
        self.record('-q')
        before = self.read_bytes(FILE)
        self.fake('qemu-x86_64')
        done = self.expect(125, 'record', './prog', do='exit=1')
        self.assertEqual(done.stderr, 'guesttrace record: nothing was recorded: QEMU ended before the plugin started\n')
        self.assertEqual((self.made(), self.read_bytes(FILE)), (['log', FILE], before))

    def refuse(self, *options, text):
        before = self.listed()
        done = self.record(*options, status=125)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        self.assertEqual(self.listed(), before)

    def test_what_is_in_the_way(self):
        """Files of others, and recordings of the other format; none is moved or changed."""
        self.record('-q', *DIRECTORY, '-o', 'there')
        self.record('-q', '-o', 'file')
        os.mkdir(self.path('empty'))
        self.write('note', 'mine')
        for name in 'there', 'empty':
            self.refuse('-o', name, text=f'{name}: is a directory, and the recording is one file: name another; or'
                        ' record a directory that uftrace reads, with --format uftrace\n')
            self.refuse('-o', name, '--last', '1M', text=f'{name}: is a directory, and the recording is one file:'
                        ' name another\n')
        self.refuse('-o', 'new/', text='new/: names a directory')
        self.refuse('-o', 'note', text='exists and is not a compact recording')
        self.refuse('-o', 'note', *DIRECTORY, text='exists and is not uftrace data')
        self.refuse('-o', 'file', *DIRECTORY, text='file: is a compact recording, and the new one is a directory:'
                    ' name another, or leave --format uftrace out\n')
        self.assertEqual(self.calls('file'), 100)
        self.check_recording('there')

    def test_options_of_files(self):
        for option in (['--last', '1M'], ['--split', '1M'], ['--size-limit', '1M']):
            self.record('-q', *option)
            self.assertEqual(self.calls(FILE), 100)
            done = self.record('-q', *option, *DIRECTORY, status=2)
            self.assertIn('leave --format out', done.stderr)


class Taken(CliTest):
    """Commands that read a recording, without its name."""

    def setUp(self):
        super().setUp()
        self.expect(0, 'record', '-q', *DIRECTORY, self.program(), do='record ' + GOOD_STATS)
        self.expect(0, 'export', '--format', 'compact', '-o', FILE)

    def age(self, name, seconds):
        """All of a recording was written that long ago."""
        path = self.path(name)
        inside = [os.path.join(path, n) for n in os.listdir(path)] if os.path.isdir(path) else []
        for p in path, *inside:
            os.utime(p, (1700000000 - seconds,) * 2)

    def taken(self, *options):
        """The recording, and what is said of it."""
        done = self.expect(0, 'info', *options)
        return done.stdout.split('\n')[0].split(' : ')[1], done.stderr

    def test_newer(self):
        for newer, older in (FILE, FOLDER), (FOLDER, FILE):
            self.age(newer, 5)
            self.age(older, 6)
            self.assertEqual(self.taken(), (newer, f'guesttrace info: {newer} is taken: it is newer than {older}\n'))
        self.age(FOLDER, 5)
        self.assertEqual(self.taken(FOLDER), (FOLDER, ''))
        self.assertEqual(self.taken(FILE), (FILE, ''))

    def test_text_files_count(self):
        """A directory is as new as its info; a file that is being recorded as that beside it."""
        self.age(FILE, 5)
        self.age(FOLDER, 6)
        os.utime(self.path(FOLDER, 'info'))
        self.assertEqual(self.taken()[0], FOLDER)
        self.age(FOLDER, 4)
        os.mkdir(self.path(FILE + '.parts'))
        self.write(FILE + '.parts/info', self.read_bytes(FOLDER, 'info'))
        done = self.run_cli('info')
        self.assertIn(f'{FILE} is taken: it is newer than {FOLDER}\n', done.stderr)

    def test_one(self):
        os.rename(self.path(FILE), self.path('other'))
        self.assertEqual(self.taken(), (FOLDER, ''))
        os.rename(self.path(FOLDER), self.path('elsewhere'))
        done = self.expect(2, 'info')
        self.assertEqual(done.stderr.split('\n')[0], 'guesttrace info: needs a recording: there is no uftrace.gtrace and no'
                         ' uftrace.data here')
        os.rename(self.path('other'), self.path(FILE))
        self.assertEqual(self.taken(), (FILE, ''))

    def test_each_command(self):
        """The same as with the name."""
        os.rename(self.path(FOLDER), self.path('elsewhere'))
        for command in (['report'], ['graph'], ['replay'], ['info'], ['export', '-f', 'folded', '-o', '-']):
            alone, named = self.expect(0, *command), self.expect(0, *command, FILE)
            self.assertEqual((alone.stdout, alone.stderr), (named.stdout, named.stderr))
            self.assertTrue(alone.stdout)
        for pages in (['a.html'], ['b.html', FILE]):
            self.expect(0, 'export', '-f', 'html', '-o', *pages)
        self.assertEqual(self.read_bytes('a.html'), self.read_bytes('b.html'))
        server = self.start(GUESTTRACE, 'view', '--no-browser', env=self.env)
        self.assertRegex(server.stdout.readline(), '^http://127.0.0.1:')
        server.send_signal(signal.SIGTERM)

    def test_conversions(self):
        """From the one to the other, however old they are."""
        for newer, older in (FILE, FOLDER), (FOLDER, FILE):
            self.age(newer, 5)
            self.age(older, 6)
            for form, out in ('uftrace', 'out.data'), ('compact', 'out.gtrace'):
                done = self.expect(0, 'export', '--format', form, '-o', out)
                self.assertEqual(done.stderr, '')
        self.check_recording('out.data')

    def test_symbols(self):
        """The recording that is named gets the names."""
        self.age(FILE, 5)
        self.age(FOLDER, 6)
        before = self.read_bytes(FOLDER, 'guest.sym')
        self.write('System.map', '0000000040000000 T first\n0000000040001000 T second\n0000000040020000 T _end\n')
        done = self.expect(0, 'symbols', 'System.map:0')
        self.assertIn(f'{FILE} is taken: ', done.stderr)
        self.assertIn('second', self.expect(0, 'report', FILE).stdout)
        self.assertEqual(self.read_bytes(FOLDER, 'guest.sym'), before)


cases.main()
