#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that no two files of a layer need each other, that folders need each other in one direction, that no name
is defined twice, and that no plugin needs libdw.

For each library below the build folder, and each plugin, nm says which object file needs a symbol of which
other; a cycle in that graph fails, and is printed with the symbols that make it. So does what a file needs of a
folder that FOLDERS has above its own.

usage: cycles.py BUILD [-v]
"""
import collections
import glob
import os
import re
import subprocess
import sys

PLUGIN = re.compile(r'gt_host_tool_|qemu_plugin_|_?gt_trace_\w|_TRACE_')
# docs/decisions/dwarf-readers.md: what runs in QEMU reads no DWARF with it.
LIBDW = re.compile(r'dw(arf|fl|elf)_')
# Folders of src/ whose own folders are in one order, lower ones first; files beside them are above all.
FOLDERS = {'calls/recorder': ('output', 'values', 'select', 'run', 'translate')}


def symbols(objects):
    """{file: (defined global symbols, undefined ones)}"""
    found = {o: (set(), set()) for o in objects}
    text = subprocess.run(['nm', '-g', '-A', *objects], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        path, rest = line.split(':', 1)
        kind, name = rest.split()[-2:]
        found[path][kind in 'Uw'].add(name)
    return found


def graph_of(found):
    """{file: {file it needs: symbols}}"""
    owner = {name: o for o, (defined, _) in found.items() for name in defined}
    graph = {o: collections.defaultdict(set) for o in found}
    for o, (_, undefined) in found.items():
        for name in undefined:
            if owner.get(name, o) != o:
                graph[o][owner[name]].add(name)
    return graph


def components(graph):
    """Tarjan's strongly connected components of more than one file, without recursion."""
    index, low, on_stack, stack, result = {}, {}, set(), [], []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, edges = work[-1]
            following = next((n for n in edges if n not in index or n in on_stack), None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = [stack.pop()]
                    while part[-1] != node:
                        part.append(stack.pop())
                    on_stack.difference_update(part)
                    if len(part) > 1:
                        result.append(sorted(part))
            elif following in index:
                low[node] = min(low[node], index[following])
            else:
                index[following] = low[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(sorted(graph[following]))))
    return result


def short(path):
    """FOLDER_FILE.c, as meson names objects."""
    return os.path.basename(path).replace('.o', '').replace('.._src_', '')


def rank_of(path, parent):
    """The folder's number in the order; None: the file is not below the parent."""
    name, begin = short(path), parent.replace('/', '_') + '_'
    if not name.startswith(begin):
        return None
    order = FOLDERS[parent]
    return next((i for i, f in enumerate(order) if name[len(begin):].startswith(f + '_')), len(order))


def upwards(graph):
    """Lines: what files need of folders above theirs."""
    for parent in FOLDERS:
        rank = {o: rank_of(o, parent) for o in graph}
        for o in sorted(o for o in graph if rank[o] is not None):
            for other, names in sorted(graph[o].items()):
                if rank[other] is not None and rank[other] > rank[o]:
                    yield f'{short(o)} needs what is above its folder: {" ".join(sorted(names))} of {short(other)}'


def libraries(build):
    """Name and symbols() of each static library of src/, and of each plugin."""
    for folder in sorted(glob.glob(f'{build}/src/**/*.a.p', recursive=True) + glob.glob(f'{build}/plugins/*.p')):
        objects = sorted(f'{folder}/{o}' for o in os.listdir(folder) if o.endswith('.o'))
        if objects:
            yield os.path.relpath(folder, build), symbols(objects)


def defined_twice(all_libraries):
    """Lines. Each plugin defines what the host calls, and its trace events; some files are in several
    plugins."""
    owner = {}
    for _, found in all_libraries:
        for o, (defined, _) in found.items():
            for symbol in sorted(defined):
                if not PLUGIN.match(symbol) and owner.setdefault(symbol, short(o)) != short(o):
                    yield f'{symbol}: defined in {owner[symbol]} and {short(o)}'


def reads_dwarf(build):
    """Lines: plugins that need a function of libdw."""
    for plugin in sorted(glob.glob(f'{build}/plugins/*.so')):
        text = subprocess.run(['nm', '-D', '-u', plugin], capture_output=True, text=True, check=True).stdout
        names = [name for name in (line.split()[-1] for line in text.splitlines()) if LIBDW.match(name)]
        if names:
            yield f'{os.path.relpath(plugin, build)} needs libdw: {" ".join(names)}'


def main():
    build, verbose = sys.argv[1], '-v' in sys.argv
    all_libraries = list(libraries(build))
    twice = list(defined_twice(all_libraries))
    dwarf = list(reads_dwarf(build))
    for line in twice + dwarf:
        print(line)
    files = cycles = ups = 0
    for name, found in all_libraries:
        graph = graph_of(found)
        files += len(found)
        for line in upwards(graph):
            ups += 1
            print(line)
        for part in components(graph):
            cycles += 1
            print(f'{name}: these need each other: {" ".join(short(o) for o in part)}')
            for o in part:
                for other in sorted(set(graph[o]) & set(part)):
                    names = sorted(graph[o][other])
                    shown = names if verbose else names[:4]
                    print(f'  {short(o)} -> {short(other)}: {" ".join(shown)}'
                          f'{" ..." if len(names) > len(shown) else ""}')
    print(f'{files} files, {cycles} cycles, {ups} edges upwards, {len(twice)} names defined twice')
    return 1 if cycles or ups or twice or dwarf or not files else 0


sys.exit(main())
