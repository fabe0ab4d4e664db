# SPDX-License-Identifier: GPL-2.0-or-later
"""The uftraces that are there: this system's, and those that scripts/uftraces has fetched, which bring their C library."""
import glob
import os
import shutil

from gttest import paths
from gttest.results import need, skip

VERSIONS = ['0.17', '0.19']  # that scripts/uftraces fetches


def fetched(version):
    return os.path.join(paths.CACHE, 'uftraces', version)


def find():
    """[path], this system's first; a line SKIP for each that is not there."""
    found = [p for p in [shutil.which('uftrace')] if p]
    for version in VERSIONS:
        path = os.path.join(fetched(version), 'uftrace')
        if os.path.exists(path):
            found.append(path)
        else:
            skip(f'uftrace {version}: {paths.why_not_fetched("uftraces", version)}')
    return found


def one(pattern):
    found = glob.glob(pattern)
    need(found, 'no', pattern)
    return found[0]


def for_native(path):
    """What a program has to be linked with, and the options of `uftrace record`, so that this uftrace records it: the
    library that it loads into the program may need a later C library than this system's."""
    if path == shutil.which('uftrace'):
        return [], []
    root = os.path.join(os.path.dirname(path), 'root', 'usr')
    library = os.path.dirname(os.path.dirname(one(f'{root}/lib/*/uftrace/libmcount.so')))
    loader = one(f'{root}/lib*/ld-linux*.so.*')
    return ([f'-Wl,--dynamic-linker={loader}', f'-Wl,-rpath,{library}', '-Wl,--disable-new-dtags'],
            [f'--libmcount-path={library}/uftrace'])
