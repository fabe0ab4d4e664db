# SPDX-License-Identifier: GPL-2.0-or-later
"""What objdump's riscv64 text means, for objdump_check.py."""
import re

OBJDUMPS = ("riscv64-linux-gnu-objdump",)
ASSEMBLERS = ("riscv64-linux-gnu-as",)
ASSEMBLER_FLAGS = ("-march=rv64gc_zba_svinval", "-mabi=lp64d")
MACHINE = "riscv:rv64"

LINK = ("ra", "t0")
SAME_STACK = ("sp", "s0", "fp")
BRANCHES = set("""beq bne blt bge bltu bgeu beqz bnez blez bgez bltz bgtz bgt ble bgtu bleu
                  """.split())
EXCEPTION_RETURNS = set("uret sret mret mnret dret".split())
TRAPS = set("ebreak unimp".split())
VECTORS = ("utvec", "0x5", "stvec", "vstvec", "mtvec")
# csrw and its kind name no destination; csrr reads only.
CSR_WRITES = set("csrw csrwi csrs csrsi csrc csrci".split())
CSR_SWAPS = set("csrrw csrrwi csrrs csrrsi csrrc csrrci".split())
# Reads of a CSR that have a name of their own.
CSR_READS = set("""csrr frcsr frrm frflags fscsr fsrm fsflags fsrmi fsflagsi rdcycle rdtime rdinstret
                   """.split())
LOADS = set("lb lbu lh lhu lw lwu ld".split())
CONSTANTS = set("li lui auipc".split())
# Name sp first but do not compute it: stores, store-conditionals, floating point, vectors.
NOT_COMPUTED = re.compile(r"s[bhwdq]$|sc\.|v|f")


def jump_and_link(words):
    rd = words[0] if len(words) > 1 else "ra"
    return ("call" if rd in LINK else "jump"), int(words[-1], 16)


def jump_register(mnemonic, words):
    rd = {"ret": "zero", "jr": "zero", "jalr": "ra"}[mnemonic]
    if mnemonic == "jalr" and len(words) > 1:
        rd = words[0]
    base = "ra" if mnemonic == "ret" else re.sub(r".*\((\w+)\)", r"\1", words[-1])
    if rd in LINK:
        return "indirect call", None
    return ("return" if base in LINK else "indirect jump"), None


def csr(mnemonic, words):
    name, swaps = (words[0], False) if mnemonic in CSR_WRITES else (words[1], True)
    writes = not (mnemonic in ("csrrs", "csrrc", "csrrsi", "csrrci") and words[2] in ("zero", "0"))
    if name in VECTORS and writes:
        return "vector write", None
    return ("stack switch" if swaps and words[0] == "sp" else "other"), None


def writes_sp(mnemonic, words):
    """words[0] is sp: whether from what is neither it nor the frame pointer."""
    if mnemonic in LOADS or mnemonic in CONSTANTS or mnemonic in CSR_READS:
        return True
    if mnemonic.startswith(("amo", "lr.")):
        return True
    if NOT_COMPUTED.match(mnemonic) or len(words) == 1:  # one operand: changed in place
        return False
    return not any(w in SAME_STACK for w in words[1:])


def expect(mnemonic, operands):
    if mnemonic.startswith("."):
        return None  # data between functions, or what this objdump does not know
    words = [w.strip() for w in re.sub(r"\s*[<#].*", "", operands).split(",")]
    if mnemonic in ("j", "jal"):
        return ("jump", int(words[0], 16)) if mnemonic == "j" else jump_and_link(words)
    if mnemonic in ("ret", "jr", "jalr"):
        return jump_register(mnemonic, words)
    if mnemonic in BRANCHES:
        return "branch", int(words[-1], 16)
    if mnemonic in EXCEPTION_RETURNS:
        return "exception return", None
    if mnemonic == "ecall":
        return "system call", None
    if mnemonic in TRAPS:
        return "trap", None
    if mnemonic in CSR_WRITES or mnemonic in CSR_SWAPS:
        return csr(mnemonic, words)
    if words[0] == "sp" and writes_sp(mnemonic, words):
        return "stack switch", None
    return "other", None


def random_insns(rng, count):
    """Words with low bits 11, of which many are jumps, system instructions or write sp; then every
    compressed instruction once."""
    out = bytearray()
    for _ in range(count):
        w = rng.getrandbits(32) | 3
        if w & 0x1c == 0x1c:
            w ^= 0x10  # not the start of a longer instruction
        draw = rng.getrandbits(8)
        if draw & 3 == 0:
            w = w & ~0x7f | (0x73, 0x67, 0x6f, 0x63)[draw >> 2 & 3]
        if draw & 0x30 == 0:
            w = w & ~0xf80 | 2 << 7
        if draw & 0xc0 == 0:
            w = w & 0xfffff | (0x5, 0x105, 0x205, 0x305)[draw & 3] << 20
        out += w.to_bytes(4, "little")
    for h in range(0x10000):
        if h & 3 != 3:
            out += h.to_bytes(2, "little")
    return bytes(out)
