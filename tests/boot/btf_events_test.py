#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a Linux kernel's functions (`guesttrace events list vmlinuz`): names and types of their arguments are those that bpftool
reads in the kernel's BTF. And images that are cut or changed.

usage: btf_events_test.py ARCH"""
import json
import os
import re
import struct
import sys

from gttest import boots, commands
from gttest.commands import must, printed, tool
from gttest.paths import GUESTTRACE
from gttest.results import in_folder, need, read_bytes, write

GLOBS = 'vfs_*', 'dev_*', 'tcp_*', 'do_*', 'sched_*'
LEAST = 500  # events that are compared
UNPACK = {b'\x02\x21\x4c\x18': 'lz4', b'\x28\xb5\x2f\xfd': 'zstd', b'\xfd7zX': 'xz'}  # by a stream's first bytes
TYPES = {'bool': (1, 'bool'), 'char': (1, 'char'), 'size_t': (8, False), 'ssize_t': (8, True), 'uintptr_t': (8, False),
         'ptrdiff_t': (8, True), 'int': (4, True), 'unsigned int': (4, False),
         **{f'{"" if signed else "u"}int{8 * n}_t': (n, signed) for n in (1, 2, 4, 8) for signed in (True, False)}}


def unpacked(image):
    """(the kernel, where it begins in the image): a bzImage has it as a compressed stream, with its size at the end."""
    if image[0x202:0x206] != b'HdrS':
        return image, image.index(btf_of(image))
    at, size = struct.unpack_from('<2I', image, 0x248)
    at += 512 * (image[0x1f1] + 1)
    need(image[at:at + 4] in UNPACK, 'the stream begins with', image[at:at + 4])
    return must([tool(UNPACK[image[at:at + 4]]), '-dc'], input=image[at:at + size - 4]).stdout, at


def btf_of(image):
    """The part of the image, uncompressed, that is its BTF: the largest."""
    found = []
    for at in re.finditer(rb'\x9f\xeb\x01\x00\x18\x00\x00\x00', image):
        type_off, type_len, str_off, str_len = struct.unpack_from('<4I', image, at.start() + 8)
        end = at.start() + 24 + max(type_off + type_len, str_off + str_len)
        if end <= len(image):
            found.append(image[at.start():end])
    need(found, 'no BTF')
    return max(found, key=len)


class Types:
    def __init__(self, path):
        self.all = {t['id']: t for t in json.loads(printed([tool('bpftool'), '-j', 'btf', 'dump', 'file', path]))['types']}

    def plain(self, ident):
        t = self.all.get(ident, {'kind': 'VOID'})
        while t['kind'] in ('TYPEDEF', 'CONST', 'VOLATILE', 'RESTRICT', 'TYPE_TAG'):
            t = self.all.get(t['type_id'], {'kind': 'VOID'})
        return t

    def shape(self, ident):
        """(size, signed), 'string', 'pointer'; None: no event has it."""
        t = self.plain(ident)
        if t['kind'] == 'PTR':
            of = self.plain(t['type_id'])
            return 'string' if of['kind'] == 'INT' and of['name'] == 'char' else 'pointer'
        if t['kind'] == 'ENUM':
            return t['size'], any(v['val'] < 0 for v in t['values'])
        if t['kind'] != 'INT' or t['size'] > 8:
            return None
        return t['size'], t['name'] if t['name'] == 'char' else 'bool' if t['encoding'] == 'BOOL' else t['encoding'] == 'SIGNED'

    def functions(self):
        """name -> [(names, shapes)] of each function of that name."""
        found = {}
        for t in self.all.values():
            if t['kind'] == 'FUNC':
                params = self.all[t['type_id']].get('params', [])
                shapes = [self.shape(p['type_id']) for p in params]
                end = next((i for i, shape in enumerate(shapes) if not shape), len(shapes))
                end = min(end, 10)
                known = [(p['name'], shape) for p, shape in zip(params, shapes)][:end]
                found.setdefault(t['name'], []).append(known)
        return found


def declared(line):
    """(name, [(argument, shape)])"""
    name, inside = re.search(r'(?:^|\s)(\w+)\(([^)]*)\)', line).groups()
    known = []
    for argument in inside.split(', ') if inside != 'void' else []:
        kind, word = re.fullmatch(r'(.*?[ *])(\w+)', argument).groups()
        kind = kind.strip()
        known.append((word, 'string' if kind == 'const char *' else 'pointer' if kind == 'void *' else TYPES[kind]))
    return name, known


def compare(image, path, folder):
    functions = Types(write(f'{folder}/btf', btf_of(image))).functions()
    words = [w for g in GLOBS for w in ('-e', g)]
    lines = printed([GUESTTRACE, 'events', 'list', *words, path]).splitlines()
    good = 0
    for line in lines:
        name, got = declared(line)
        want = functions.get(name)
        if not want or line.startswith('at='):
            continue
        need(got in want, line, 'is, as bpftool reads it,', want)
        good += 1
    need(good >= LEAST, good, 'events are compared')
    matching = [n for n in functions if re.match('(vfs|dev|tcp|do|sched)_', n)]
    need(len(lines) > 0.9 * len(matching), len(lines), 'of', len(matching))


def damaged(image, begin, folder):
    """An error, or events; nothing else. begin: of the BTF, or of the compressed kernel."""
    cut = f'{folder}/damaged'
    for kind, at in [('cut', n) for n in (0, 1, 64, 600, 4096, begin, begin + 20, begin + 9999)] + \
            [('changed', 0x1f1), ('changed', 0x248), ('changed', 0x24c)] + \
            [('changed', begin + n) for n in (0, 4, 8, 12, 16, 20, 24, 28, 32, 40, 1000, 100001, 1000003)]:
        write(cut, image[:at] if kind == 'cut' else image[:at] + b'\xff' * 4 + image[at + 4:])
        done = commands.run([GUESTTRACE, 'events', 'list', '--match', 'vfs_*', cut])
        need(done.returncode in (0, 1) and bool(done.stderr) == (done.returncode == 1), kind, at, done.returncode, done.stderr)
    os.unlink(cut)


def check(arch, folder):
    path = os.path.join(boots.kernel(arch), 'vmlinuz')
    image = read_bytes(path)
    kernel, begin = unpacked(image)
    compare(kernel, path, folder)
    damaged(image, begin, folder)


if __name__ == '__main__':
    sys.exit(in_folder('btf-events', lambda folder: check(sys.argv[1], folder)))
