# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys of JSON, as docs/ has them and as a command prints them."""
import os
import re

from gttest import paths
from gttest.results import need, read_text

KEY = re.compile(r'`([a-z][a-z0-9_]*)`')


def documented(page, heading):
    """The keys that a paragraph, or a row of a table, of docs/ says of --json in the part below a heading: words in backticks."""
    text = read_text(os.path.join(os.path.dirname(paths.TESTS), 'docs', page))
    part = re.search(rf'^## {heading}\n(.*?)(?=^## |\Z)', text, re.S | re.M)
    need(part, page, 'has no part', heading)
    said = re.findall(r'`--json`\)?(.*?)(?=\n\n|\n\||\Z)', part[1], re.S)
    need(said, page, heading, 'says nothing of --json')
    return set(KEY.findall(' '.join(said)))


def keys(value):
    """All keys of objects in it."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    return set(value).union(*map(keys, value.values())) if isinstance(value, dict) else set()
