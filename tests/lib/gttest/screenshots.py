# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures that tests take of pages: kept below the build, in screenshots/TEST/NAME.png, or in the folder that SCREENSHOTS names."""
import os
import sys

from gttest import paths
from gttest.results import write


def keep(name, png):
    folder = os.environ.get('SCREENSHOTS')
    if not folder:
        test = os.path.splitext(os.path.basename(sys.argv[0]))[0].removesuffix('_test')
        folder = os.path.join(paths.BUILD, 'screenshots', test)
        os.makedirs(folder, exist_ok=True)
    write(f'{folder}/{name}.png', png)
