# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of filters and triggers as arguments of the plugin."""

NAMES = {'-F': 'filter', '-N': 'notrace', '-T': 'trigger', '-C': 'caller-filter', '-H': 'hide', '-L': 'loc-filter', '-t': 'time-filter',
         '-Z': 'size-filter', '-D': 'depth', '--trace': 'recording'}


def arguments(words):
    """The plugin's, of options that have values each, and --match=glob."""
    words, found = list(words), []
    while words:
        name = words.pop(0)
        found.append('match=glob' if name == '--match=glob' else f"{NAMES[name]}={words.pop(0).replace(',', ',,')}")
    return found
