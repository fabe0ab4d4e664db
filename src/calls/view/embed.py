#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the C source of the page's files: embed.py page.html page.css MODULE.js... > page.c

The modules become one script: their import lines and the word export are left out, so names at their top must differ
from each other. An import is one line, and a module comes after those that it imports.
"""
import os
import re
import sys

IMPORT = re.compile(r"import \{[^}]*\} from '\./(\w+\.js)';\n")
TYPES = {'html': 'text/html; charset=utf-8', 'css': 'text/css; charset=utf-8', 'js': 'text/javascript; charset=utf-8'}
LICENCE = re.compile(r'/\* SPDX-License-Identifier: [^*]*\*/\n')


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def script_of(paths):
    """The modules as one script."""
    parts, names, done = ["'use strict';\n{\n"], {}, set()
    for path in paths:
        text = read(path)
        missing = [name for name in IMPORT.findall(text) if name not in done]
        if missing:
            sys.exit(f'{path}: imports {missing[0]}, which comes later')
        text = LICENCE.sub('', IMPORT.sub('', text))
        for name in re.findall(r'^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+)', text, re.M):
            if name in names:
                sys.exit(f'{path}: {name} is defined in {names[name]}, too')
            names[name] = path
        parts.append(re.sub(r'^export ', '', text, flags=re.M))
        done.add(os.path.basename(path))
    script = ''.join(parts) + '}\n'
    if '</script' in script or '<!--' in script:
        sys.exit('the script cannot stand in a page')
    return script


def put(name, text):
    data = text.encode()
    kind = name.rpartition('.')[2]
    print(f'static const unsigned char data_of_{kind}[] = {{')
    for at in range(0, len(data), 24):
        print('    ' + ','.join(map(str, data[at:at + 24])) + ',')
    print('    0};')
    print(f'const struct gt_view_file gt_view_page_{kind} = {{"{name}", "{TYPES[kind]}", data_of_{kind},')
    print(f'                                              sizeof data_of_{kind} - 1}};')


def main(html, css, *modules):
    print('/* SPDX-License-Identifier: GPL-2.0-or-later */')
    print('/* Made by embed.py from page/. */')
    print('#include "calls/view/page.h"')
    put('page.html', read(html))
    put('page.css', LICENCE.sub('', read(css)))
    put('page.js', script_of(modules))


if __name__ == '__main__':
    main(*sys.argv[1:])
