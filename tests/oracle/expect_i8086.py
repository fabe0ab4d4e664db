# SPDX-License-Identifier: GPL-2.0-or-later
"""16-bit code: its text is read as x86_64's, for objdump_check.py."""
from expect_x86_64 import ASSEMBLERS, OBJDUMPS, expect, random_insns

ASSEMBLER_FLAGS = ("--32", "--defsym", "MODE=16")
OBJDUMP_FLAGS = ("-M", "i8086")
MACHINE = "i8086"

__all__ = ["ASSEMBLERS", "ASSEMBLER_FLAGS", "MACHINE", "OBJDUMPS", "OBJDUMP_FLAGS", "expect",
           "random_insns"]
