# SPDX-License-Identifier: GPL-2.0-or-later
"""How long `guesttrace symbols` takes to name a kernel's functions from its image alone."""
import gzip
import os
import statistics
import subprocess

import measure
import workloads


def images(context):
    """(what it is, path)"""
    image = os.path.join(workloads.linux_files('aarch64'), 'vmlinuz')
    size = '%.0f MB' % (os.path.getsize(image) / 1e6)
    yield 'Image, ' + size, image
    packed = context.path('Image.gz')
    with open(image, 'rb') as f, gzip.open(packed, 'wb', 6) as out:
        out.write(f.read())
    yield 'the same in gzip', packed


def names(context, guesttrace, data, count):
    """[(what it is, functions, seconds)]; the recording is a program's of a moment."""
    row = next(w for w in workloads.WORKLOADS if w.name == 'm-storm')
    qemu = workloads.qemus(row.kind, row.arch)
    if not qemu:
        raise workloads.Missing('no qemu-system-aarch64')
    recorded = [x for w in row.command(context, qemu[0]) for x in (
        ['-plugin', '%s,output=%s,depth=1,summary=off' % (context.plugin, data)] if w == '@' else [w])]
    found = []
    for what, path in images(context):
        measure.remove(data)
        measure.run(recorded, context.folder)
        command = [guesttrace, 'symbols', '-d', data, path + ':0']
        times = [measure.run(command, context.folder).wall for _ in range(count)]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        functions = next(int(w) for w in (said.stdout + said.stderr).split() if w.isdigit())
        found.append((what, functions, statistics.median(times)))
    measure.remove(data)
    return found
