# SPDX-License-Identifier: GPL-2.0-or-later
"""The shape of the tree below the program's first own call is right, whatever the names."""


def check(trace, own, traced):
    [tid] = trace.tids()
    lines = trace.tree(tid, lambda path, name: path and path.endswith('/prog'))
    named = {line.strip() for line in lines if not line.strip().startswith('prog+0x')}
    if named - {'_init', '_start', '_fini', 'main', '__libc_csu_init'}:
        raise Failure('\n'.join(lines))
    names = {}
    shape = [((len(l) - len(l.lstrip())) // 2, names.setdefault(l.strip(), len(names)))
             for l in lines]
    wanted = [(0, 'middle'), (1, 'leaf'), (1, 'leaf'), (0, 'down'), (1, 'down'), (2, 'down'),
              (3, 'down')]
    for start in range(len(shape)):
        depth, _ = shape[start]
        part = shape[start:start + len(wanted)]
        ids = {}
        if [d - depth for d, _ in part] == [d for d, _ in wanted] and all(
                ids.setdefault(w, i) == i for (_, i), (_, w) in zip(part, wanted)) \
                and len(set(ids.values())) == 3:
            return
    raise Failure('\n'.join(lines))
