#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `make install` and `make uninstall` say where the right to write is missing, with programs in meson's and ninja's
place that fail as those do."""
import os

from gttest import cases, paths
from gttest.results import need

# The last lines of meson install as a user, and its uninstall's.
TRACEBACK = '''Installing guesttrace to /usr/local/bin
Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/mesonbuild/minstall.py", line 1, in run
PermissionError: [Errno 13] Permission denied: '/usr/local/bin/guesttrace'
'''
REFUSED = '''Could not delete /usr/local/bin/guesttrace: [Errno 13] Permission denied: '/usr/local/bin/guesttrace'.

Uninstall finished.

Deleted: 0
Failed: 1
'''
GONE = '''Could not delete /usr/local/bin/guesttrace: [Errno 2] No such file or directory: '/usr/local/bin/guesttrace'.
Could not delete /usr/local/bin: [Errno 39] Directory not empty: '/usr/local/bin'.
Failed: 2
'''


class Rights(cases.ScratchCase):
    def play(self, name, text, status, *arguments):
        """scripts/install with such a program."""
        self.write(name, f"#!/bin/sh\ncat <<'TEXT'\n{text}TEXT\nexit {status}\n", mode=0o755)
        env = dict(os.environ, PATH=f'{self.dir}:{os.environ["PATH"]}')
        return self.run_in(os.path.join(paths.SCRIPTS, 'install'), *arguments, 'build', env=env)

    def test_install(self):
        done = self.play('meson', TRACEBACK, 1)
        need(done.returncode == 1, done)
        need(done.stderr == 'make install: no right to change /usr/local/bin/guesttrace: use sudo make install, or another '
             'folder with PREFIX=FOLDER\n' and not done.stdout, done)

    def test_other_failure(self):
        done = self.play('meson', 'ERROR: no build\n', 1)
        need(done.returncode == 1 and done.stderr == 'ERROR: no build\nmake install: failed: see above\n', done)

    def test_uninstall(self):
        done = self.play('ninja', REFUSED, 0, '--remove')
        need(done.returncode == 1, done)
        need(done.stderr.startswith('make uninstall: no right to change /usr/local/bin/guesttrace: use sudo'), done)

    def test_gone(self):
        done = self.play('ninja', GONE, 0, '--remove')
        need(done.returncode == 0 and not done.stderr, done)


cases.main()
