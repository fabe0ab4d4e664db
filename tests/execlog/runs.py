# SPDX-License-Identifier: GPL-2.0-or-later
"""What the execlog tests share: upstream's texts (data/README.md says how they were made), and runs of QEMU with the
plugin."""
import os
import re
import sys

from gttest import compilers, execlog, functions, paths, qemus, recordings, scripted
from gttest.execlog import LINE
from gttest.plugin_runs import PluginTest
from gttest.results import need, read_text, same, write

DATA = paths.source('execlog', 'data')
CPUS = ['aarch64', 'riscv64', 'x86_64']
STATUS = 2  # of the guest
FACT = {'aarch64': '400130', 'riscv64': '10150', 'x86_64': '40103b'}
REGISTER = {'aarch64': 'x0', 'riscv64': 'a0', 'x86_64': 'rax'}
PREFIX = {'aarch64': 'ldr', 'riscv64': 'ld', 'x86_64': 'mov'}
QUIET = [*qemus.QUIET, '-nodefaults']
RISCV_MACHINE = ['-M', 'virt', '-bios', 'none', '-m', '64', *QUIET]
RISCV_BUILD = ['-nostdlib', '-march=rv64g', '-mabi=lp64d']
MOST_READ = 4 << 20  # bytes of a binary log that is read here, too: Python takes seconds for more
SHIFTED = re.compile(r'((?:lui|auipc) +\w+,)(-?\d+)')


class ExeclogTest(PluginTest):
    plugin, output, guests = 'execlog', 'out', paths.source('execlog', 'guests')

    def assemble(self, text, name='guest', **defines):
        """A program of x86_64, of assembly; its path."""
        source = write(f'{self.folder}/{name}.S', text)
        return compilers.compile_to(f'{self.folder}/{name}', 'x86_64', source, '-nostdlib', '-static',
                                    *[f'-D{k}={v}' for k, v in defines.items()])

    def logged(self, qemu, given, *command, status=None, options=()):
        """What the plugin writes to QEMU's log."""
        done = self.run([qemu, *options, '-plugin', self.word(*given), '-d', 'plugin', '-D', self.log, *command])
        need(status is None or done.status == status, f'status {done.status}:', done.errors)
        need(not done.said, done.said)
        return read_text(self.log)

    def text(self, given):
        """What it writes to self.out, as text."""
        return dump(self.out) if 'format=binary' in given else read_text(self.out)

    def play(self, plan, version, given, status=0):
        """The scripted host of a version: what it prints, the end."""
        done = self.run([scripted.host(version), paths.plugin('execlog'), plan, *given], env=scripted.environment())
        need(done.status == status, f'version {version}: status {done.status}:', done.errors)
        first, _, rest = done.out.decode().partition('\n')
        need(status or first.startswith('version '), first)
        return rest.replace('log: ', ''), done


def main(scope):
    sys.exit(functions.main(scope, ExeclogTest))


def in_manner(new, kind, text):
    """What upstream's plugin prints: since QEMU 11.1 no line comes again at the end."""
    lines = text.splitlines(keepends=True)
    if new and kind == 'ifilter-reg':
        need(lines[-1] == lines[-2], 'the last line stands once', lines[-2:])
        lines.pop()
    return ''.join(lines)


def arguments(kind, cpu):
    """What upstream was given for data/CPU.KIND.txt."""
    reg = [f'reg={REGISTER[cpu]}']
    return {'plain': [], 'ifilter': [f'ifilter={PREFIX[cpu]}'], 'afilter': [f'afilter={FACT[cpu]}'],
            'reg': [*reg, 'reg=pc'], 'rdisas': [*reg, 'rdisas=on'],
            'ifilter-reg': [f'ifilter={PREFIX[cpu]}', *reg]}[kind]


def upstream(cpu, kind):
    return read_text(f'{DATA}/{cpu}.{kind}.txt')


def zoo(cpu):
    return f'{DATA}/zoo.{cpu}'


def dump(path, *options):
    """The text of a binary log, by `guesttrace dump` and by our own reader."""
    text = recordings.dump(path, *options)
    if os.path.getsize(path) + len(text) < MOST_READ:
        same(text, execlog.read_log(path, '--values' in options), 'dump of', path)
    return text


# ---- QEMU 7.2 in user mode ---------------------------------------------------------------------------
# Upstream's texts are QEMU 10.2's; Debian 12's QEMU 7.2 differs from it, with its own plugin as with
# ours, in three ways, which as_7_2() makes of them:
#
# - riscv64: a disassembly begins with the encoding, four or eight hex digits padded to 18 columns;
# - riscv64: the immediate of lui and auipc is shown shifted, 4096 for 1;
# - aarch64: stp and ldp make two accesses of 8 bytes, not one of 16.

def qemu_7_2(cpu):
    return qemus.user_before(cpu, (8, 0))


def shifted(words):
    """A comment after it begins in column 48, or after what reaches further."""
    m = SHIFTED.match(words)
    if not m:
        return words
    operands, comment, after = (words[24:].partition('#') + ('', ''))[:3]
    operands = f'{m[1]}{int(m[2]) << 12}'[24:]
    return words[:24] + (operands.ljust(24) if comment else operands) + comment + after


def line_as_7_2(cpu, line):
    vcpu, pc, opcode, words, rest = LINE.match(line).groups()
    if cpu == 'riscv64':
        wide = int(opcode, 16) & 3 == 3
        words = f'{int(opcode, 16):0{8 if wide else 4}x}'.ljust(18) + shifted(words)
    if cpu == 'aarch64' and words.startswith(('stp', 'ldp')):
        rest = re.sub(r', (store|load), 0x([0-9a-f]+)',
                      lambda m: f'{m[0]}, {m[1]}, 0x{int(m[2], 16) + 8:08x}', rest)
    return f'{vcpu}, 0x{pc}, 0x{opcode}, "{words}"{rest}'


def as_7_2(cpu, text):
    return ''.join(line_as_7_2(cpu, line) + '\n' for line in text.splitlines())


# ---- parts of a log ----------------------------------------------------------------------------------

def pc(line):
    return int(LINE.match(line)[2], 16)


def within(lines, *spans):
    return [line for line in lines if any(lo <= pc(line) < hi for lo, hi in spans)]


def window(lines, start, stop, first=1):
    """From each execution of start, the first-th and later ones, up to the next one of stop."""
    out, on, seen = [], not start, 0
    for line in lines:
        if pc(line) == start:
            seen += 1
            on = on or seen >= first
        if pc(line) == stop:
            on = False
        out += [line] if on else []
    return out
