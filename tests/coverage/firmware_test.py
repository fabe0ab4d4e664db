#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine without an operating system: its firmware, start code in assembly included."""
import os
import subprocess

from coverage_case import PROGRAMS, CoverageTest, lcov
from gttest import cases, paths, qemus

PLUGIN = paths.plugin('etrace')
LINKING = ('-nostdlib', '-static', '-no-pie', '-fno-pic', '-mcmodel=medany', '-Wl,-Ttext=0x80000000',
           '-Wl,--no-warn-rwx-segments', '-Wl,--build-id=none')
RAN = {'start.S': {5: 1, 6: 1, 7: 0},
       'firmware.c': {6: 1, 8: 6, 9: 5, 10: 1, 11: 5, 13: 5, 14: 0, 15: 15, 16: 10, 17: 5,
                      19: 5, 21: 5, 22: 5, 23: 5, 24: 5, 25: 5, 26: 5,
                      28: 1, 30: 6, 31: 5, 32: 1, 33: 1}}
LAST = 34  # goes round until the machine is off, if it is not yet


class Firmware(CoverageTest):
    def test_firmware(self):
        sources = [os.path.join(PROGRAMS, name) for name in ('start.S', 'firmware.c')]
        program = self.compile(sources[1], '-O0', *LINKING, sources[0], arch='riscv64')
        for _, qemu in qemus.machines('riscv64'):
            for flags in 'exec', 'coverage':
                for more in [], ['-icount', 'shift=0']:
                    self.check(program, sources, qemu, flags, more)

    def check(self, program, sources, qemu, flags, more):
        """Also blocks that QEMU leaves at an access to a device, and begins anew behind it: from 8.2 on,
        and with -icount."""
        said = self.must(qemu, '-M', 'virt', '-bios', 'none', '-kernel', program, '-display', 'none',
                         '-serial', 'stdio', '-monitor', 'none', *more, '-plugin',
                         f'{PLUGIN},output={self.path(flags)},flags={flags}').stdout
        self.assertEqual(said, '<1><2><3><4><5>done\n')
        files = lcov(self.coverage(flags, '-e', program, '-f', 'lcov').stdout)
        for source in sources:
            lines = files[source][0]
            lines.pop(LAST, None)
            self.assertEqual(lines, RAN[os.path.basename(source)], (qemu, flags, *more))

    def test_several_accesses(self):
        """An instruction of several accesses leaves its block once."""
        source = os.path.join(PROGRAMS, 'wide.S')
        program = self.compile(source, '-nostdlib', '-static', '-Wl,-Ttext=0x40080000',
                               '-Wl,--build-id=none', arch='aarch64')
        for _, qemu in qemus.machines('aarch64'):
            for flags in 'exec', 'coverage':
                for more in [], ['-icount', 'shift=0']:
                    self.must(qemu, '-M', 'virt', '-cpu', 'cortex-a57', '-kernel', program, '-display',
                              'none', '-serial', 'null', '-monitor', 'none', *more, '-plugin',
                              f'{PLUGIN},output={self.path(flags)},flags={flags}')
                    lines = lcov(self.coverage(flags, '-e', program, '-f',
                                                       'lcov').stdout)[source][0]
                    want = {line: 11 if line in range(12, 17) else 1 for line in range(4, 20)}
                    lines = {line: n for line, n in lines.items() if line in want}
                    self.assertEqual(lines, want, (qemu, flags, *more))

    def boot_rewritten(self, qemu, times, flags):
        """Runs it with little room for translated code: the peak of QEMU's memory, MiB."""
        program = self.compile(os.path.join(PROGRAMS, 'rewritten.S'), '-nostdlib', '-static',
                               '-Wl,-Ttext=0x40080000', '-Wl,--build-id=none', f'-DTIMES={times}',
                               arch='aarch64')
        command = [qemu, '-M', 'virt', '-cpu', 'cortex-a57', '-accel', 'tcg,tb-size=1', '-kernel', program,
                   '-display', 'none', '-serial', 'null', '-monitor', 'none', '-plugin',
                   f'{PLUGIN},output={self.path(flags)},flags={flags}']
        with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, command)
        text = self.coverage(flags, '-e', program, '-f', 'lcov').stdout
        (lines, _), = lcov(text).values()
        self.assertEqual({n: lines.get(n) for n in (8, 13, 14, 15, 16)},
                         {8: times, 13: times, 14: times // 2, 15: times, 16: times}, (qemu, flags))
        return used.ru_maxrss / 1024

    def test_rewritten(self):
        """Code that never stays the same is counted, and takes no more memory the longer it runs."""
        for _, qemu in qemus.machines('aarch64'):
            for flags in 'exec', 'coverage':
                short, long = (self.boot_rewritten(qemu, n, flags) for n in (20000, 200000))
                self.assertLess(long - short, 8, (qemu, flags, short, long))


if __name__ == '__main__':
    cases.main('qemu-system-riscv64', 'riscv64-linux-gnu-gcc', 'qemu-system-aarch64', 'aarch64-linux-gnu-gcc')
