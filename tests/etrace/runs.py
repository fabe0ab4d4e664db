# SPDX-License-Identifier: GPL-2.0-or-later
"""What the etrace tests share: runs of QEMU with the plugin, of programs and of small machines."""
import sys

from gttest import elf, etrace, functions, paths, qemulog, qemus, sockets
from gttest.commands import must, tool
from gttest.plugin_runs import PluginTest
from gttest.results import Failure, need

BOARDS = {
    'aarch64': ['-M', 'virt', '-cpu', 'cortex-a57'],
    'riscv64': ['-M', 'virt', '-bios', 'none'],
}
BUILD = {'aarch64': ['-nostdlib', '-Wl,-Ttext=0x40080000'],
         'riscv64': ['-nostdlib', '-march=rv64g', '-mabi=lp64d', '-Wl,-Ttext=0x80000000']}
MACHINES = {'x86_64': (62, 64, 0), 'i386': (3, 32, 0), 'aarch64': (183, 64, 0),
            'riscv64': (243, 64, 0), 'arm': (40, 32, 0), 'mips': (8, 32, 1), 'ppc64': (21, 64, 1),
            's390x': (22, 64, 1)}  # what ARCH says of a guest
SMALL = ['-m', '64', *qemus.QUIET]


class EtraceTest(PluginTest):
    plugin, output, guests = 'etrace', 'output', paths.source('etrace', 'guests')

    def stream(self):
        """What was recorded."""
        return etrace.read(self.out)

    def guest(self, source, arch):
        """A program of a machine."""
        return self.build(f'{source}_{arch}.S', arch, *BUILD[arch])

    def to_socket(self):
        """The recording goes to a socket; its path."""
        self.out = f'unix:{self.folder}/stream'
        return f'{self.folder}/stream'


def main(scope):
    sys.exit(functions.main(scope, EtraceTest))


def play(t, arch, qemu, arguments, *options, source='machine'):
    """Runs a machine: the stream, the guest's symbols, the end. QEMU's log is t.log."""
    guest = t.guest(source, arch)
    done = t.run([qemu, *BOARDS[arch], *SMALL, '-kernel', guest, '-plugin',
                  t.word(f'output={t.out}') + arguments, '-d', 'in_asm,exec,nochain,int', '-D', t.log,
                  *options])
    need(done.status == 0, f'status {done.status}:', done.errors)
    return t.stream(), elf.symbols(guest), done


def each(arch, check, *arguments):
    """check(arch, version, qemu, ...) with each QEMU for machines."""
    for version, qemu in qemus.machines(arch):
        try:
            check(arch, version, qemu, *arguments)
        except Failure as bad:
            raise Failure(f'{arch}, QEMU {version}: {bad}') from bad


def check_program(t, arch, source, arguments='', flags=('-O1',), status=42):
    """What ran of a program is what QEMU logs; the stream, the end."""
    guest = t.build(source, arch, *flags)
    done = t.finish(t.user(arch, guest, arguments, *qemulog.LOGGING, '-D', t.log))
    need(done.status == status, f'{arch}: status {done.status}:', done.errors)
    stream = t.stream()
    need((stream.guest.machine, stream.guest.bits, stream.guest.big) == MACHINES[arch], 'ARCH', stream.guest)
    log = qemulog.Log(t.log)
    need(len(log.ran) > 10, 'QEMU logs too little')
    wrong = qemulog.difference(stream, log)
    need(not wrong, f'{arch}: {wrong}')
    need(len(stream.of('exec')) < len(log.ran), 'nothing was merged')
    return stream, done


def check_times(stream):
    """On the clock of instructions each entry takes as long as it has instructions."""
    now = 0
    for e in stream.of('exec'):
        need(e.time == now, 'an entry at', e.time, 'after', now)
        now += e.duration
    return now


def board_pc(t):
    """A PC's firmware: QEMU's options, the address of its end, the exit status."""
    rom, at = f'{t.folder}/rom', f'{t.folder}/rom.o'
    must([tool('gcc'), '-m32', '-c', '-o', at, f'{t.guests}/rom_i386.S'])
    must([tool('ld'), '-m', 'elf_i386', '--oformat=binary', '-Ttext=0', '-e', '_start', '-o', rom, at])
    return ['-M', 'pc', '-bios', rom, '-device', 'isa-debug-exit,iobase=0xf4,iosize=4'], \
        0xffff0000 + elf.symbols(at)['off'], 1


class Control:
    """A client of the plugin's control socket."""

    def __init__(self, t, child):
        self.socket = sockets.connected(f'{t.folder}/control', child)
        self.lines = self.socket.makefile('rwb')

    def ask(self, line):
        self.lines.write(line.encode() + b'\n')
        self.lines.flush()
        return self.lines.readline().decode().rstrip('\n')

    def close(self):
        self.lines.close()
        self.socket.close()


def type_x(child):
    """The guest gets the character that it waits for."""
    child.stdin.write(b'x')
    child.stdin.close()
    child.stdin = None
