# SPDX-License-Identifier: GPL-2.0-or-later
"""etrace streams for tests, packed from the format's description."""
import struct

INFO, EXEC, TB, NOTE, MEM, ARCH, BARRIER, EVENT_OLD, EVENT = 0x4554, 1, 2, 3, 4, 5, 6, 7, 8
AARCH64, RISCV, X86_64 = 183, 243, 62


def packet(kind, unit, body):
    return struct.pack('<HHI', kind, unit, len(body)) + body


def info(attr=0):
    return packet(INFO, 0, struct.pack('<QHH', attr, 0, 0))


def arch(machine=X86_64, bits=64, big_endian=0):
    return packet(ARCH, 0, struct.pack('<IBB2xIBB2x', machine, bits, big_endian, X86_64, 64, 0))


def start(**guest):
    return info() + arch(**guest)


def execs(unit, time, entries, bits=64):
    """Entries are (duration, start, end). A barrier follows."""
    layout = '<IQQ' if bits == 64 else '<III'
    body = struct.pack('<Q', time) + b''.join(struct.pack(layout, *e) for e in entries)
    return packet(EXEC, unit, body) + packet(BARRIER, unit, b'')


def translated(unit, vaddr, paddr, code):
    return packet(TB, unit, struct.pack('<QQQII', vaddr, paddr, 0, len(code), 0) + code)


def note(unit, time, text):
    return packet(NOTE, unit, struct.pack('<Q', time) + text)


def memory(unit, time, vaddr, paddr, value, write, size):
    return packet(MEM, unit, struct.pack('<QQQQIB3x', time, vaddr, paddr, value, write, size))


def event(unit, time, device, name, value, previous=0, flags=0):
    device, name = device.encode() + b'\0', name.encode() + b'\0'
    return packet(EVENT, unit, struct.pack('<IHHQQQHH', flags, unit, 0, time, value, previous,
                                           len(device), len(name)) + device + name)


def old_event(unit, time, device, name, value):
    device, name = device.encode() + b'\0', name.encode() + b'\0'
    return packet(EVENT_OLD, unit, struct.pack('<QQHHH', time, value, unit, len(device),
                                               len(name)) + device + name)
