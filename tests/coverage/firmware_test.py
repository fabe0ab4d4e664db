#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine without an operating system: its firmware, start code in assembly included."""
import os
import re
import unittest

import harness

LINKING = ('-nostdlib', '-static', '-no-pie', '-fno-pic', '-mcmodel=medany', '-Wl,-Ttext=0x80000000',
           '-Wl,--no-warn-rwx-segments', '-Wl,--build-id=none')
RAN = {'start.S': {5: 1, 6: 1, 7: 0},
       'firmware.c': {6: 1, 8: 6, 9: 5, 10: 1, 11: 5, 13: 5, 14: 0, 15: 15, 16: 10, 17: 5, 19: 1,
                      21: 6, 22: 5, 23: 1, 24: 1}}
LAST = 25  # goes round until the machine is off
# From 8.2 on QEMU begins a block anew after an instruction in its middle that accesses a device, and what
# follows it is counted twice: the condition of put's loop after the character.
AGAIN = {'firmware.c': {8: 6 + 5}}


class Firmware(harness.Scratch):
    def test_firmware(self):
        sources = [os.path.join(harness.PROGRAMS, name) for name in ('start.S', 'firmware.c')]
        program = self.compile(sources[1], '-O0', *LINKING, sources[0], arch='riscv64')
        said = self.tool('qemu-system-riscv64', '--version').stdout
        version = tuple(int(n) for n in re.search(r'version (\d+)\.(\d+)', said).groups())
        for flags in 'exec', 'coverage':
            self.tool('qemu-system-riscv64', '-M', 'virt', '-bios', 'none', '-kernel', program,
                      '-display', 'none', '-serial', 'stdio', '-monitor', 'none', '-plugin',
                      f'{os.environ["PLUGIN"]},output={self.path(flags)},flags={flags}')
            files = harness.lcov(self.coverage(flags, '-e', program, '-f', 'lcov').stdout)
            for source in sources:
                lines = files[source][0]
                self.assertGreaterEqual(lines.pop(LAST, 1), 1)
                name = os.path.basename(source)
                again = AGAIN.get(name, {}) if flags == 'coverage' and version >= (8, 2) else {}
                self.assertEqual(lines, {**RAN[name], **again}, flags)


if __name__ == '__main__':
    harness.need('qemu-system-riscv64', 'riscv64-linux-gnu-gcc')
    harness.main()
