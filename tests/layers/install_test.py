#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where `make install` puts the trace events library: pkg-config and the loader look there, and the loader
is told."""
import glob
import json
import os
import re
import sys

from gttest import paths
from gttest.commands import printed
from gttest.results import Skip, status


def output(*command):
    return printed(command)


def loader_folders():
    """Of the loader's configuration."""
    found = []
    for path in glob.glob('/etc/ld.so.conf.d/*.conf'):
        with open(path, encoding='utf-8') as f:
            found += [line.strip() for line in f if line.startswith('/')]
    return found


def check_release(source):
    """The version and the changes' first heading agree."""
    with open(f'{source}/VERSION', encoding='utf-8') as f, open(f'{source}/CHANGELOG.md', encoding='utf-8') as g:
        version, heading = f.read().strip(), next(line for line in g if line.startswith('## '))
    if not re.fullmatch(rf'## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)\n', heading):
        print(f'CHANGELOG.md begins with {heading!r}, VERSION is {version}')
        return 1
    return 0


def main():
    build, source = paths.BUILD, paths.ROOT
    if not os.path.exists('/etc/debian_version'):
        raise Skip('no Debian: other systems look elsewhere')
    installed = json.loads(output('meson', 'introspect', '--installed', build)).values()
    library = [p for p in installed if os.path.basename(p).startswith('libguesttrace-events.so')]
    description = [p for p in installed if p.endswith('/guesttrace-events.pc')]
    if not library or not description:
        print('not installed:', list(installed))
        return 1
    if not library[0].startswith('/usr/local/'):
        raise Skip('this build is for another prefix')
    folders = loader_folders()
    failed = check_release(source)
    if os.path.dirname(library[0]) not in folders:
        print(f'{library[0]}: the loader looks in', folders)
        failed = 1
    looks = output('pkg-config', '--variable', 'pc_path', 'pkg-config').strip().split(':')
    if os.path.dirname(description[0]) not in looks:
        print(f'{description[0]}: pkg-config looks in', looks)
        failed = 1
    for target in 'install', 'uninstall':
        said = output('make', '-n', '-C', source, f'BUILD={build}', target)
        if '|| ldconfig' not in said:
            print(f'make {target} does not tell the loader:', said)
            failed = 1
    return failed


if __name__ == '__main__':
    sys.exit(status(main))
