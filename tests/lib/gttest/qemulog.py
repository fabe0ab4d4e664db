# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads QEMU's own log of what ran: -d in_asm,exec,nochain."""
import re

from gttest.etrace import expand

LOGGING = ['-d', 'in_asm,exec,nochain']
INSN = re.compile(r'0x([0-9a-f]+):\s+((?:[0-9a-f]{2} ?)+|[0-9a-f]{4,8})(\s+\S.*)?$')
WORD = re.compile(r'0x([0-9a-f]+):\s')  # of machines whose disassembly has no bytes: all of 4
TRACE = re.compile(r'Trace (\d+): (0x[0-9a-f]+) \[[^/]*/([0-9a-f]+)/[^/]*/([0-9a-f]+)\]')
LEFT = re.compile(r'(?:\.\.\.with ELR |async:0,.* epc:)0x([0-9a-f]+)')


class Log:
    """`ran`: (vCPU, [instructions of a block that ran]); `following`: where an instruction ends. With
    `faults`, a block that an exception left (-d int) ends there."""

    def __init__(self, path, faults=False):
        self.ran, self.following = [], {}
        self.blocks, self.at, self.fresh, self.faults = {}, {}, None, faults
        with open(path, encoding='utf-8', errors='replace') as f:
            for line in f:
                self.line(line)

    def line(self, line):
        insn = INSN.match(line)
        left = LEFT.search(line)
        if line.startswith('IN:'):
            self.fresh = []
        elif insn and self.fresh is not None:
            self.instruction(int(insn[1], 16), len(insn[2].replace(' ', '')) // 2, bool(insn[3]))
        elif self.fresh is not None and WORD.match(line):
            self.instruction(int(WORD.match(line)[1], 16), 4, True)
        elif line.startswith('Trace '):
            self.trace(line)
        elif line.startswith('Stopped execution of TB chain before'):
            self.ran.pop()
        elif left and self.faults and int(left[1], 16) in self.ran[-1][1]:
            self.cut(self.ran[-1][1].index(int(left[1], 16)) + 1)

    def instruction(self, at, size, whole):
        """The bytes of a long one go on in a line of their own."""
        if whole:
            self.fresh.append(at)
            self.at[self.fresh[0]] = self.fresh
            self.following[at] = at + size
        else:
            self.following[self.fresh[-1]] += size

    def trace(self, line):
        cpu, where, pc, flags = TRACE.match(line).groups()
        pc, where = int(pc, 16), (where, pc)
        if where not in self.blocks or self.fresh and self.fresh[0] == pc:
            self.blocks[where] = self.at[pc]
        self.fresh = None
        block = self.blocks[where]
        alone = len(block) == 1 and int(flags, 16) & 0x1ff == 1
        if alone and self.ran and pc in self.ran[-1][1][:-1]:
            self.cut(self.ran[-1][1].index(pc))  # an access to a device runs again, alone
        self.ran.append((int(cpu), list(block)))

    def cut(self, n):
        self.ran[-1] = (self.ran[-1][0], self.ran[-1][1][:n])

    def instructions(self, cpu=None):
        return [at for runs_on, block in self.ran for at in block if cpu in (None, runs_on)]

    def ranges(self):
        """[start, end) of each block that ran."""
        return [(block[0], self.following[block[-1]]) for _, block in self.ran]


def difference(stream, log, last=None):
    """None, or how the instructions of an etrace stream differ from QEMU's, up to the last one."""
    got, want = expand(stream.of('exec'), log.following), log.instructions()
    if last in got and last in want:
        got, want = got[:got.index(last) + 1], want[:want.index(last) + 1]
    if got == want:
        return None
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    return f'{len(got)} instructions, QEMU logs {len(want)}; from number {at} on ' \
           f'{[hex(a) for a in got[at:at + 4]]}, QEMU logs {[hex(a) for a in want[at:at + 4]]}'
