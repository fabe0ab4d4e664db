#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the functions we find in ELF files with what readelf, objdump and addr2line say.

  symbols_check.py --tool SYMBOLS_TOOL [FILE...]

Programs are compiled for every architecture that has a compiler here, in the forms that differ: PLT
layouts, static, C++, stripped, with a separate debug file by build-id and by debuglink. Each FILE,
where present, is checked as well. For each:

  functions   every address, name, type and size, by the rules of guest/elf/symbols.h applied to readelf's
              symbols and, as type e, to the FDEs of its .eh_frame
  PLT         each label NAME@plt of objdump's; in static programs each IRELATIVE relocation's target
  lines       addr2line, for programs compiled here with -g
  cut         each prefix of a small program is loaded, and none crashes

The exit status is 0 where all agree, 1 where not, 77 where readelf or objdump is missing.
"""
import argparse
import bisect
import os
import re
import shutil
import subprocess
import sys
import tempfile

from gttest.commands import printed, tools
from gttest.readelf import Elf
from gttest.results import status
from symbols_lines import DWARF, compare_lines
from symbols_programs import PROGRAM_C, PROGRAM_CC, PROGRAM_PIC

SHOWN = 10
NO_ROOT = "/nonexistent"
failures = []
counts = {}


def run(*args, text=None):
    return printed(args, input=text.encode() if text else None)


def check(what, ours, theirs):
    """Both are dictionaries; tells the first differences."""
    counts[what] = counts.get(what, 0) + len(theirs)
    wrong = [k for k in sorted(set(ours) | set(theirs), key=str) if ours.get(k) != theirs.get(k)]
    if wrong:
        failures.append(what)
        print("%s: %d of %d differ" % (what, len(wrong), len(theirs)))
        for k in wrong[:SHOWN]:
            name = "%#x" % k if isinstance(k, int) else k
            print("  %s: ours %s, expected %s" % (name, ours.get(k), theirs.get(k)))


class Ours:
    def __init__(self, tool, path, root=None):
        root = ["--root", root] if root else []
        lines = run(tool, *root, path).split("\n")[:-1]
        head = lines[0].split(" ", 6)
        self.base, self.size, self.text_lo, self.text_hi = (int(x, 16) for x in head[1:5])
        self.build_id, self.debug = head[5], head[6]
        self.plt, self.stubs, self.functions, self.aliases = [], {}, {}, set()
        for line in lines[1:]:
            what, rest = line.split(" ", 1)
            if what == "plt":
                self.plt.append(tuple(int(x, 16) for x in rest.split()))
                continue
            addr, size, kind, name = rest.split(" ", 3)
            if what == "alias":
                self.aliases.add((int(addr, 16), name))
            elif kind == "P":
                self.stubs[int(addr, 16)] = name
            else:
                self.functions[int(addr, 16)] = (kind, name, int(size, 16))


def candidates(elf, tables, text):
    """(addr, rank, name, kind, size, limit, typed) by the rules of guest/elf/symbols.h."""
    found = []
    for table, value, size, kind, bind, section, name in elf.symbols:
        name = re.sub(r"(?<=.)@.*", "", name)
        if table not in tables or section == "UND" or not name:
            continue
        typed = kind in ("FUNC", "IFUNC")
        end = elf.section_end(section, value)
        if not typed:
            executable = section.isdigit() and elf.sections[int(section)][3]
            if kind != "NOTYPE" or not executable or end is None or name[0] in ".$":
                continue
        limits = [hi for lo, hi in text if lo <= value < hi]
        if not limits:
            continue
        limit = min(limits[0], end) if end else limits[0]
        letter = {"LOCAL": "t", "WEAK": "w"}.get(bind, "T")
        under = len(name) - len(name.lstrip("_"))
        rank = (not typed, letter == "t", under, letter == "w", len(name), name.encode(errors="replace"))
        found.append((value, rank, name, letter, size, limit, typed))
    return sorted(found)


def expected_functions(elf, debug, plt):
    text = [(v, v + n) for v, n, x in elf.loads if x]
    tables = {t for t, *_ in elf.symbols}
    found = candidates(elf, {".symtab", ".dynsym"}, text)
    if ".symtab" not in tables and debug:
        found = sorted(found + candidates(debug, {".symtab"}, text))
    found = [c for c in found if not any(lo <= c[0] - elf.base < hi for lo, hi in plt)]
    frames, groups, sized_end, covered_end = {}, {}, 0, 0
    for addr, size in elf.frames():
        limit = [hi for lo, hi in text if lo <= addr < hi]
        if limit and not any(lo <= addr - elf.base < hi for lo, hi in plt):
            frames[addr] = max(size, frames.get(addr, 0))
            name = "%s+0x%x" % (os.path.basename(elf.path), addr - elf.base)
            found.append((addr, (2,), name, "e", size, limit[0], False))
    found.sort()
    for c in found:
        groups.setdefault(c[0], []).append(c)
    kept, names, guessed = [], set(), set()
    for addr, group in sorted(groups.items()):
        first = group[0]
        if first[3] == "e" and addr < covered_end:
            continue
        names |= {(addr - elf.base, c[2]) for c in group if c[3] != "e" or c is first}
        if not first[6] and addr < sized_end:
            continue
        size = next((c[4] for c in group if c[4] and c[6] == first[6] and c[3] != "e"), 0) or \
            frames.get(addr, 0)
        end = min(addr + size, first[5]) if size else first[5]
        kept.append((addr, end, first))
        if not size:
            guessed.add(addr - elf.base)
        if size and first[3] != "e":
            covered_end = max(covered_end, end)
        if first[6] and size:
            sized_end = max(sized_end, end)
    starts = [k[0] for k in kept] + [lo + elf.base for lo, _ in plt]
    starts.sort()
    out = {}
    for addr, end, first in kept:
        after = bisect.bisect_right(starts, addr)
        if after < len(starts):
            end = min(end, starts[after])
        out[addr - elf.base] = (first[3], first[2], end - addr)
    return out, names, guessed


def build_id_debug(elf_path, root="/usr/lib/debug"):
    m = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-nW", elf_path))
    path = m and os.path.join(root, ".build-id", m[1][:2], m[1][2:] + ".debug")
    return path if path and os.path.exists(path) else None


def objdump_for(path):
    machine = re.search(r"Machine:\s+(.*)", run("readelf", "-hW", path))[1]
    names = {"AArch64": "aarch64-linux-gnu-", "RISC-V": "riscv64-linux-gnu-", "X86-64": "", "80386": ""}
    prefix = next((p for key, p in names.items() if key in machine), "none-")
    return shutil.which(prefix + "objdump")


def check_plt(label, ours, elf):
    objdump = objdump_for(elf.path)
    if not objdump:
        return
    sections = [s for s in (".plt", ".plt.sec", ".plt.got", ".iplt")
                if s in {v[0] for v in elf.sections.values()}]
    if not sections:
        check(label + " PLT", ours.stubs, {})
        return
    text = run(objdump, "-d", *sum((["-j", s] for s in sections), []), elf.path)
    labels = {int(a, 16) - elf.base: n for a, n in re.findall(r"^([0-9a-f]+) <([^>]+)@plt>:", text, re.M)}
    # objdump gives a PIE's stubs 16 bytes; binutils 2.44 links them with 24, each, as the header, from a bti on
    begins = [int(a, 16) - elf.base for a in re.findall(r"^ *([0-9a-f]+):.*\tbti\tc$", text, re.M)]
    if len(begins) == len(labels) + 1:
        labels = dict(zip(begins[1:], (n for _, n in sorted(labels.items()))))
    labels = {a: n for a, n in labels.items() if not n.startswith("*ABS*")}
    # objdump counts relocations, so it gives stubs to thread-local variables, which have none
    tls = set(re.findall(r" R_\w*TLSDESC\w* +[0-9a-f]+ +([^ @]+)", run("readelf", "-rW", elf.path)))
    labels = {a: n.split("@")[0] for a, n in labels.items()}
    labels = {a: n for a, n in labels.items() if n not in tls}
    check(label + " PLT", {a: ours.stubs.get(a) for a in labels}, labels)


def check_static_plt(label, ours, elf):
    relocs = re.findall(r"^[0-9a-f]+ +\w+ +R_\w+IREL\w* +([0-9a-f]+)", run("readelf", "-rW", elf.path), re.M)
    if not relocs or not any(t == ".symtab" for t, *_ in elf.symbols):
        return
    best = {}
    for c in candidates(elf, {".symtab"}, [(v, v + n) for v, n, x in elf.loads if x]):
        best.setdefault(c[0], c[2])
    check(label + " IRELATIVE", dict.fromkeys(ours.stubs.values(), 1),
          dict.fromkeys((best[int(r, 16)] for r in relocs), 1))
    check(label + " stub count", {"n": len(ours.stubs)}, {"n": len(relocs)})


LEAVES = re.compile(r"\t(ret|retq|jmp|jmpq|b|br|j|jr|mret|sret|iret|iretq|eret|tail)\b")


def check_guesses(elf, ours, functions, guessed):
    """In a stripped file a symbol without a size ends where its code leaves, at the latest where the
    next one begins: by objdump's reading of its last instruction."""
    objdump = objdump_for(elf.path)
    for addr in guessed & set(ours.functions) & set(functions):
        kind, name, size = ours.functions[addr]
        most = functions[addr][2]
        start = elf.base + addr
        code = objdump and run(objdump, "-d", "--start-address=%#x" % start,
                   "--stop-address=%#x" % (start + size), elf.path)
        if size == most or (code and size < most and LEAVES.search(code.rstrip().rsplit("\n", 1)[-1])):
            functions[addr] = (kind, name, size)


def check_file(tool, path, label=None, root=None, debug=None):
    label = label or os.path.basename(path)
    elf = Elf(path)
    ours = Ours(tool, path, root)
    debug = debug or (build_id_debug(path) if root is None else None)
    has_symtab = any(t == ".symtab" for t, *_ in elf.symbols)
    check(label + " debug file", {"path": ours.debug}, {"path": "-" if has_symtab or not debug else debug})
    top = max(v + n for v, n, _ in elf.loads)
    check(label + " range", {"base": ours.base, "size": ours.size},
          {"base": elf.base, "size": (top + 0xfff & ~0xfff) - elf.base})
    functions, names, guessed = expected_functions(elf, debug and Elf(debug, elf.base), ours.plt)
    if not has_symtab and not debug:
        check_guesses(elf, ours, functions, guessed)
    check(label + " functions", ours.functions, functions)
    plain = {(a, v[1]) for a, v in ours.functions.items()} | ours.aliases
    plain = {p for p in plain if not any(lo <= p[0] < hi for lo, hi in ours.plt)}
    check(label + " names", dict.fromkeys(plain, 1), dict.fromkeys(names, 1))
    check_plt(label, ours, elf)
    if not ours.plt or not any(s[0] == ".dynsym" for s in elf.sections.values()):
        check_static_plt(label, ours, elf)
    return ours


def check_lines(tool, path, label, source, root=NO_ROOT, debug=None):
    elf = Elf(path)
    ours = Ours(tool, path, root)
    addrs = [a + i for a, v in ours.functions.items() for i in range(0, v[2], 2)]
    theirs = run("addr2line", "-e", debug or path, *("%#x" % (a + elf.base) for a in addrs)).splitlines()
    theirs = {a: os.path.basename(t.split(" ")[0]) for a, t in zip(addrs, theirs)}
    theirs = {a: t if re.search(r":[1-9]", t) else "??:0" for a, t in theirs.items()}
    check(label + " source", {"seen": any(t.startswith(source) for t in theirs.values())}, {"seen": True})
    text = "".join("%x\n" % a for a in theirs)
    mine = run(tool, "--root", root, "--lines", path, text=text).splitlines()
    check(label + " lines", {a: os.path.basename(m) for a, m in zip(theirs, mine)}, theirs)


def check_functions(tool, path, label, debug=None, root=NO_ROOT):
    """Each function's file, first line and all lines, against the rows that readelf shows."""
    found = run(tool, "--root", root, "--functions", path).splitlines()
    ours, theirs, seen = compare_lines(found, run("readelf", "--debug-dump=decodedline", debug or path))
    check(label + " sources", ours, theirs)
    check(label + " sources", {"seen": seen > 1}, {"seen": True})


class Builder:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        for name, text in (("program.c", PROGRAM_C), ("program.cc", PROGRAM_CC), ("pic.c", PROGRAM_PIC)):
            with open(os.path.join(folder, name), "w", encoding="ascii") as f:
                f.write(text)

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, name, compiler, source, *flags):
        """The program's path, or None where this compiler cannot make it."""
        if not shutil.which(compiler):
            return None
        out = self.path(name)
        done = subprocess.run([compiler, "-O1", "-o", out, self.path(source), *flags],
                              capture_output=True, check=False)
        return out if done.returncode == 0 else None

    def gnu(self, arch):
        prefix = "" if arch == os.uname().machine else arch + "-linux-gnu-"
        gcc = prefix + "gcc"
        variants = {"plain": [], "now": ["-Wl,-z,now"], "static": ["-static"], "no-plt": ["-fno-plt"],
                    "no-pie": ["-no-pie"], "lld": ["-fuse-ld=lld"]}
        if arch == "x86_64":
            variants["ibt"] = ["-fcf-protection=full", "-Wl,-z,ibtplt"]
            variants["gold"] = ["-fuse-ld=gold"]
            variants["retpoline"] = ["-fuse-ld=lld", "-Wl,-z,retpolineplt"]
        if arch == "aarch64":
            variants["bti"] = ["-mbranch-protection=standard", "-Wl,-z,force-bti"]
            variants["pac"] = ["-Wl,-z,pac-plt"]
        for variant, flags in variants.items():
            label = arch + "-" + variant
            path = self.compile(label, gcc, "program.c", *flags)
            if path:
                ours = check_file(self.tool, path, label)
                if variant not in ("static", "no-plt"):
                    check(label + " stubs", {n: n in ours.stubs.values() for n in ("PLT0", "puts", "printf")},
                          {"PLT0": True, "puts": True, "printf": True})
        path = self.compile(arch + "-c++", prefix + "g++", "program.cc")
        if path:
            check_file(self.tool, path, arch + "-c++")
        path = self.compile(arch + "-debug", gcc, "program.c", "-g")
        if path:
            check_lines(self.tool, path, arch + "-gcc", "program.c")
            check_functions(self.tool, path, arch + "-gcc")
            self.separate(arch, path, prefix)
            run(prefix + "strip", path)
            check_file(self.tool, path, arch + "-stripped", NO_ROOT)
            cut = int(run(self.tool, "--cut", path))
            check(arch + " cut", {"some prefixes load": cut > 0}, {"some prefixes load": True})

    def separate(self, arch, path, prefix):
        """A stripped program whose debug file is found by build-id, then by debuglink and CRC."""
        stripped, root = self.path(arch + "-bare"), self.path(arch + "-root")
        build_id = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-nW", path))[1]
        debug = os.path.join(root, ".build-id", build_id[:2], build_id[2:] + ".debug")
        os.makedirs(os.path.dirname(debug))
        run(prefix + "objcopy", "--only-keep-debug", path, debug)
        run(prefix + "strip", "-o", stripped, path)
        ours = check_file(self.tool, stripped, arch + "-build-id", root, debug)
        check(arch + " build-id", {"main": "main" in [f[1] for f in ours.functions.values()]}, {"main": True})
        check_lines(self.tool, stripped, arch + "-build-id", "program.c", root, debug)
        check_functions(self.tool, stripped, arch + "-build-id", debug, root)
        no_id, link = self.path(arch + "-no-id"), self.path("linked.debug")
        run(prefix + "objcopy", "--remove-section", ".note.gnu.build-id", path, no_id)
        run(prefix + "objcopy", "--only-keep-debug", no_id, link)
        run(prefix + "strip", no_id)
        run(prefix + "objcopy", "--add-gnu-debuglink=" + link, no_id)
        places = (link, self.path(".debug/linked.debug"), root + os.path.realpath(self.folder) + "/linked.debug")
        for place in places:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if place != link:
                os.rename(link, place)
            check_file(self.tool, no_id, arch + "-debuglink", root, place)
            link = place
        with open(link, "ab") as f:
            f.write(b"x")
        check(arch + " wrong CRC", {"debug": Ours(self.tool, no_id, root).debug}, {"debug": "-"})
        os.remove(link)

    def clang(self):
        """PLTs of architectures without a compiler of their own, and line tables without aranges."""
        for target in ("i386-linux-gnu", "armv7-linux-gnueabihf", "riscv32-linux-gnu", "x86_64-linux-gnu",
                       "aarch64-linux-gnu", "riscv64-linux-gnu"):
            path = self.compile("clang-" + target, "clang", "pic.c", "--target=" + target, "-shared", "-fPIC",
                                "-nostdlib", "-fuse-ld=lld", "-mno-relax" if "riscv" in target else "-g0")
            if path:
                ours = check_file(self.tool, path, "clang-" + target)
                check(target + " stubs", dict.fromkeys(ours.stubs.values(), 1),
                      dict.fromkeys(["PLT0", "far_one", "far_two", "far_three"], 1))
        path = self.compile("clang-debug", "clang", "program.c", "-g")
        if path:
            check_lines(self.tool, path, "clang", "program.c")
        for compiler, source in ("gcc", "program.c"), ("g++", "program.cc"), ("clang", "program.c"):
            for flags in DWARF:
                label = " ".join((compiler, *flags))
                path = self.compile("dwarf", compiler, source, *flags)
                if path:
                    check_functions(self.tool, path, label)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    tools("readelf", "objdump", "addr2line")
    for path in options.files:
        if os.path.exists(path):
            check_file(options.tool, path, path)
            if build_id_debug(path):
                check_file(options.tool, path, path + " without debug file", NO_ROOT)
    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(options.tool, folder)
        for arch in ("x86_64", "aarch64", "riscv64"):
            builder.gnu(arch)
        builder.clang()
    totals = {}
    for what, n in counts.items():
        kind = what.split(" ", 1)[1]
        totals[kind] = totals.get(kind, 0) + n
    for kind, n in sorted(totals.items()):
        print("%8d %s" % (n, kind))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(status(main))
