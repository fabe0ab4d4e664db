# SPDX-License-Identifier: GPL-2.0-or-later
"""An ELF file of a kernel's image: its code and its functions, as a vmlinux has them. Debian's
vmlinux, half a GB with its debug information, is nothing to fetch for this."""
import os
import struct
import subprocess

import measure
import workloads

EM_AARCH64, ET_EXEC, PT_LOAD, SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB = 183, 2, 1, 1, 2, 3
EHDR, PHDR, SHDR, SYM = (struct.Struct('<' + f) for f in (
    '16sHHIQQQIHHHHHH', 'IIQQQQQQ', 'IIQQQQIIQQ', 'IBBHQQ'))


def functions(bench, image):
    """(offset in the image, name) of its functions, and where they end, by `guesttrace symbols`."""
    qemu = bench.qemus('machine', 'aarch64')[0]
    plugin = bench.plugin('uftrace', 'output=' + bench.data, 'depth=1', 'summary=off')
    measure.remove(bench.data)
    measure.run(workloads.with_plugin(
        workloads.bare_machine('aarch64', 'STORM', 10)(bench.context, qemu), plugin), bench.folder)
    subprocess.run([bench.guesttrace, 'symbols', '--dir', bench.data, image + ':0'], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = []
    with open(os.path.join(bench.data, os.path.basename(image) + '.sym')) as f:
        for line in f:
            if not line.startswith('#'):
                address, _, name = line.split()
                found.append((int(address, 16), name))
    measure.remove(bench.data)
    return [f for f in found if f[1] != '__sym_end'], found[-1][0]


def make(bench, base=0xffff800008000000):
    """The path of the file; the kernel runs at base unless it chose another place (nokaslr)."""
    image = os.path.join(workloads.linux_files('aarch64'), 'vmlinuz')
    out = bench.context.path('kernel.elf')
    listed, end = functions(bench, image)
    with open(image, 'rb') as f:
        code = f.read(end)
    names, symbols = b'\0', SYM.pack(0, 0, 0, 0, 0, 0)
    for (at, name), following in zip(listed, [a for a, _ in listed[1:]] + [end]):
        symbols += SYM.pack(len(names), 0x12, 0, 1, base + at, following - at)  # global, a function
        names += name.encode() + b'\0'
    at = [0x10000]
    for part in (code, symbols, names):
        at.append(at[-1] + len(part) + -len(part) % 8)
    sections = [(0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                (0, SHT_PROGBITS, 6, base, at[0], len(code), 0, 0, 4, 0),
                (0, SHT_SYMTAB, 0, 0, at[1], len(symbols), 3, 1, 8, SYM.size),
                (0, SHT_STRTAB, 0, 0, at[2], len(names), 0, 0, 1, 0)]
    with open(out, 'wb') as f:
        f.write(EHDR.pack(b'\x7fELF\2\1\1', ET_EXEC, EM_AARCH64, 1, base, EHDR.size, at[3], 0,
                          EHDR.size, PHDR.size, 1, SHDR.size, len(sections), 3))
        f.write(PHDR.pack(PT_LOAD, 5, at[0], base, base, len(code), len(code), 0x10000))
        for part, where in zip((code, symbols, names), at):
            f.seek(where)
            f.write(part)
        f.seek(at[3])
        f.write(b''.join(SHDR.pack(*s) for s in sections))
    return out
