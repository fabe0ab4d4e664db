# SPDX-License-Identifier: GPL-2.0-or-later
"""What objdump's x86 text (AT&T syntax) means, for objdump_check.py: 64-, 32- and 16-bit code."""
import re

OBJDUMPS = ("x86_64-linux-gnu-objdump",)
ASSEMBLERS = ("x86_64-linux-gnu-as",)
ASSEMBLER_FLAGS = ("--64", "--defsym", "MODE=64")
MACHINE = "i386:x86-64"
ORIGIN = 0x7f0000000000  # branches do not wrap there

PREFIX = re.compile(r"(data(16|32)|addr(16|32)|rep(n?[ez])?|lock|bnd|notrack|xacquire|xrelease"
                    r"|[c-gs]s|rex(\.[WRXB]+)?)$")

KINDS = {}
for kind, names in {
    "return": "ret retw retl retq lret lretw lretl lretq",
    "exception return": """iret iretw iretl iretq sysret sysretl sysretq sysexit sysexitl sysexitq
                           rsm uiret erets eretu""",
    "system call": "syscall sysenter int int1 icebp into vmcall vmmcall vmgexit",
    "trap": "int3 ud2 ud1 ud1w ud1l ud1q ud0 ud0w ud0l ud0q",
    "vector write": "lidt lidtw lidtl lidtq wrmsr wrmsrns wrmsrlist",
}.items():
    for name in names.split():
        KINDS[name] = kind

CALL = re.compile(r"l?call[wlq]?$")
JUMP = re.compile(r"l?jmp[wlq]?$")
BRANCH = re.compile(r"(j(n?[abceglopsz]|n?[abgl]e|p[eo]|[er]?cxz)|loop(n?[ez])?[wlq]?|xbegin[wlq]?)"
                    r"(,p[nt])?$")

SP = ("%rsp", "%esp", "%sp")
SAME_STACK = SP + ("%rbp", "%ebp", "%bp")
# The last operand is read only.
READERS = re.compile(r"(cmp|test|push|bt|verr|verw|lldt|ltr|lmsw|wr[fg]sbase|inv\w+|out|ptwrite|nop"
                     r"|umonitor|umwait|tpause|mcommit|incssp|jmp|call|senduipi|vmwrite)[wlq]?\b")
# Computes a value rather than load one; not the stack pointer of anything.
COMPUTES = re.compile(r"(add|adc|sub|sbb|and|or|xor|neg|not|inc|dec|sh[lr]d?|sa[lr]|ro[lr]|rc[lr]"
                      r"|i?mul|bs[fr]|bswap|bt[scr]|[lt]zcnt|popcnt|xadd|cmpxchg|adcx|adox|andn"
                      r"|bextr|bls\w+|pdep|pext|rorx|s[ah][lr]x|bzhi|mulx|crc32|rd\w+|lar|lsl|smsw|sldt"
                      r"|str|v?cvt\w+|v?pmovmskb|v?movmskp[sd]|v?pextr\w|v?extractps|v?pinsr\w"
                      r"|mov[sz]b\w+|vmovd|vmovq|tzmsk|t1mskc|kmov\w|in|ins\w|arpl|vmread)[bwlq]?$")
LEA = re.compile(r"lea[wlq]?$")
# Not an instruction, or one of the 386 alone, or what older objdumps say for erets and eretu.
NO_TEXT = re.compile(r"\(bad\)|%\?|^\.|%tr\d|rep\w+ clac")
SEGMENT = re.compile(r"%[c-gs]s$")


def random_insns(rng, count):
    """Opcodes that matter more often than others, behind prefixes and before anything."""
    prefixes = [b"", b"", b"", b"\x66", b"\xf2", b"\xf3", b"\x3e", b"\x67", b"\x48", b"\x49",
                b"\x4c", b"\x66\x41", b"\x45"]
    opcodes = bytes.fromhex("5c6370748789898b8b8d8d8f949abcc2c3c7cacbcccdcecfe0e3e8e9eaebf1ffffff")
    escaped = bytes.fromhex("01010105070b202130343540447e8085aab2b4b5b7b9bfff")
    out = bytearray()
    for _ in range(count):
        out += rng.choice(prefixes)
        how = rng.random()
        if how < 0.5:
            out.append(rng.choice(opcodes))
        elif how < 0.8:
            out += bytes((0x0f, rng.choice(escaped)))
        out.append(rng.choice((0x24, 0x25, 0x64, 0xc4, 0xec, 0xe5, 0xe0, rng.randrange(256))))
        out += rng.randbytes(rng.randrange(8))
    # What these begin in 64-bit mode (APX) differs between versions of objdump.
    return bytes(out.replace(b"\x62", b"\x90").replace(b"\xd5", b"\x90"))


def split(operands):
    """At the commas outside of parentheses."""
    return [w.strip() for w in re.split(r",(?![^(]*\))", operands) if w.strip()]


def undecidable(mnemonic, words):
    """Text of bytes that are something else in another mode, with the same size."""
    if mnemonic.startswith("movsxd"):
        return words[-1] in ("%esp", "%sp")  # arpl
    if mnemonic in ("lds", "les"):
        return words[-1] in SP  # VEX
    if LEA.match(mnemonic) and words[-1] in SP:
        short = re.match(r"(?:%[c-gs]s:)?(-?0x[0-9a-f]+)?\(%(b[xp]|[sd]i)[,)]", words[0])
        return short and -128 <= int(short.group(1) or "0", 16) < 128
    return False


def lea_base(memory):
    return re.search(r"\(([^,)]*)", memory).group(1) if "(" in memory else ""


def switches_stack(mnemonic, words):
    if mnemonic.startswith("xchg"):
        return (words[0] in SP and words[1] not in SAME_STACK) or (
            words[1] in SP and words[0] not in SAME_STACK)
    if not words or words[-1] not in SP or READERS.match(mnemonic) or COMPUTES.match(mnemonic):
        return False
    if LEA.match(mnemonic):
        return lea_base(words[0]) not in SAME_STACK
    if len(words) == 1:
        return mnemonic.startswith("pop")
    return words[0] not in SAME_STACK and not SEGMENT.match(words[0])


def transfer(direct, indirect, operands):
    if operands.startswith("*"):
        return indirect, None
    words = split(operands)
    return (direct, int(words[0], 16)) if len(words) == 1 else (indirect, None)  # $segment,$offset


def expect(mnemonic, operands):
    text = re.sub(r"\s*[<#].*", "", (mnemonic + " " + operands).strip())
    if NO_TEXT.search(text):
        return None
    words = text.split()
    while words and PREFIX.match(words[0]):
        words.pop(0)
    if not words:
        return "other", None  # objdump prints prefixes that it cannot place on their own
    mnemonic, operands = words[0], " ".join(words[1:])
    if CALL.match(mnemonic):
        return transfer("call", "indirect call", operands)
    if JUMP.match(mnemonic):
        return transfer("jump", "indirect jump", operands)
    if BRANCH.match(mnemonic):
        return "branch", int(operands, 16)
    if mnemonic in KINDS:
        return KINDS[mnemonic], None
    words = split(operands)
    if undecidable(mnemonic, words):
        return None
    return ("stack switch" if switches_stack(mnemonic, words) else "other"), None
