# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of a test, and its result: exit status 0 good, 1 failed, 77 skipped.

A check that fails raises Failure. What cannot run here raises Skip: as a whole, or a part of a test.
Each skip is a line "SKIP: why", which tests/tools/run-tests counts.
"""
import contextlib
import difflib
import os
import shutil
import subprocess
import tempfile
import unittest

GOOD, FAILED, SKIPPED = 0, 1, 77


class Failure(Exception):
    """The test found what it looks for."""


class Skip(unittest.SkipTest):
    """It cannot run here; the reason."""


def need(good, *words):
    if not good:
        raise Failure(' '.join(str(w) for w in words))


def equal(got, want, *what):
    need(got == want, *what, 'is', got, 'not', want)


def common(a, b):
    """How many items both sequences begin with; of much data, quicker than os.path.commonprefix()."""
    low, high = 0, min(len(a), len(b)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle)
    return low


def same(got, want, *words):
    """Two texts; the first lines that differ are printed."""
    if got == want:
        return
    a, b = got.split('\n'), want.split('\n')
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    need(False, *words, f'line {at + 1} of {len(a)} is\n{a[at:at + 2]}, not, of {len(b)},\n'
         f'{b[at:at + 2]}')


def same_lines(got, want, what, context=3):
    """Two lists of lines; the whole difference is printed."""
    if got == want:
        return
    print('\n'.join(difflib.unified_diff(want, got, 'expected', 'recorded', lineterm='', n=context)))
    raise Failure(f'{what} differ')


def read_bytes(path):
    with open(path, 'rb') as f:
        return f.read()


def read_text(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def write(path, data):
    """A file of text or bytes; its path."""
    with open(path, 'wb') as f:
        f.write(data.encode() if isinstance(data, str) else data)
    return path


def skip(why):
    """Reports that a part of the test does not run."""
    print(f'SKIP: {why}', flush=True)


@contextlib.contextmanager
def folder(name):
    """A folder that is removed at the end. KEEP=1 in the environment keeps it, and prints where it is."""
    path = os.path.realpath(tempfile.mkdtemp(prefix=f'guesttrace-{name}-'))
    try:
        yield path
    finally:
        if os.environ.get('KEEP'):
            print(path)
        else:
            shutil.rmtree(path, ignore_errors=True)


def status(check, *args):
    """The exit status of a test that is one function. True and a status of its own are returned as they are."""
    try:
        return check(*args) or GOOD
    except Skip as why:
        skip(why)
        return SKIPPED
    except (Failure, OSError, subprocess.SubprocessError) as bad:
        print(f'FAILED: {bad}')
        return FAILED


def in_folder(name, check):
    """status() of check(folder)."""
    with folder(name) as path:
        return status(check, path)


class Tally:
    """Parts of a test, each of which may fail or be skipped."""

    def __init__(self):
        self.good = self.failed = self.skipped = 0

    def run(self, what, part, *args):
        """Runs part(*args) and prints how it ended, after `what`."""
        try:
            part(*args)
            self.good += 1
            return True
        except Skip as why:
            self.skipped += 1
            skip(f'{what}: {why}')
        except (Failure, OSError, subprocess.SubprocessError) as bad:
            self.failed += 1
            print(f'{what}: {bad}')
        return False

    def status(self):
        return FAILED if self.failed else GOOD if self.good else SKIPPED
