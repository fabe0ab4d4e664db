#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `record` makes of its command line: which QEMU, with which arguments, or why not."""
import json
import os
import shutil
import subprocess

from cli_case import AARCH64, DIRECTORY, I860, PPC64, RISCV, SLICES, VARIABLE, X86_64, CliTest, make_elf
from gttest import cases, paths
from gttest.paths import GUESTTRACE
from gttest.results import skip


class Program(CliTest):
    def plugin(self, more='', output=None):
        return (f'file={self.path("plugins/libuftrace.so")},output='
                f'{output or self.path("uftrace.data")},summary=off{more},follow-exec=on')

    def record(self, *arguments, **more):
        self.expect(0, 'record', '-q', *DIRECTORY, *arguments, do='record stats=tool:uftrace', **more)
        return self.started()

    def test_arguments(self):
        prog = self.program()
        argv, env = self.record('./prog', '-o', 'x y', '--', '')
        self.assertEqual(argv, ['-plugin', self.plugin(), '-U', VARIABLE, '-U', SLICES, './prog', '-o', 'x y',
                                '--', ''])
        self.assertEqual(env[VARIABLE], '9.1.2')
        self.assertEqual(env[SLICES], 'always-malloc')
        self.assertEqual(self.record('--', prog)[0][-1], prog)

    def test_plugin_options(self):
        self.program()
        argv, _ = self.record('--clock', 'insn', '--depth=0x10', '--no-tail-calls',
                              '--tasks=cpu', '--max-tasks', '9', '--privilege-levels', './prog')
        self.assertEqual(argv[1], self.plugin(
            ',clock=insn,depth=16,tasks=cpu,max-tasks=9,tail-calls=off,trace-privilege-level=on'))

    def test_output(self):
        self.program()
        for option in (['-o', 'out'], ['-oout'], ['--output=out'], ['-o', 'x', '--output', 'out']):
            self.assertEqual(self.record(*option, './prog')[0][1],
                             self.plugin(output=self.path('out')))
        self.assertTrue(os.path.exists(self.path('out/info')))

    def test_commas_are_doubled(self):
        self.program()
        os.rename(self.path('plugins'), self.path('plug,,ins'))
        argv, _ = self.record('-o', 'a,b=c,,d,', './prog',
                              env={'GUESTTRACE_PLUGIN_DIR': 'plug,,ins'})
        self.assertTrue(argv[1].startswith(
            f'file={self.dir}/plug,,,,ins/libuftrace.so,output={self.dir}/a,,b=c,,,,d,,,summary='),
            argv[1])
        self.assertTrue(os.path.exists(self.path('a,b=c,,d,/info')), 'not what QEMU reads of it')

    def test_machines(self):
        for machine, name in ((AARCH64, 'aarch64'), (RISCV, 'riscv64')):
            self.fake('qemu-' + name)
            self.program(machine=machine)
            self.assertEqual(self.record('./prog')[0][-1], './prog')
            with open(self.log, encoding='utf-8') as f:
                self.assertTrue(json.loads(f.readlines()[-1])['argv'][0]
                                .endswith('qemu-' + name))

    def test_path_search(self):
        """As the shell does it, and the program sees the name that was typed."""
        self.program('bin/tool')
        self.assertEqual(self.record('tool', 'x')[0][6:],
                         ['-0', 'tool', self.path('bin/tool'), 'x'])
        os.chmod(self.path('bin/tool'), 0o644)
        done = self.expect(127, 'record', 'tool')
        self.assertIn("no program 'tool' in PATH\n", done.stderr)

    def test_sysroot(self):
        self.fake('qemu-aarch64')
        self.program(machine=AARCH64, interpreter='/lib/ld-linux-aarch64.so.1')
        argv, _ = self.record('--sysroot', '/my root', './prog')
        self.assertEqual(argv[6:], ['-L', '/my root', './prog'])
        argv, _ = self.record('./prog', env={'QEMU_LD_PREFIX': '/x'})
        self.assertEqual(argv[6:], ['./prog'])
        argv, _ = self.record('./prog')
        if not os.path.exists('/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1'):
            skip('no /usr/aarch64-linux-gnu')
        elif not os.path.exists('/lib/ld-linux-aarch64.so.1'):
            self.assertEqual(argv[6:], ['-L', '/usr/aarch64-linux-gnu', './prog'])
        self.program(machine=AARCH64, interpreter='/nowhere/ld.so')
        self.assertEqual(self.record('./prog')[0][6:], ['./prog'])

    def test_version(self):
        self.program()
        for text, expected in (('QEMU emulator version 11.1.3 (Debian)', '11.1.3'),
                               ('qemu-x86_64 version 7.2', '7.2.0'), ('no idea', None)):
            _, env = self.record('./prog', env={'FAKE_VERSION': text, VARIABLE: 'stale'})
            self.assertEqual(env.get(VARIABLE), expected)

    def test_qemu_option(self):
        self.program()
        self.fake('qemu-mine', self.path('other'))
        self.fake('my-emulator', self.path('other'))
        for name in ('qemu-mine', 'my-emulator'):
            argv, _ = self.record('--qemu', 'other/' + name, './prog')
            self.assertEqual(argv[2:], ['-U', VARIABLE, '-U', SLICES, './prog'])

    def test_plugin_places(self):
        self.program()
        self.write('mine.so', b'')
        self.assertTrue(self.record('--plugin', 'mine.so', './prog')[0][1].startswith(
            f'file={self.dir}/mine.so,'))
        done = self.expect(125, 'record', '--plugin', 'no.so', './prog')
        self.assertIn(f'no plugin {self.dir}/no.so (--plugin)', done.stderr)
        done = self.expect(125, 'record', './prog', env={'GUESTTRACE_PLUGIN_DIR': '/nowhere'})
        self.assertIn('no plugin /nowhere/libuftrace.so (GUESTTRACE_PLUGIN_DIR)', done.stderr)

    def test_plugin_beside_the_executable(self):
        """In a build folder, and where it is installed."""
        self.program()
        del self.env['GUESTTRACE_PLUGIN_DIR']
        for place in ('usr/bin/plugins', 'usr/lib/guesttrace/plugins'):
            exe = self.path('usr/bin/guesttrace')
            os.makedirs(self.path('usr/bin'), exist_ok=True)
            shutil.copy(GUESTTRACE, exe)
            done = subprocess.run([exe, 'record', './prog'], env=self.env, cwd=self.dir, text=True,
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn('no libuftrace.so in ', done.stderr)
            plugin = self.write(place + '/libuftrace.so', b'')
            subprocess.run([exe, 'record', '-q', *DIRECTORY, './prog'], env=dict(self.env, FAKE_DO='record'),
                           cwd=self.dir, check=True, capture_output=True)
            self.assertTrue(self.started()[0][1].startswith(f'file={plugin},'))
            os.unlink(plugin)


class Refused(CliTest):
    def refuse(self, status, text, *arguments, **more):
        done = self.expect(status, 'record', *arguments, **more)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        self.assertFalse(os.path.exists(self.log), 'QEMU was started')

    def test_no_program(self):
        self.refuse(127, "no program 'nosuch' in PATH\n", 'nosuch')
        self.refuse(127, './nosuch: No such file or directory', './nosuch')
        self.program()
        self.refuse(127, "no program 'prog' in PATH (did you mean ./prog?)", 'prog')

    def test_no_elf(self):
        self.write('text', b'hello')
        self.refuse(126, './text is not an ELF program', './text')
        self.write('empty', b'')
        self.refuse(126, './empty is not an ELF program', './empty')
        self.refuse(126, 'plugins/ is a directory', 'plugins/')
        os.mkfifo(self.path('fifo'))
        self.refuse(126, './fifo', './fifo')
        self.program('object', kind=1)
        self.refuse(126, './object is an ELF file but not a program (type 1)', './object')

    def test_script(self):
        self.write('script', b'#! /bin/sh -e\nexit 1\n')
        self.refuse(126, './script is a script, not an ELF program; its interpreter can be'
                    ' recorded: guesttrace record /bin/sh -e ./script', './script')

    def test_cut_elf(self):
        """Cut anywhere, an ELF file is refused and said to be damaged."""
        whole = make_elf(interpreter='/lib/ld.so')
        for size in range(4, len(whole), 5):
            self.write('cut', whole[:size])
            done = self.expect(126, 'record', './cut')
            self.assertRegex(done.stderr, r'^guesttrace record: \./cut: (damaged|cut short)')

    def test_lying_interpreter(self):
        whole = bytearray(make_elf(interpreter='/lib/ld.so'))
        for offset, value in ((64 + 56 + 8, 1 << 63), (64 + 56 + 32, 1 << 63),
                              (64 + 56 + 32, 0), (64 + 56 + 32, 4), (64 + 56 + 32, 100)):
            lying = bytearray(whole)
            lying[offset:offset + 8] = value.to_bytes(8, 'little')
            self.write('lying', bytes(lying))
            self.refuse(126, "damaged ELF file: its interpreter's name", './lying')

    def test_machine(self):
        self.program(machine=I860, bits=32, data=2)
        self.refuse(126, "is for a machine that QEMU's user mode does not have (ELF machine 7, 32"
                    ' bits)', './prog')
        self.program(machine=X86_64, data=2)
        self.refuse(126, 'does not have (ELF machine 62', './prog')
        self.program(machine=PPC64)
        self.refuse(126, 'is for ppc64le, which guesttrace does not support (supported: ',
                    './prog')

    def test_output(self):
        os.makedirs(self.path('theirs/folder'))
        self.program()
        for tool in 'uftrace', 'etrace', 'execlog':
            self.write(f'plugins/lib{tool}.so', b'')
            self.refuse(125, '/nonexistent/n: cannot be made in /nonexistent: No such file or directory\n',
                        '--tool', tool, '-o', '/nonexistent/n', './prog')
            self.refuse(125, 'theirs', '--tool', tool, '-o', 'theirs', './prog')
        self.assertEqual(os.listdir(self.path('theirs')), ['folder'])

    def test_qemu_of_another_machine(self):
        self.program(machine=AARCH64)
        for qemu in 'qemu-x86_64', self.path('bin/qemu-x86_64'):
            self.refuse(126, f'./prog is for aarch64, and {qemu} runs programs for x86_64: use qemu-aarch64\n',
                        '--qemu', qemu, './prog')

    def test_no_qemu(self):
        self.program()
        os.unlink(self.path('bin/qemu-x86_64'))
        self.refuse(127, 'no qemu-x86_64 in PATH', './prog', env={'PATH': self.bin})
        self.refuse(127, '/no/qemu: No such file', '--qemu', '/no/qemu', './prog')
        self.refuse(127, 'no qemu-system-foo in PATH', '--', 'qemu-system-foo', '-M', 'virt')

    def test_qemu_is_no_program(self):
        self.program()
        self.write('qemu', b'text')
        self.refuse(126, './qemu is neither an ELF program nor a script', '--qemu', './qemu',
                    './prog')
        self.fake('qemu-plain', self.path('other'))
        self.write('qemu', b'#!/bin/sh\n', mode=0o644)
        if os.geteuid() != 0 or not os.access(self.path('qemu'), os.X_OK):
            self.refuse(126, './qemu: Permission denied', '--qemu', './qemu', './prog')


class Capable(CliTest):
    """Compiled stand-ins: `static`, `dynamic`, and `plugins`, which exports what a QEMU does."""

    def setUp(self):
        super().setUp()
        self.program()
        self.env['PATH'] = self.bin
        os.unlink(self.path('bin/qemu-x86_64'))

    def put(self, kind, name, folder='bin'):
        os.makedirs(self.path(folder), exist_ok=True)
        os.symlink(paths.built('cli', 'fake_' + kind),
                   self.path(folder, name))

    def test_static(self):
        self.put('static', 'qemu-x86_64')
        for arguments in (['./prog'], ['--', 'qemu-x86_64', './prog']):
            done = self.expect(126, 'record', *arguments)
            self.assertIn("/bin/qemu-x86_64 is statically linked, so it cannot load plugins (Debian"
                          " 13's qemu-user is built like that). Build one that can with"
                          " `guesttrace setup-qemu`, or",
                          done.stderr)
            self.assertIn('--enable-plugins', done.stderr)
            self.assertIn('--qemu', done.stderr)

    def test_built(self):
        """The one of scripts/qemus: where there is no other that can, or where it is newer."""
        user = '.cache/guesttrace/qemus/user'
        self.put('static', 'qemu-x86_64')
        self.put('plugins', 'qemu-x86_64', user)
        for folder in ('', user):
            self.env['XDG_CACHE_HOME'] = self.path('.cache') if folder else ''
            done = self.expect(42, 'record', './prog')
            self.assertIn(f'run as {self.dir}/{user}/qemu-x86_64 ', done.stdout)
            self.assertIn(f'built by scripts/qemus: {self.dir}/{user}/qemu-x86_64\n', done.stderr)
        os.unlink(self.path('bin/qemu-x86_64'))
        done = self.expect(42, 'record', '-q', './prog')
        self.assertNotIn('scripts/qemus', done.stderr)
        self.expect(127, 'record', '--', 'qemu-x86_64', './prog')
        # Of the same version as the one in PATH: that is taken.
        self.put('plugins', 'qemu-x86_64')
        done = self.expect(42, 'record', './prog')
        self.assertIn(f'run as {self.bin}/qemu-x86_64 ', done.stdout)

    def test_newer(self):
        user = '.cache/guesttrace/qemus/user'
        for path, mine, other in ('7.2.22', '10.0.2', user), ('10.0.2', '9.2.10', 'bin'):
            for folder, number in ('bin', path), (user, mine):
                self.write(f'{folder}/qemu-x86_64', '#!/bin/sh\n[ "$1" != --version ] || '
                           f'{{ echo "qemu-x86_64 version {number}"; exit; }}\nexit 43\n'.encode())
            done = self.expect(43, 'record', './prog')
            self.assertEqual('built by scripts/qemus' in done.stderr, other == user, done.stderr)

    def test_without_plugins(self):
        self.put('dynamic', 'qemu-x86_64')
        done = self.expect(126, 'record', './prog')
        self.assertIn('/bin/qemu-x86_64 cannot load plugins', done.stderr)

    def test_a_capable_one_further_on_is_taken(self):
        self.put('static', 'qemu-x86_64')
        self.put('plugins', 'qemu-x86_64', 'bin2')
        done = self.expect(42, 'record', './prog', env={'PATH': f'{self.bin}:{self.dir}/bin2'})
        self.assertIn(f'run as {self.dir}/bin2/qemu-x86_64', done.stdout)

    def test_known_by_what_it_exports(self):
        """A QEMU of another name is a QEMU: its arguments are its own."""
        self.put('plugins', 'kvm')
        done = self.expect(42, 'record', 'kvm', '-M', 'virt')
        self.assertIn('run as kvm -plugin file=', done.stdout)
        self.assertTrue(done.stdout.endswith('summary=off -M virt\n'), done.stdout)


class QemuCommand(CliTest):
    def record(self, *arguments):
        self.expect(0, 'record', '-q', *DIRECTORY, *arguments, do='record stats=tool:uftrace')
        return self.started()

    def test_system(self):
        self.fake('qemu-system-aarch64')
        argv, env = self.record('qemu-system-aarch64', '-M', 'virt', '-nographic')
        self.assertEqual((argv[0], argv[2:]), ('-plugin', ['-M', 'virt', '-nographic']))
        self.assertEqual(env[VARIABLE], '9.1.2')
        self.assertEqual(self.record('--', './bin/qemu-system-aarch64', '-m', '1G')[0][2:],
                         ['-m', '1G'])

    def test_user(self):
        argv, _ = self.record('--', 'qemu-x86_64', '-L', '/x', 'prog')
        self.assertEqual(argv[2:], ['-U', VARIABLE, '-U', SLICES, '-L', '/x', 'prog'])

    def test_wrapper(self):
        self.fake('qemu-board.sh')
        argv, _ = self.record('qemu-board.sh', 'kernel')
        self.assertEqual(argv[2:], ['kernel'])

    def test_with_qemu_option_it_is_the_program(self):
        self.program('bin/qemu-program')
        argv, _ = self.record('--qemu', 'qemu-x86_64', './bin/qemu-program')
        self.assertEqual(argv[6:], ['./bin/qemu-program'])


cases.main()
