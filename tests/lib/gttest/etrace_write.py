# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes etrace streams, packet by packet, for tests of what reads them: docs/formats/etrace.md."""
import struct

from gttest.etrace import ARCH, BARRIER, EVENT, EVENT_OLD, EXEC, INFO, MEM, NOTE, TB

AARCH64, RISCV, X86_64 = 183, 243, 62
MACHINES = {'x86_64': X86_64, 'aarch64': AARCH64, 'riscv64': RISCV}


def packet(kind, unit, body):
    return struct.pack('<HHI', kind, unit, len(body)) + body


def info(attr=0):
    return packet(INFO, 0, struct.pack('<QHH', attr, 0, 0))


def arch(machine=X86_64, bits=64, big_endian=0):
    return packet(ARCH, 0, struct.pack('<IBB2xIBB2x', machine, bits, big_endian, X86_64, 64, 0))


def start(machine=X86_64, attr=0, **guest):
    return info(attr) + arch(machine, **guest)


def execs(unit, time, entries, bits=64):
    """Entries are (duration, start, end). A barrier follows."""
    layout = '<IQQ' if bits == 64 else '<III'
    body = struct.pack('<Q', time) + b''.join(struct.pack(layout, *e) for e in entries)
    return packet(EXEC, unit, body) + packet(BARRIER, unit, b'')


def ranges(entries, unit=0, bits=64):
    """[start, end) of each entry, in packets of 1000."""
    return b''.join(execs(unit, at, [(1, *e) for e in entries[at:at + 1000]], bits)
                    for at in range(0, len(entries), 1000))


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


def count(start_at, end, value, previous=0, device='coverage', name=None):
    """A block's count, as `flags=coverage` writes it."""
    return event(0, 0, device, name or f'0x{start_at:x}-0x{end:x}', value, previous)


def old_event(unit, time, device, name, value):
    device, name = device.encode() + b'\0', name.encode() + b'\0'
    return packet(EVENT_OLD, unit, struct.pack('<QQHHH', time, value, unit, len(device),
                                               len(name)) + device + name)
