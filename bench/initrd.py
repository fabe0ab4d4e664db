# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the initial file system of a Linux guest: a cpio archive (newc) from files in memory."""
import stat


def entry(number, name, mode, data=b''):
    """A header of 13 numbers of 8 hex digits, the name, the data, each padded to 4 bytes."""
    name = name.encode() + b'\0'
    links = 2 if stat.S_ISDIR(mode) else 1
    numbers = [number, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(name), 0]
    head = b'070701' + b''.join(b'%08x' % n for n in numbers) + name
    return head + b'\0' * (-len(head) % 4) + data + b'\0' * (-len(data) % 4)


def archive(folders, files):
    """folders: names; files: bytes by name, all executable."""
    out = b''
    for number, name in enumerate(folders, 1):
        out += entry(number, name, stat.S_IFDIR | 0o755)
    for number, (name, data) in enumerate(files.items(), 100):
        out += entry(number, name, stat.S_IFREG | 0o755, data)
    return out + entry(0, 'TRAILER!!!', 0)
