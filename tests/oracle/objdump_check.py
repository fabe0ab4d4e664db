#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares our classification of every instruction of a file with what objdump says it is.

  objdump_check.py --tool CLASSIFY_TOOL --arch ARCH [--rules ARCH] [--random COUNT] [FILE...]

objdump disassembles each FILE: an ELF file, code as it stands in memory (.bin), or an assembler source
(.S), which is assembled first and has to show every kind at least once. Absent files are passed over; where no program is left the test
counts as skipped, though the rest is compared.
--random adds COUNT made-up instructions, always the same. expect_ARCH.py, of --rules where that is
another mode of the same machine, says what each mnemonic and operand text means:

  OBJDUMPS, ASSEMBLERS      names of programs to try
  ASSEMBLER_FLAGS           for .S files
  OBJDUMP_FLAGS             for all files, where there are any
  MACHINE, ORIGIN           objdump's -m for --random and .bin files, and where those are (0)
  random_insns(rng, count) -> bytes
  expect(mnemonic, operands) -> (kind, target)   kind as gt_arch_insn_kind_name says it; target a number
                            where the kind has one, else None. None instead of the pair: text that is
                            no instruction, or not decidable, which is counted and not compared.

A third element True marks a conditional call or return. may_follow_call has to hold after each call.
The exit status is 0 where all agree, 1 where not, 77 where objdump or every program is missing.
"""
import argparse
import collections
import importlib
import os
import random
import shutil
import subprocess
import sys
import tempfile

from gttest.commands import tool
from gttest.results import FAILED, GOOD, Skip, status

SHOWN = 20
CALLS = ("call", "indirect call")


def memory_order(raw):
    """objdump prints the bytes apart, or as words of 2 or 4 bytes, highest byte first."""
    return "".join(bytes.fromhex(w)[::-1].hex() for w in raw.split())


def disassembly(objdump, rules, path, *options):
    """Yields (pc, bytes, mnemonic, operands) of each line that has an instruction."""
    flags = ("-w", *getattr(rules, "OBJDUMP_FLAGS", ()), *(options or ("-d",)))
    done = subprocess.run([objdump, *flags, path], stdout=subprocess.PIPE, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C"})
    for line in done.stdout.split("\n"):
        parts = line.split("\t")
        if len(parts) < 3 or not parts[0].endswith(":"):
            continue
        yield (parts[0][:-1].strip(), memory_order(parts[1]), parts[2].strip(),
               " ".join(parts[3:]).strip())


def classified(tool, arch, insns):
    text = "".join("%s %s\n" % (pc, raw) for pc, raw, _, _ in insns)
    done = subprocess.run([tool, arch], input=text, stdout=subprocess.PIPE, text=True, check=True)
    lines = done.stdout.split("\n")[:-1]
    if len(lines) != len(insns):
        sys.exit("objdump_check: %d answers to %d instructions" % (len(lines), len(insns)))
    return [line.split(" ") for line in lines]


def check(path, insns, answers, kinds, rules):
    """Prints a line a disagreement (the first SHOWN) and the counts; returns how many, and the
    counts by kind."""
    counts, bad, passed_over = collections.Counter(), 0, 0
    memo = {}
    for (pc, raw, mnemonic, operands), (kind, target, conditional, after) in zip(insns, answers):
        key = (mnemonic, operands)
        if key not in memo:
            memo[key] = rules.expect(mnemonic, operands)
        want = memo[key]
        if want is None:
            passed_over += 1
            continue
        got = (kinds[int(kind)], int(target, 16), conditional == "1")
        want = (want[0], want[1] or 0, len(want) > 2 and want[2])
        counts[want[0]] += 1
        if got == want and (want[0] not in CALLS or after == "1"):
            continue
        bad += 1
        if bad <= SHOWN:
            print("%s:%s: %s %s %s: expected %s %x%s, got %s %x%s%s" % (
                path, pc, raw, mnemonic, operands, want[0], want[1], " conditional" * want[2],
                got[0], got[1], " conditional" * got[2],
                ", may_follow_call %s" % after if want[0] in CALLS else ""))
    print("%s: %d instructions, %d disagreements, %d not compared" % (
        path, len(insns), bad, passed_over))
    print("  " + ", ".join("%s %d" % (k, counts[k]) for k in kinds if counts[k]))
    return bad, counts


def assembled(source, rules, folder):
    """The object file of a .S file; None where there is no assembler for it."""
    assembler = next(filter(None, map(shutil.which, rules.ASSEMBLERS)), None)
    if assembler is None:
        return None
    out = os.path.join(folder, os.path.basename(source) + ".o")
    subprocess.run([assembler, *rules.ASSEMBLER_FLAGS, source, "-o", out], check=True)
    return out


def raw(rules):
    origin = f"--adjust-vma={getattr(rules, 'ORIGIN', 0):#x}"
    return "-D", "-z", "-b", "binary", "-m", rules.MACHINE, origin


def inputs(args, rules, objdump, folder):
    """Yields (name, instructions, has to have every kind) of each file that is here."""
    for path in args.files:
        source = path.endswith(".S")
        options = raw(rules) if path.endswith(".bin") else ()
        there = assembled(path, rules, folder) if source else os.path.exists(path) and path
        if there:
            yield path, list(disassembly(objdump, rules, there, *options)), source
        else:
            print("%s: %s" % (path, "no assembler" if source else "absent"))
    if args.random:
        path = os.path.join(folder, "random.bin")
        with open(path, "wb") as f:
            f.write(rules.random_insns(random.Random(1), args.random))
        yield "random", list(disassembly(objdump, rules, path, *raw(rules))), False


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tool", required=True)
    p.add_argument("--arch", required=True)
    p.add_argument("--rules")
    p.add_argument("--random", type=int, default=0)
    p.add_argument("files", nargs="*")
    args = p.parse_args()

    rules = importlib.import_module("expect_" + (args.rules or args.arch))
    objdump = tool(*rules.OBJDUMPS)
    kinds = subprocess.run([args.tool, "--kinds"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.split("\n")[:-1]

    bad, checked = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, insns, every_kind in inputs(args, rules, objdump, folder):
            if not insns:
                sys.exit("objdump_check: %s: no instructions" % name)
            wrong, counts = check(name, insns, classified(args.tool, args.arch, insns), kinds, rules)
            bad, checked = bad + wrong, checked + 1
            for kind in kinds if every_kind else ():
                if not counts[kind]:
                    print("%s: has no %s" % (name, kind))
                    bad += 1
    programs = [f for f in args.files if not f.endswith(".S")]
    if bad:
        return FAILED
    if not checked or programs and not any(map(os.path.exists, programs)):
        raise Skip("none of the programs to disassemble is here")
    return GOOD


if __name__ == "__main__":
    sys.exit(status(main))
