#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sizes of instructions equal those that objdump finds, in whole C libraries, and of cut ones nothing
is read that is not there."""
import os
import re

from coverage_case import PROGRAMS, CoverageTest
from gttest import cases, compilers, paths

TOOL = paths.built('coverage', 'insn_size_tool')
MACHINES = {'x86_64': ('62', '64'), 'aarch64': ('183', '64'), 'riscv64': ('243', '64')}


class Sizes(CoverageTest):
    def sizes(self, machine, codes):
        done = self.must(TOOL, *machine, input='\n'.join(codes) + '\n')
        return [int(size) for size in done.stdout.split()]

    def instructions(self, arch, program):
        listing = self.must(compilers.prefix(arch) + 'objdump', '-d', '-w', program).stdout
        found = {}
        for code, text in re.findall(r'^ +[0-9a-f]+:\t([0-9a-f ]+?) *\t(.*)$', listing, re.M):
            code = code.replace(' ', '')
            if arch != 'x86_64':  # printed as numbers
                code = bytes.fromhex(code)[::-1].hex()
            if '(bad)' not in text and not text.startswith(('.', 'data16 cs', 'rex')):
                found[code] = text
        return found

    def check(self, arch):
        program = self.compile(os.path.join(PROGRAMS, 'matrix.c'), '-static', arch=arch)
        found = self.instructions(arch, program)
        self.assertGreater(len(found), 5000)
        codes = list(found)
        sizes = self.sizes(MACHINES[arch], [code + '90' * 16 for code in codes])
        wrong = [(code, found[code], size) for code, size in zip(codes, sizes)
                 if size != len(code) // 2]
        self.assertEqual(wrong, [])

    def test_x86_64(self):
        self.check('x86_64')

    def test_aarch64(self):
        self.check('aarch64')

    def test_riscv64(self):
        self.check('riscv64')

    def test_chosen(self):
        """What compilers seldom make."""
        for code, size in (('48b80102030405060708', 10), ('66b80102', 4), ('a00102030405060708', 9),
                           ('67a001020304', 6), ('c8010203', 4), ('c20100', 3), ('f70000000000', 6),
                           ('f710', 2), ('0f0f00b4', 4), ('0f3a0f0001', 5), ('c5f877', 3),
                           ('c4e37d1900ff', 6), ('62f17c48100000', 6), ('62f3fd48000001', 7),
                           ('66e801020304', 6), ('0facc105', 4),
                           ('0fa4c105', 4), ('0fbae005', 4), ('0fc2c001', 4), ('0fa5c1', 3),
                           ('0f70c01b', 4), ('0fc6c001', 4), ('0fc8', 2), ('0f80010203ff', 6)):
            # 66 before a near call does not count in 64-bit code
            expected = 4 if code.startswith('66e8') else size
            self.assertEqual(self.sizes(MACHINES['x86_64'], [code + '90' * 8])[0], expected, code)
        for code, size in (('9a010203040506', 7), ('c501', 2), ('c5f877', 3), ('6200', 2), ('41', 1),
                           ('67a00102', 4), ('678b0701', 3), ('678b4601', 4)):
            self.assertEqual(self.sizes(('3', '32'), [code + '90' * 8])[0], size, code)

    def test_cut_off(self):
        for arch, code in (('x86_64', '66f2483e0f3a0f848001020304ff'), ('riscv64', '13050000'),
                           ('aarch64', '1f2003d5')):
            for n in range(2, len(code) + 1, 2):
                size = self.sizes(MACHINES[arch], [code[:n]])[0]
                self.assertTrue(1 <= size <= n // 2)


if __name__ == '__main__':
    cases.main('gcc', 'objdump', *[compilers.prefix(a) + t for a in ('aarch64', 'riscv64')
                                   for t in ('gcc', 'objdump')])
