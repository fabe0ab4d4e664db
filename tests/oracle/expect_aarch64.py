# SPDX-License-Identifier: GPL-2.0-or-later
"""What objdump's aarch64 text means, for objdump_check.py."""
import re

OBJDUMPS = ("aarch64-linux-gnu-objdump",)
ASSEMBLERS = ("aarch64-linux-gnu-as",)
ASSEMBLER_FLAGS = ("-march=armv8.8-a+memtag+sve+sme",)
MACHINE = "aarch64"

KINDS = {}
for kind, names in {
    "call": "bl",
    "indirect call": "blr blraa blrab blraaz blrabz",
    "return": "ret retaa retab",
    "jump": "b b.al b.nv bc.al bc.nv",
    "indirect jump": "br braa brab braaz brabz",
    "exception return": "eret eretaa eretab drps",
    "system call": "svc hvc smc",
    "trap": "brk hlt udf",
    "branch": "cbz cbnz tbz tbnz " + " ".join(
        "b.%s bc.%s" % (c, c) for c in "eq ne cs cc mi pl vs vc hi ls ge lt gt le".split()),
}.items():
    for name in names.split():
        KINDS[name] = kind

WITH_TARGET = ("call", "jump", "branch")
# Register 31 is SP as the destination of these.
TO_SP = set("mov add sub and orr eor addg subg irg addvl addpl addsvl addspl addpt subpt".split())
SAME_STACK = ("sp", "wsp", "x29", "w29")
VECTORS = ("vbar_el1", "vbar_el2", "vbar_el3", "vbar_el12")


# Beginnings of words that objdump learnt late: compare and branch, return with pointer
# authentication over sp and pc, checked pointer arithmetic.
LATE = ("55", "d65f0b", "d65f0f", "74", "75", "f4", "f5", "9a", "da")


def undefined(operands):
    """".inst 0x00c0ffee ; undefined": no instruction, or one that this objdump is too old for."""
    word = "%08x" % int(operands.split()[0], 16)
    return None if word.startswith(LATE) else ("other", None)


def expect(mnemonic, operands):
    if mnemonic == ".inst":
        return undefined(operands)
    if mnemonic.startswith("."):
        return None  # data between functions
    operands = re.sub(r"\s*(<|//).*", "", operands)
    kind = KINDS.get(mnemonic)
    if kind in WITH_TARGET:
        return kind, int(operands.split(",")[-1].strip(), 16)
    if kind:
        return kind, None
    words = [w.strip() for w in operands.split(",")]
    if mnemonic == "msr" and words[0] in VECTORS:
        return "vector write", None
    if mnemonic in TO_SP and words[0] in ("sp", "wsp") and words[1] not in SAME_STACK:
        return "stack switch", None
    return "other", None


# Top bytes of branches, exceptions, system moves and of what can write sp.
TOPS = (0xd6, 0xd4, 0xd5, 0x54, 0x55, 0x91, 0x0b, 0x8b, 0xcb, 0x92, 0xb2, 0x12, 0x32, 0x9a, 0x04, 0)


def random_insns(rng, count):
    """Words, most of which come from the groups that matter, with fields that are often all ones or
    all zeros."""
    out = bytearray()
    for _ in range(count):
        w, draw = rng.getrandbits(32), rng.getrandbits(16)
        if draw & 3:
            w = w & 0xffffff | TOPS[draw >> 12] << 24
        if draw & 4:
            w |= 31 << 16
        if draw & 8:
            w &= ~(63 << 10)
        if draw & 0x10:
            w |= 31
        elif draw & 0x20:
            w &= ~31
        if draw & 0xc0 == 0:
            w |= 31 << 5
        out += w.to_bytes(4, "little")
    return bytes(out)
