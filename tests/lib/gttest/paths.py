# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things are: the source tree, the build under test, what scripts/ has fetched.

GUESTTRACE_BUILD names the build folder; without it, build/ of the source tree is meant.
"""
import os

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOT = os.path.dirname(TESTS)
SCRIPTS = os.path.join(ROOT, 'scripts')
START = os.path.join(TESTS, 'lib', 'start')  # start code of machines
INCLUDE = os.path.join(ROOT, 'include')
BUILD = os.path.abspath(os.environ.get('GUESTTRACE_BUILD') or os.path.join(ROOT, 'build'))
PLUGINS = os.path.join(BUILD, 'plugins')
GUESTTRACE = os.path.join(BUILD, 'guesttrace')
TRACETOOL = os.path.join(BUILD, 'tracetool')
EVENTS_LIBRARY = os.path.join(BUILD, 'src', 'events', 'library')
PLUGIN_EVENTS = os.path.join(ROOT, 'src', 'qemu', 'support', 'trace-events')
LONG = os.environ.get('GUESTTRACE_LONG', '') not in ('', '0')
CACHE = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'guesttrace')


def plugin(tool):
    """libTOOL.so: uftrace, etrace or execlog."""
    return os.path.join(PLUGINS, f'lib{tool}.so')


def keep(library):
    """QEMU's words before those of a libuftrace.so that is switched off and on: it is loaded once more, by another path."""
    return ['-plugin', os.path.join(os.path.dirname(library), '.', os.path.basename(library)) + ',keep=events']


def built(folder, name):
    """A program of the tests, of their folder."""
    return os.path.join(BUILD, 'tests', folder, name)


def source(folder, *parts):
    """A file of the tests."""
    return os.path.join(TESTS, folder, *parts)


def why_not_fetched(kind, version):
    """Why scripts/ has not fetched a version of something (qemus, uftraces, npm-packages)."""
    try:
        with open(os.path.join(CACHE, kind, f'{version}.reason'), encoding='utf-8') as f:
            return f.read().strip()
    except OSError:
        return f'scripts/{kind} has not been run'
