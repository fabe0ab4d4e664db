# SPDX-License-Identifier: GPL-2.0-or-later
"""32-bit code: its text is read as x86_64's, for objdump_check.py."""
from expect_x86_64 import ASSEMBLERS, OBJDUMPS, expect, random_insns

ASSEMBLER_FLAGS = ("--32", "--defsym", "MODE=32")
MACHINE = "i386"

__all__ = ["ASSEMBLERS", "ASSEMBLER_FLAGS", "MACHINE", "OBJDUMPS", "expect", "random_insns"]
