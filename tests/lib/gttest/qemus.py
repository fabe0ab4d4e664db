# SPDX-License-Identifier: GPL-2.0-or-later
"""The QEMUs that are there: this system's, and those that scripts/qemus has fetched.

A version is its three numbers as text, as QEMU prints them; number() makes a tuple of two of it.

A test that runs on each QEMU for machines runs by default on the oldest and on the newest, whose plugin ABIs differ most,
and with GUESTTRACE_LONG on all of them.
"""
import functools
import os
import re
import shutil

from gttest import paths
from gttest.commands import run, tool
from gttest.results import FAILED, GOOD, SKIPPED, Failure, Skip, folder, skip

SERIES = ['10.0', '11.1']  # that scripts/qemus fetches
QUIET = ['-display', 'none', '-monitor', 'none', '-serial', 'none']
ON_STDIO = [*QUIET[:-1], 'stdio']
TELLS_REGISTERS, TELLS_VALUES, TELLS_MEMORY, TELLS_EXCEPTIONS = (9, 0), (9, 1), (10, 0), (10, 2)


@functools.lru_cache(None)
def version(qemu):
    """None where it is no QEMU."""
    found = re.search(rb'version (\d+\.\d+\.\d+)', run([qemu, '--version']).stdout)
    return found[1].decode() if found else None


def number(text):
    """(major, minor)"""
    return tuple(int(n) for n in text.split('.')[:2])


def number_of(qemu):
    return number(version(qemu))


def tells_values(qemu):
    """Whether plugins get values of memory accesses."""
    return number_of(qemu) >= TELLS_VALUES


# ---- machines ----------------------------------------------------------------------------------------

def fetched(series, name):
    return os.path.join(paths.CACHE, 'qemus', series, name)


def all_of(arch):
    """(version or None, path, why there is none)"""
    name = 'qemu-system-' + arch
    for path, why in [(shutil.which(name), f'no {name}')] + [
            (fetched(s, name), f'no QEMU {s}: {paths.why_not_fetched("qemus", s)}') for s in SERIES]:
        yield version(path) if path and os.path.exists(path) else None, path, why


def ends(found):
    """The first and the last of a list; with GUESTTRACE_LONG all."""
    return found if paths.LONG else found[:1] + found[1:][-1:]


def find(arch):
    """[(version, path)] of each version for machines that is to be tested; a line SKIP for each that is not there."""
    found = {}
    for text, path, why in all_of(arch):
        if not text:
            skip(why)
        else:
            found.setdefault(text, path)
    return ends(list(found.items()))


def find_newest(arch, turn):
    """find(); without GUESTTRACE_LONG the newest alone, unless it is this architecture's turn."""
    found = find(arch)
    return found if paths.LONG or turn else found[-1:]


def all_machines(arch):
    """[((major, minor), path)] of each version that is there; Skip where none is."""
    found = {text: path for text, path, _ in reversed(list(all_of(arch))) if text}
    if not found:
        raise Skip(f'no qemu-system-{arch}')
    return [(number(text), path) for text, path in reversed(found.items())]


def machines(arch):
    """all_machines(), of which those are to be tested."""
    return ends(all_machines(arch))


def machines_from(arch, least):
    """The oldest QEMU for machines from a version on."""
    for version, path in all_machines(arch):
        if version >= least:
            return path
    raise Skip(f'no QEMU from {".".join(map(str, least))} on: scripts/qemus')


def of_series(arch, series):
    """The QEMU of a series (7.2, 10.0) for machines."""
    for text, path, _ in all_of(arch):
        if text and text.startswith(series + '.'):
            return path
    raise Skip(f'no QEMU {series} for {arch}')


def by_turns(all_of_them, turn):
    """With GUESTTRACE_LONG all; else one, another with each turn."""
    return all_of_them if paths.LONG or not all_of_them else [all_of_them[turn % len(all_of_them)]]


def on_each(arch, name, prepare, check):
    """Runs check(version, path, folder, what prepare(folder) has returned) with each QEMU of find(); the test's exit
    status."""
    found, failed = find(arch), 0
    with folder(name) as scratch:
        try:
            prepared = prepare(scratch)
        except Skip as why:
            skip(why)
            return SKIPPED
        for text, path in found:
            try:
                check(text, path, scratch, prepared)
                print(f'QEMU {text}: good')
            except (Failure, OSError) as bad:
                failed += 1
                print(f'QEMU {text}: {bad}')
    return FAILED if failed else GOOD if found else SKIPPED


# ---- user mode ---------------------------------------------------------------------------------------

@functools.lru_cache(None)
def why_no_plugins(qemu):
    """None, or why a QEMU loads no plugins."""
    path = shutil.which(qemu)
    if not path:
        return f'no {os.path.basename(qemu)}'
    with open(path, 'rb') as f:
        static = b'/ld-linux' not in f.read(4096)
    if static or b'-plugin' not in run([path, '-h']).stdout:
        return f'{os.path.basename(qemu)} ' + ('is statically linked and loads no plugins' if static else
                                              'takes no plugins')
    return None


def user(arch):
    """The path of qemu-ARCH, which loads plugins."""
    why = why_no_plugins(f'qemu-{arch}')
    if why:
        raise Skip(why)
    return tool(f'qemu-{arch}')


def users(arch):
    """[path] of each version of qemu-ARCH that loads plugins: all in PATH, and those of scripts/qemus. A test that runs
    with another one first in PATH reaches the system's all the same."""
    name, found = f'qemu-{arch}', {}
    places = [os.path.join(place, name) for place in os.environ['PATH'].split(':') if place]
    for path in *places, *(fetched(series, name) for series in ('user', 'user-newest')):
        if os.path.exists(path) and not why_no_plugins(path):
            found.setdefault(version(path), path)
    return list(found.values()) or [user(arch)]


def user_with_registers(arch):
    """The path of a qemu-ARCH whose plugins read registers: that in PATH, or that of scripts/qemus user."""
    for qemu in f'qemu-{arch}', fetched('user', f'qemu-{arch}'):
        if not why_no_plugins(qemu) and number_of(qemu) >= TELLS_REGISTERS:
            return shutil.which(qemu)
    raise Skip(f'no user-mode qemu-{arch} from 9.0 on: scripts/qemus user')


def user_before(arch, version):
    """The path of an older qemu-ARCH: the first such in PATH."""
    name, static = f'qemu-{arch}', None
    for folder in os.environ['PATH'].split(':'):
        path = os.path.join(folder, name)
        why = why_no_plugins(path) if os.path.exists(path) else f'no {name}'
        if not why and number_of(path) < version:
            return path
        static = static or (why if 'static' in (why or '') else None)
    raise Skip(static or f'no {name} before {".".join(map(str, version))}')


def user_of(arch):
    """user(), for cases.main()."""
    return functools.partial(user, arch)
