#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine without an operating system: its firmware, start code in assembly included."""
import os
import unittest

import harness

LINKING = ('-nostdlib', '-static', '-no-pie', '-fno-pic', '-mcmodel=medany', '-Wl,-Ttext=0x80000000',
           '-Wl,--no-warn-rwx-segments', '-Wl,--build-id=none')
RAN = {'start.S': {5: 1, 6: 1, 7: 0},
       'firmware.c': {6: 1, 8: 6, 9: 5, 10: 1, 11: 5, 13: 5, 14: 0, 15: 15, 16: 10, 17: 5, 19: 1,
                      21: 6, 22: 5, 23: 1, 24: 1}}
LAST = 25  # goes round until the machine is off


class Firmware(harness.Scratch):
    def test_firmware(self):
        sources = [os.path.join(harness.PROGRAMS, name) for name in ('start.S', 'firmware.c')]
        program = self.compile(sources[1], '-O0', *LINKING, sources[0], arch='riscv64')
        for flags in 'exec', 'coverage':
            self.tool('qemu-system-riscv64', '-M', 'virt', '-bios', 'none', '-kernel', program,
                      '-display', 'none', '-serial', 'stdio', '-monitor', 'none', '-plugin',
                      f'{os.environ["PLUGIN"]},output={self.path(flags)},flags={flags}')
            files = harness.lcov(self.coverage(flags, '-e', program, '-f', 'lcov').stdout)
            for source in sources:
                lines = files[source][0]
                self.assertGreaterEqual(lines.pop(LAST, 1), 1)
                self.assertEqual(lines, RAN[os.path.basename(source)], flags)


if __name__ == '__main__':
    harness.need('qemu-system-riscv64', 'riscv64-linux-gnu-gcc')
    harness.main()
