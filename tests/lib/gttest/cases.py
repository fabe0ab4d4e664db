# SPDX-License-Identifier: GPL-2.0-or-later
"""A test file of unittest classes: each test has a folder of its own, and what is skipped is reported.

    cases.main('gcc', qemus.user_of('x86_64'))      skips the file where one of these is missing
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from gttest import commands
from gttest.results import SKIPPED, Skip, skip

SECONDS = 120


class ScratchCase(unittest.TestCase):
    """self.dir is the test's folder. Paths are relative to it, and programs run in it."""

    maxDiff = None

    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix=f'guesttrace-{type(self).__name__.lower()}-'))
        self.addCleanup(shutil.rmtree, self.dir, True)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, data, mode=None):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(data if isinstance(data, (bytes, bytearray)) else data.encode())
        if mode is not None:
            os.chmod(path, mode)
        return path

    def read(self, *parts):
        with open(self.path(*parts), encoding='utf-8') as f:
            return f.read()

    def read_bytes(self, *parts):
        with open(self.path(*parts), 'rb') as f:
            return f.read()

    def run_in(self, *command, **more):
        """What it prints is text, unless it is asked for otherwise (text=False)."""
        if more.get('text', True):
            more = {'encoding': 'utf-8', 'errors': 'replace', **more}
        more.pop('text', None)
        if 'input' not in more:
            more.setdefault('stdin', subprocess.DEVNULL)
        more = {'cwd': self.dir, 'capture_output': True, 'timeout': SECONDS, **more}
        return subprocess.run(command, check=False, **more)

    def must(self, *command, status=0, **more):
        """run_in() of what has to end with that status."""
        done = self.run_in(*command, **more)
        self.assertEqual(done.returncode, status,
                         f'{" ".join(map(str, command))}:\n{done.stdout}{done.stderr}')
        return done

    def start(self, *command, **more):
        """A process with pipes, of text, that is gone when the test ends."""
        more = {'cwd': self.dir, 'text': True, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **more}
        process = subprocess.Popen(command, **more)  # pylint: disable=consider-using-with
        for f in (process.stdin, process.stdout, process.stderr):
            if f:
                self.addCleanup(f.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process


def need(*names):
    """Skips a test where one of the programs is missing."""
    commands.tools(*names)


class Result(unittest.TextTestResult):
    """Reports skips as all tests do."""

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        skip(reason)


def main(*needs):
    """Runs all tests of the file. needs: programs, or functions that raise Skip."""
    sys.stdout.reconfigure(line_buffering=True)
    try:
        for what in needs:
            if callable(what):
                what()
            else:
                commands.tool(what)
    except Skip as why:
        skip(why)
        sys.exit(SKIPPED)
    unittest.main(verbosity=2, testRunner=unittest.TextTestRunner(verbosity=2, resultclass=Result))
