# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the command share: a folder with fake QEMUs in PATH, and made-up ELF files."""
import json
import os
import struct

from gttest import cases, paths, qemus
from gttest.paths import GUESTTRACE
from gttest.recordings import check_directory

HERE = paths.source('cli')
VARIABLE = 'GUESTTRACE_QEMU_VERSION'
SLICES = 'G_SLICE'  # for GLib in QEMU
X86_64, AARCH64, RISCV, PPC64, I860 = 62, 183, 243, 21, 7
DIRECTORY = ['--format', 'uftrace']  # what fake_qemu.py writes
GOOD_STATS = ('stats=tool:uftrace,calls:1234567,returns:1234560,matched:1234560,tasks:1,'
              'bytes:197000000')


def make_elf(machine=X86_64, bits=64, data=1, kind=2, interpreter=None):
    """An executable's headers: one PT_LOAD over the whole file, and PT_INTERP if asked for."""
    order = '<' if data == 1 else '>'
    name = interpreter.encode() + b'\0' if interpreter else b''
    n = 2 if interpreter else 1
    ehsize, phsize = (64, 56) if bits == 64 else (52, 32)
    size = ehsize + n * phsize + len(name)
    ident = b'\x7fELF' + bytes([2 if bits == 64 else 1, data, 1]) + bytes(9)
    word = 'Q' if bits == 64 else 'I'
    head = ident + struct.pack(f'{order}HHI{word}{word}{word}IHHHHHH', kind, machine, 1, 0x400000,
                               ehsize, 0, 0, ehsize, phsize, n, 0, 0, 0)

    def segment(type_, offset, length):
        if bits == 64:
            return struct.pack(order + 'IIQQQQQQ', type_, 5, offset, 0x400000 + offset,
                               0x400000 + offset, length, length, 4096)
        return struct.pack(order + 'IIIIIIII', type_, offset, 0x400000 + offset,
                           0x400000 + offset, length, length, 5, 4096)
    body = segment(1, 0, size)
    if interpreter:
        body += segment(3, ehsize + 2 * phsize, len(name))
    return head + body + name


class CliTest(cases.ScratchCase):
    def setUp(self):
        super().setUp()
        self.bin = self.path('bin')
        self.log = self.path('log')
        os.mkdir(self.bin)
        self.write('plugins/libuftrace.so', b'')
        self.env = {
            'PATH': self.bin + ':' + os.environ['PATH'], 'HOME': self.dir, 'LC_ALL': 'C.UTF-8',
            'FAKE_LOG': self.log, 'GUESTTRACE_PLUGIN_DIR': self.path('plugins'),
        }
        for name in ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS', 'PYTHONPATH', 'PYTHONDONTWRITEBYTECODE'):
            if name in os.environ:
                self.env[name] = os.environ[name]
        self.fake('qemu-x86_64')

    def write(self, name, data, mode=0o755):
        return super().write(name, data, mode)

    def fake(self, name, folder=None):
        folder = folder or self.bin
        os.makedirs(folder, exist_ok=True)
        os.symlink(os.path.join(HERE, 'fake_qemu.py'), os.path.join(folder, name))

    def program(self, name='prog', **elf):
        return self.write(name, make_elf(**elf))

    def run_cli(self, *arguments, do=None, env=None, **more):
        environment = dict(self.env, **(env or {}))
        if do is not None:
            environment['FAKE_DO'] = do
        return self.run_in(GUESTTRACE, *arguments, env=environment, **more)

    def expect(self, status, *arguments, **more):
        done = self.run_cli(*arguments, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def started(self):
        """What QEMU was started with: argv without its first word, and the environment."""
        with open(self.log, encoding='utf-8') as f:
            last = json.loads(f.readlines()[-1])
        return last['argv'][1:], last['env']

    def check_recording(self, *parts):
        """It is as its readers want it."""
        check_directory(self.path(*(parts or ['uftrace.data'])))

    def real_qemu(self, arch):
        """A real qemu-ARCH instead of the fakes, with the plugins that were built."""
        for name in os.listdir(self.bin):
            os.unlink(os.path.join(self.bin, name))
        self.env['GUESTTRACE_PLUGIN_DIR'] = paths.PLUGINS
        return qemus.user(arch)
