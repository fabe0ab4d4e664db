# SPDX-License-Identifier: GPL-2.0-or-later
"""A test file of functions test_*(t). Each is given a struct with a scratch folder of its own.

    sys.exit(functions.main(globals()))         runs those named on the command line, or all

KEEP=1 in the environment keeps the folders, and prints where they are.
"""
import os
import shutil
import sys
import tempfile
import traceback

from gttest import commands
from gttest.results import FAILED, GOOD, SKIPPED, Failure, Skip, skip


class Scratch:
    def __init__(self, name):
        self.folder = tempfile.mkdtemp(prefix=f'guesttrace-{name}-')
        self.out = f'{self.folder}/out'
        self.log = f'{self.folder}/log'

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def run_one(name, function, make):
    t = make(name)
    try:
        function(t)
        print(f'{name}: good')
        return GOOD
    except Skip as why:
        skip(f'{name}: {why}')
        return SKIPPED
    except Failure as bad:
        print(f'{name}: {bad}')
    except Exception:  # pylint: disable=broad-exception-caught
        print(f'{name}: {traceback.format_exc()}')
    finally:
        commands.end_all()
        if os.environ.get('KEEP'):
            print(t.folder)
        else:
            t.close()
    return FAILED


def main(scope, make=Scratch):
    """The exit status. make(name) is what a function is given."""
    tests = {name: f for name, f in scope.items() if name.startswith('test_')}
    names = ['test_' + name.removeprefix('test_') for name in sys.argv[1:]] or tests
    results = [run_one(name, tests[name], make) for name in names]
    return FAILED if FAILED in results else GOOD if GOOD in results else SKIPPED
