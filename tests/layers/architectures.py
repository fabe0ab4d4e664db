#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that docs/adding-an-architecture.md names each file of src/ that knows aarch64 or riscv64 by name.

    architectures.py ROOT
"""
import os
import re
import sys

KNOWS = re.compile(r'\bEM_(?:AARCH64|RISCV)\b|"(?:aarch64|riscv64)"|\bgt_(?:arch|abi)_(?:aarch64|riscv64)\b')
COMMENT = re.compile(r'/\*.*?\*/', re.S)
OWN = re.compile(r'src/guest/(?:arch|abi)/(?:aarch64|riscv64\w*|arch|abi)\.[ch]$')  # a new architecture's own, and the rows


def knowing(root):
    for folder, _, names in os.walk(os.path.join(root, 'src')):
        for path in (os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith(('.c', '.h'))):
            with open(os.path.join(root, path), encoding='utf-8') as f:
                if not OWN.match(path) and KNOWS.search(COMMENT.sub('', f.read())):
                    yield path


def main():
    root = sys.argv[1]
    with open(os.path.join(root, 'docs', 'adding-an-architecture.md'), encoding='utf-8') as f:
        text = f.read()
    named = set(re.findall(r'^\| `([\w/]+\.c)`', text, re.M))
    found = {path.removeprefix('src/') for path in knowing(root)}
    for path in sorted(found - named):
        print(f'src/{path}: knows an architecture by name, and docs/adding-an-architecture.md does not name it')
    for path in sorted(named - found):
        print(f'docs/adding-an-architecture.md: names {path}, which knows no architecture by name')
    return 1 if found != named else 0


sys.exit(main())
