#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks what CONTRIBUTING.md asks of every file.

Floors: who may include whom, that qemu/ alone knows QEMU's plugin interface, and that libraries do not
print, end the process or install signal handlers. Headers: one that a single folder of its floor
includes is in that folder. Names: no type is defined twice. Sources: the SPDX line, no leftovers, at
most 800 lines, in src/ at least 40 (headers 15), functions of at most 60 (flat switches excepted).
Each finding is a line "FILE:LINE: what is wrong"; any finding fails.
"""
import collections
import itertools
import os
import re
import sys

SHARED = {'base', 'filter', 'guest', 'track', 'recording', 'names'}
PLUGIN = SHARED | {'qemu', 'qemu/support', 'events/library'}
# The recorder's rooms, lower ones first. Of what is above them they know the structs that all share.
ROOMS = ('output', 'values', 'select', 'run', 'translate')
ROOMS_SHARE = tuple(f'calls/recorder/{h}.h' for h in ('installed', 'options', 'plan', 'recorder', 'task', 'vcpu'))
RECORDER = PLUGIN | {'calls', 'calls/recorder'}
# Floors, and what each may include beside itself. A file belongs to the longest of them that begins its path.
ALLOWED = {
    'base': set(),
    'filter': {'base'},
    'guest': {'base'},
    'track': {'base'},
    'recording': {'base'},
    'names': {'base', 'guest', 'recording'},
    'qemu': {'base'},
    'qemu/support': PLUGIN - {'names'},
    'events/library': set(),  # a library of its own, under the LGPL: nothing of ours below it
    'events/tracetool': {'base'},
    'calls': SHARED,
    'calls/recorder': RECORDER | {f'calls/recorder/{room}' for room in ROOMS},
    **{f'calls/recorder/{room}': RECORDER | {f'calls/recorder/{r}' for r in ROOMS[:i]}
       for i, room in enumerate(ROOMS)},
    'etrace': SHARED,
    'etrace/plugin': PLUGIN | {'etrace'},
    'execlog': SHARED,
    'execlog/plugin': PLUGIN | {'execlog'},
    'events': SHARED | {'events/library'},
    'events/plugin': PLUGIN,
    'gtrace': SHARED | {'calls'},
    'cli': SHARED | {'calls', 'etrace', 'execlog', 'events', 'events/library'},
}
PUBLIC = ('guesttrace', 'gtrace')  # include/, for everybody
LIBRARIES = ('filter', 'guest', 'track', 'recording', 'names', 'calls', 'etrace', 'execlog', 'events', 'gtrace')
PROCESS = re.compile(r'\b(?:stdout|stderr|(?:printf|puts|putchar|perror|exit|_exit|abort|sigaction|signal) *\()')
SIGNALS = re.compile(r'\b(?:sigaction|signal) *\(')
# Who may install signal handlers: the process's main program, and for it, where it asks.
HANDLERS = ('src/cli/', 'src/base/socket.c', 'src/qemu/abnormal_exit.c', 'src/events/library/record/control.c')
# Thread-locals hide what a function depends on: where they are, and the only files that have one.
THREAD_LOCALS = {'calls/recorder/': {'calls/recorder/run/vcpu.c'}, 'track/': set(), 'filter/': set()}
# Commands read recordings through gtrace/gtrace.h, as any program does. Who writes them knows their formats: what
# records or repairs, `symbols`, which changes texts, what makes a recording of an etrace stream, and an output file,
# which never replaces a recording that is being written. `follow` reads one of these, for `top` and `view`.
NO_READERS = ('cli/record/', 'cli/ctl/', 'cli/follow/', 'cli/top/', 'cli/repair.c', 'cli/symbols.c', 'cli/etrace_calls.c',
              'cli/output_file.c')
INSIDE = ('calls/', 'recording/', 'gtrace/')
# Not inside: the public header; what reads and tells apart files of all tools.
OUTSIDE = ('gtrace/gtrace.h', 'recording/file_kind.h', 'recording/input.h')
MAX_FILE, MAX_FUNCTION = 800, 60
# Below that a file of src/ is no subject of its own. Who may be shorter: meson.build chooses between two files.
MIN_FILE, MIN_HEADER = 40, 15
SHORT = ('src/cli/ctl/prompt_plain.c',)
SPDX = 'SPDX-License-Identifier: GPL-2.0-or-later'
SPDX_LIBRARY = 'SPDX-License-Identifier: LGPL-2.1-or-later'
LIBRARY = ('include/', 'src/events/library/', 'python/', 'examples/gtrace/')  # what other projects link
LEFTOVER = re.compile(r'\b(TO' + 'DO|FIX' + 'ME|XX' + r'X)\b')
TYPE = re.compile(r'\s*((?:struct|enum|union) gt_\w+) \{')
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
CODE = ('.c', '.h')
SCRIPTS = ('.py', '.sh')


def sources(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in ('.git', '__pycache__', 'data') and not (
            folder == root and f.startswith('build')))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if is_source(path, name):
                yield path


def is_source(path, name):
    if name.endswith(CODE + SCRIPTS) or name in ('meson.build', 'meson.options', 'Makefile'):
        return True
    if '.' in name or os.path.islink(path):
        return False
    with open(path, 'rb') as f:
        return f.read(2) == b'#!'


def without_text(code):
    """The code with comments and literals blanked, lines kept."""
    def blank(match):
        return re.sub(r'[^\n]', ' ', match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, code,
                  flags=re.S)


def floor_of(name):
    """The floor of a path below src/; None: it is on none."""
    return max((f for f in ALLOWED if name.startswith(f + '/')), key=len, default=None)


def check_includes(floor, lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(1)
        if '/' not in target:
            yield number, f'"{target}": includes are written "folder/file.h"'
        elif target.split('/')[0] in PUBLIC:
            continue
        elif floor_of(target) is None:
            yield number, f'"{target}": no such folder'
        elif floor_of(target) not in ALLOWED[floor] | {floor}:
            yield number, f'{floor} may not include {floor_of(target)}'
        elif floor.startswith('calls/recorder/') and floor_of(target) == 'calls/recorder' and target not in ROOMS_SHARE:
            yield number, f'{floor} may not include {target}'


def check_functions(lines):
    """A function's braces stand alone in the first column: clang-format sees to it."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == '{':
            start = number
        elif line == '}' and start is not None:
            body = lines[start:number - 1]
            cases = sum(1 for b in body if re.match(r'\s*(case\b|default:)', b))
            if len(body) > MAX_FUNCTION and cases * 4 < len(body):
                yield start, f'function of {len(body)} lines, at most {MAX_FUNCTION}'
            start = None


def check_library(lines):
    """A library leaves printing, signals and the end of the process to its user."""
    for number, line in enumerate(lines, 1):
        found = PROCESS.search(line)
        if found:
            yield number, f'{found.group()}: a library does not do that; see base/error.h'


def check_lists(lines):
    """Lists of files in meson.build are sorted, but below a comment that ends in 'in this order.'"""
    for number, line in enumerate(lines, 1):
        if not line.rstrip().endswith('files('):
            continue
        names = list(itertools.takewhile(lambda entry: re.fullmatch(r"\s*'[^']+',", entry), lines[number:]))
        ordered = any(before.strip().endswith('in this order.') for before in lines[max(0, number - 4):number])
        if names != sorted(names) and not ordered:
            yield number, 'a list of files that is not sorted'


def check_file(root, path):
    with open(path, encoding='utf-8', errors='replace') as f:
        text = f.read()
    lines = text.split('\n')
    name = os.path.relpath(path, os.path.join(root, 'src'))
    spdx = SPDX_LIBRARY if os.path.relpath(path, root).startswith(LIBRARY) else SPDX
    if not any(spdx in line for line in lines[:3]):
        yield 1, f'no line "{spdx}"'
    if len(lines) - 1 > MAX_FILE:
        yield MAX_FILE, f'{len(lines) - 1} lines, at most {MAX_FILE}'
    for number, line in enumerate(lines, 1):
        if LEFTOVER.search(line) and os.path.basename(path) != 'layers.py':
            yield number, 'unfinished: ' + LEFTOVER.search(line).group()
    if os.path.basename(path) == 'meson.build':
        yield from check_lists(lines)
    if not path.endswith(CODE):
        return
    yield from check_functions(lines)
    if name.startswith('..'):
        return
    least = MIN_HEADER if path.endswith('.h') else MIN_FILE
    if len(lines) - 1 < least and os.path.relpath(path, root) not in SHORT:
        yield 1, f'{len(lines) - 1} lines, at least {least}: move it into the file of its subject'
    floor = floor_of(name)
    if floor is None:
        yield 1, 'on none of the floors in the table'
        return
    yield from check_includes(floor, lines)
    code = without_text(text).split('\n')
    if floor in LIBRARIES:
        yield from check_library(code)
    if not os.path.relpath(path, root).startswith(HANDLERS):
        for number, line in enumerate(code, 1):
            if SIGNALS.search(line):
                yield number, 'a signal handler: see HANDLERS in layers.py'
    for begin, files in THREAD_LOCALS.items():
        if name.startswith(begin) and name not in files:
            for number, line in enumerate(code, 1):
                if '__thread' in line or '_Thread_local' in line:
                    yield number, 'a thread-local: see THREAD_LOCALS in layers.py'
    if floor != 'qemu':
        for number, line in enumerate(code, 1):
            if 'qemu_plugin' in line:
                yield number, "QEMU's plugin interface is known to qemu/ alone"


def check_headers(root, paths):
    """Headers of src/ that belong into another folder of their floor; types defined twice."""
    users, types = collections.defaultdict(set), {}
    for path in paths:
        name = os.path.relpath(path, os.path.join(root, 'src'))
        with open(path, encoding='utf-8', errors='replace') as f:
            for number, line in enumerate(f, 1):
                include, defined = INCLUDE.match(line), TYPE.match(line)
                if include:
                    users[include.group(1)].add(os.path.dirname(name))
                if defined and types.setdefault(defined.group(1), name) != name:
                    yield path, number, f'{defined.group(1)} is defined in {types[defined.group(1)]}, too'
    for path in paths:
        name = os.path.relpath(path, os.path.join(root, 'src'))
        folders = users[name]
        if name.endswith('.h') and len(folders) == 1 and os.path.dirname(name) not in folders:
            folder = next(iter(folders))
            if floor_of(folder + '/') == floor_of(name):
                yield path, 1, f'only src/{folder} includes it: move it there'


def check_readers(root, paths):
    """Who of the command reads recordings through internal headers, its own headers included."""
    includes = {}
    for path in paths:
        name = os.path.relpath(path, os.path.join(root, 'src'))
        if name.startswith('cli/') and not name.startswith(NO_READERS):
            with open(path, encoding='utf-8', errors='replace') as f:
                includes[name] = [m.group(1) for m in map(INCLUDE.match, f) if m]

    def inside(name, seen):
        seen.add(name)
        for target in includes.get(name, ()):
            if target.startswith(INSIDE) and target not in OUTSIDE:
                return target
            found = target not in seen and inside(target, seen)
            if found:
                return found
        return None

    for name in sorted(includes):
        target = inside(name, set())
        if target:
            yield os.path.join(root, 'src', name), 1, f'needs "{target}": commands read recordings through gtrace/gtrace.h'


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else '.')
    paths = list(sources(root))
    found = [(path, number, what) for path in paths for number, what in check_file(root, path)]
    found += check_headers(root, [p for p in paths if p.endswith(CODE) and '/src/' in p[len(root):]])
    found += check_readers(root, [p for p in paths if p.endswith(CODE)])
    for path, number, what in found:
        print(f'{os.path.relpath(path, root)}:{number}: {what}')
    files, findings = len(paths), len(found)
    print(f'{files} files, {findings} findings')
    return 1 if findings or not files else 0


sys.exit(main())
