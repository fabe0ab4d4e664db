#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine without an operating system: its firmware, start code in assembly included."""
import os
import unittest

import harness

LINKING = ('-nostdlib', '-static', '-no-pie', '-fno-pic', '-mcmodel=medany', '-Wl,-Ttext=0x80000000',
           '-Wl,--no-warn-rwx-segments', '-Wl,--build-id=none')
RAN = {'start.S': {5: 1, 6: 1, 7: 0},
       'firmware.c': {6: 1, 8: 6, 9: 5, 10: 1, 11: 5, 13: 5, 14: 0, 15: 15, 16: 10, 17: 5,
                      19: 5, 21: 5, 22: 5, 23: 5, 24: 5, 25: 5, 26: 5,
                      28: 1, 30: 6, 31: 5, 32: 1, 33: 1}}
LAST = 34  # goes round until the machine is off


class Firmware(harness.Scratch):
    def test_firmware(self):
        sources = [os.path.join(harness.PROGRAMS, name) for name in ('start.S', 'firmware.c')]
        program = self.compile(sources[1], '-O0', *LINKING, sources[0], arch='riscv64')
        for qemu in harness.machines('riscv64'):
            for flags in 'exec', 'coverage':
                for more in [], ['-icount', 'shift=0']:
                    self.check(program, sources, qemu, flags, more)

    def check(self, program, sources, qemu, flags, more):
        """Also blocks that QEMU leaves at an access to a device, and begins anew behind it: from 8.2 on,
        and with -icount."""
        said = self.tool(qemu, '-M', 'virt', '-bios', 'none', '-kernel', program, '-display', 'none',
                         '-serial', 'stdio', '-monitor', 'none', *more, '-plugin',
                         f'{os.environ["PLUGIN"]},output={self.path(flags)},flags={flags}').stdout
        self.assertEqual(said, '<1><2><3><4><5>done\n')
        files = harness.lcov(self.coverage(flags, '-e', program, '-f', 'lcov').stdout)
        for source in sources:
            lines = files[source][0]
            self.assertGreaterEqual(lines.pop(LAST, 1), 1)
            self.assertEqual(lines, RAN[os.path.basename(source)], (qemu, flags, *more))


if __name__ == '__main__':
    harness.need('qemu-system-riscv64', 'riscv64-linux-gnu-gcc')
    harness.main()
