#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that a name says in which folder to look for it: gt_<prefix>_..., the prefix being one of its folder's.

Of src/: each function, variable, typedef, macro and struct, enum or union that another file can see, and each such
type of a .c file. A plural says the same as its word: gt_streams_ is gt_stream_'s. What include/ declares is other
programs' and keeps its name wherever it is defined. docs/decisions/names.md says how the table came about.
Each finding is a line "FILE:LINE: what is wrong"; any finding fails.

usage: names.py [ROOT] [-v]     -v: how many names each prefix has
"""
import collections
import os
import re
import sys

# Folders below src/ and their prefixes, the first one for what has no better. A row is for the folders below it, too,
# that have none of their own: there the second word says the folder or the file. No prefix stands twice.
TABLE = {
    'base': 'base bytes error file json output socket text thread',
    'base/sink': 'packet',
    'base/stream': 'stream',
    'recording': 'recording',  # with texts and code_map
    'recording/directory': 'uftrace',
    'recording/values': 'value',
    'guest': 'process',
    'guest/abi': 'abi',
    'guest/arch': 'arch',
    'guest/elf': 'elf',
    'guest/kernel': 'kernel',
    'guest/types': 'type',
    'names/image': 'image',
    'names/placement': 'place',
    'names/processes': 'sysroot',
    'track': 'track stack code machine',
    'filter': 'filter',
    'qemu': 'qemu host',  # host: what host.h offers to plugins
    'qemu/support': 'support gate exec',
    'calls/file': 'compact',
    'calls/arguments': 'argument',
    'calls/profile': 'profile',
    'calls/read': 'call',
    'calls/export': 'export',
    'calls/timeline': 'timeline',
    'calls/repair': 'repair',
    'calls/replay': 'replay',
    'calls/view': 'view',
    'calls/recorder': 'recorder vcpu',  # with output and values
    'calls/recorder/select': 'select',
    'calls/recorder/run': 'run',
    'calls/recorder/translate': 'translate',
    'etrace': 'etrace',
    'etrace/coverage': 'coverage',
    'execlog': 'execlog',
    'execlog/plugin': 'exlog',
    'execlog/compare': 'diff',
    'events': 'events',
    'events/plugin': 'point',
    'events/simpletrace': 'simpletrace',
    'events/tracetool': 'tracetool',
    'gtrace': 'gtrace',
    'cli': 'cli',
    'cli/record': 'record',
    'cli/tui': 'tui',
}
MOST = 60
# Prefixes of include/: names of other programs' interface.
PUBLIC = re.compile(r'gt_trace_|gtrace(?:_|$)')
# What others call by name: the C library and QEMU.
CALLED = {'main', 'qemu_plugin_install', 'qemu_plugin_version'}

LITERAL = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.M | re.S)
MACRO = re.compile(r'[ \t]*#[ \t]*define[ \t]+(gt_\w+)')
TAG = re.compile(r'\b(?:struct|enum|union)\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?(\w+)\s*\{')
FORWARD = re.compile(r'^(?:struct|enum|union)\s+(\w+)\s*;', re.M)
ATTRIBUTE = re.compile(r'\b(?:__attribute__|_Alignas|alignas|_Static_assert|static_assert|__asm__)\s*\((?:[^()]|\([^()]*\)|'
                       r'\((?:[^()]|\([^()]*\))*\))*\)')
POINTER = re.compile(r'\(\s*\*\s*(?:const\s+)?(\w+)\s*(?:\[[^]]*\]\s*)?\)\s*\(')
INNER = re.compile(r'(?:static|extern|typedef|\w*_INLINE)\b')  # what no other file sees, or a header has declared
FUNCTION = re.compile(r'\b(\w+)\s*\(')
VARIABLE = re.compile(r'\b(\w+)\s*(?:\[[^]]*\]\s*)*$')


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group())


def without_bodies(code):
    """The code with everything between outer braces blanked, lines kept."""
    out, depth = [], 0
    for c in code:
        depth -= c == '}'
        out.append(c if depth <= 0 or c == '\n' else ' ')
        depth += c == '{'
    return ''.join(out)


def statements(code):
    """(offset, text) of each statement and definition of a file whose bodies are blank."""
    start = 0
    for end in re.finditer(r';|\}(?![ \t]*[\w\[;*])', code):
        text = code[start:end.start()]
        lead = len(text) - len(text.lstrip())
        if text.strip():
            yield start + lead, text.strip()
        start = end.end()


def names_of(text):
    """The names that a statement of the file declares for others."""
    is_typedef = text.startswith('typedef')
    if '{' in text and not is_typedef:  # a function, a type, a variable with a value
        text = text[:text.index('{')]
    text = text.split('=')[0].strip()
    if re.fullmatch(r'(?:struct|enum|union)(?:\s+\w+)?', text):
        return []  # TAG has it, or it is defined elsewhere
    function, pointer = FUNCTION.search(text), POINTER.search(text)
    if pointer and (not function or pointer.start() < function.end()):
        return [pointer.group(1)]
    if function:
        return [function.group(1)]
    return [found.group(1) for found in map(VARIABLE.search, text.split(',')) if found]


def declared(text, is_header):
    """(line, name) of what a file declares for others."""
    code = LITERAL.sub(blank, text)
    if is_header:
        for number, line in enumerate(code.split('\n'), 1):
            macro = MACRO.match(line)
            if macro:
                yield number, macro.group(1)
    code = DIRECTIVE.sub(blank, code)
    for tag in TAG.finditer(code):
        if tag.group(1).startswith('gt_'):
            yield code.count('\n', 0, tag.start(1)) + 1, tag.group(1)
    outer = without_bodies(code)
    for at, statement in statements(outer):
        statement = ATTRIBUTE.sub('', statement).strip()
        if not is_header and INNER.match(statement):
            continue
        for name in names_of(statement):
            if not name.isupper() and (name.startswith('gt_') or not statement.startswith('typedef')):
                yield code.count('\n', 0, at) + 1, name


def row_of(name):
    """The row of a path below src/; None: it has none."""
    return max((f for f in TABLE if name.startswith(f + '/')), key=len, default=None)


def prefix_of(name, row):
    """The prefix of the row that the name begins with; None: it begins with none."""
    for prefix in TABLE[row].split():
        if re.match(f'gt_{prefix}s?(?:_|$)', name):
            return prefix
    return None


def check_table():
    rows = collections.defaultdict(list)
    for row, prefixes in TABLE.items():
        for prefix in prefixes.split():
            rows[prefix].append(row)
    for prefix, of in sorted(rows.items()):
        if len(of) > 1:
            yield f'gt_{prefix}_: a prefix of {" and ".join(of)}: one folder has it'
        if prefix + 's' in rows:
            yield f'gt_{prefix}_ and gt_{prefix}s_: a plural is no prefix of its own'
    if len(rows) > MOST:
        yield f'{len(rows)} prefixes, at most {MOST}'


def files_of(root, folder):
    for path, folders, names in os.walk(os.path.join(root, folder)):
        folders.sort()
        for name in sorted(names):
            if name.endswith(('.c', '.h')):
                yield os.path.join(path, name)


def read(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


def names_of_interface(root):
    found = set()
    for path in files_of(root, 'include'):
        text = read(path).replace('extern "C" {', '')
        found |= {name for _, name in declared(text, True)} | set(FORWARD.findall(text))
    return found


def main():
    root = os.path.abspath(next((a for a in sys.argv[1:] if a != '-v'), '.'))
    public, used, findings, n = names_of_interface(root), collections.Counter(), 0, 0
    for what in check_table():
        print(f'tests/layers/names.py:1: {what}')
        findings += 1
    for name in sorted(public):
        if not PUBLIC.match(name):
            print(f'include:1: {name}: expected prefix gt_trace_ or gtrace_')
            findings += 1
    here = [(path, list(declared(read(path), path.endswith('.h')))) for path in files_of(root, 'src')]
    of_headers = {name for path, names in here if path.endswith('.h') for _, name in names}
    for path, names in here:
        row = row_of(os.path.relpath(path, os.path.join(root, 'src')))
        if row is None:
            print(f'{os.path.relpath(path, root)}:1: its folder has no prefix in tests/layers/names.py')
            findings += 1
            continue
        for number, name in names:
            if name in public | CALLED or path.endswith('.c') and name in of_headers:
                continue  # judged where it is declared
            prefix = prefix_of(name, row)
            n += 1
            used[prefix] += 1
            if prefix is None:
                expected = ' or '.join(f'gt_{p}_' for p in TABLE[row].split())
                print(f'{os.path.relpath(path, root)}:{number}: {name}: expected prefix {expected}')
                findings += 1
    for row, prefixes in TABLE.items():
        for prefix in prefixes.split():
            if not used[prefix]:
                print(f'tests/layers/names.py:1: gt_{prefix}_: no name of src/{row} has it')
                findings += 1
    if '-v' in sys.argv:
        for prefix, count in used.most_common():
            print(f'  {prefix}: {count}')
    print(f'{n} names, {sum(len(p.split()) for p in TABLE.values())} prefixes, {findings} findings')
    return 1 if findings or not n else 0


sys.exit(main())
