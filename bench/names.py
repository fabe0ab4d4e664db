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


def names(bench, plugin):
    """A list of results; the recording is a program's of a moment."""
    qemu = bench.qemus('machine', 'aarch64')[0]
    recorded = workloads.with_plugin(
        workloads.bare_machine('aarch64', 'STORM', 35)(bench.context, qemu), plugin)
    found = []
    for what, path in images(bench.context):
        measure.remove(bench.data)
        measure.run(recorded, bench.folder)
        command = [bench.guesttrace, 'symbols', '--dir', bench.data, path + ':0']
        times = [measure.run(command, bench.folder).wall for _ in range(bench.count)]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        functions = next(int(w) for w in (said.stdout + said.stderr).split() if w.isdigit())
        found.append({'kernel': what, 'functions': functions,
                      'seconds': statistics.median(times)})
    return found
