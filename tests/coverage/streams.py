# SPDX-License-Identifier: GPL-2.0-or-later
"""etrace streams: written packet by packet, and made from QEMU's own log of a run."""
import os
import re
import struct
import subprocess

MACHINES = {'x86_64': 62, 'aarch64': 183, 'riscv64': 243}
EXEC, EVENT, INFO, ARCH, BARRIER = 1, 8, 0x4554, 5, 6


def packet(kind, body=b'', unit=0):
    return struct.pack('<HHI', kind, unit, len(body)) + body


def head(machine, bits=64, attr=0):
    return packet(INFO, struct.pack('<QHH', attr, 0, 0)) + packet(
        ARCH, struct.pack('<IBB2xIBB2x', machine, bits, 0, 62, 64, 0))


def execs(entries, unit=0, bits=64):
    """[start, end) of each entry, in packets of 1000."""
    form = '<IQQ' if bits == 64 else '<III'
    out = b''
    for at in range(0, len(entries), 1000):
        body = b''.join(struct.pack(form, 1, *e) for e in entries[at:at + 1000])
        out += packet(EXEC, struct.pack('<Q', at) + body, unit) + packet(BARRIER, unit=unit)
    return out


def count(start, end, value, previous=0, device='coverage', name=None):
    """A block's count, as `flags=coverage` writes it."""
    device = device.encode() + b'\0'
    name = (name or f'0x{start:x}-0x{end:x}').encode() + b'\0'
    return packet(EVENT, struct.pack('<IHHQQQHH', 0, 0, 0, 0, value, previous, len(device),
                                     len(name)) + device + name)


def run_entries(arch, program, *arguments, folder):
    """What ran, block by block, of a program that QEMU's user mode runs."""
    log = os.path.join(folder, 'qemu.log')
    subprocess.run([f'qemu-{arch}', '-d', 'exec,nochain,in_asm', '-D', log, program, *arguments],
                   check=False, timeout=60, stdin=subprocess.DEVNULL, capture_output=True)
    ends, entries, block, end = {}, [], None, None
    instruction = re.compile(r'0x([0-9a-f]+):\s+(OBJD-[TH]: )?([0-9a-f]+(?: [0-9a-f]{2,})*)')
    with open(log, encoding='utf-8', errors='replace') as f:
        for line in f:
            if line.startswith('Trace'):
                pc = int(line.split('/')[1], 16)
                if block is not None:
                    ends[block], block = end, None
                entries.append((pc, ends[pc]))
            elif line.startswith('IN:'):
                block = None
            else:
                found = instruction.match(line)
                if found:
                    start = int(found.group(1), 16)
                    block = start if block is None else block
                    end = start + len(found.group(3).replace(' ', '')) // 2
    os.unlink(log)
    return entries
