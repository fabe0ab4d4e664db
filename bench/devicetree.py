# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds a node to a flattened device tree (the .dtb of QEMU's `-M ...,dumpdtb=FILE`).

U-Boot reads its boot command from the node /config: so a boot of it needs nobody at its console, and
ends by itself.
"""
import struct

MAGIC = 0xd00dfeed
BEGIN_NODE, END_NODE, PROP, END = 1, 2, 3, 9
HEADER = struct.Struct('>10I')  # magic size structure strings reserved version compatible cpu ss st


def pad(data):
    return data + b'\0' * (-len(data) % 4)


def node(name, properties, strings):
    """The structure of a node with these properties (bytes by name), and the strings block that
    names them."""
    out = struct.pack('>I', BEGIN_NODE) + pad(name.encode() + b'\0')
    for key, value in properties.items():
        out += struct.pack('>3I', PROP, len(value), len(strings)) + pad(value)
        strings += key.encode() + b'\0'
    return out + struct.pack('>I', END_NODE), strings


def add_node(tree, name, properties):
    """The tree with a node more below its root."""
    (magic, _, at, strings_at, reserved, version, compatible, cpu, strings_size,
     size) = HEADER.unpack_from(tree)
    if magic != MAGIC:
        raise ValueError('not a device tree')
    structure = tree[at:at + size]
    # What ends the tree: the end of the root, the end of all.
    tail = struct.pack('>2I', END_NODE, END)
    if not structure.endswith(tail):
        raise ValueError('the device tree does not end with its root')
    more, strings = node(name, properties, tree[strings_at:strings_at + strings_size])
    structure = structure[:-len(tail)] + more + tail
    memory = tree[reserved:min(x for x in (at, strings_at) if x > reserved)]
    at = HEADER.size + len(memory)
    total = at + len(structure) + len(strings)
    return HEADER.pack(MAGIC, total, at, at + len(structure), HEADER.size, version, compatible, cpu,
                       len(strings), len(structure)) + memory + structure + strings
