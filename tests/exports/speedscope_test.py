#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""speedscope, in a browser, opens what is exported: its table of functions has each one's own time and total.

speedscope is the package that scripts/npm-packages fetched.
"""
import base64
import os
import re
import shutil
import sys

import programs
from formats_test import clean, export
from gttest import browser, call_sums, commands, functions, made, paths, screenshots
from gttest.results import Skip, need, same, write

PACKAGE = 'speedscope-1.25.0'
TEXT = 'document.body.innerText'
# [[total, own, name]] of the view "Sandwich"; numbers are shown as "1,234 (5.67%)"
ROWS = '''[...document.querySelectorAll("tr")].slice(1).map(
    row => [...row.querySelectorAll("td")].map(cell => cell.innerText.trim()))'''
UNITS = {'': 1, 'ns': 1, 'µs': 1e3, 'ms': 1e6, 's': 1e9}
NUMBER = re.compile(r'([\d.,]+)\s*(\D*?) \(.*%\)')


def viewer(folder):
    commands.tool('chromium')
    release = f'{paths.CACHE}/npm-packages/{PACKAGE}/dist/release'
    if not os.path.exists(release):
        raise Skip(f'no {PACKAGE}: {paths.why_not_fetched("npm-packages", PACKAGE)}')
    shutil.copytree(release, f'{folder}/site/viewer')


def picture(page, name):
    screenshots.keep(name, base64.b64decode(page.call('Page.captureScreenshot')['data']))


def table_of(t, data, name):
    """[(total, own, function)] of the profile that is shown first, as texts."""
    viewer(t.folder)
    write(f'{t.folder}/site/profile.json', data)
    with browser.Site(f'{t.folder}/site') as url, browser.Browser() as page:
        page.open(f'{url}/viewer/index.html#profileURL={url}/profile.json')
        page.wait(f'{TEXT}.includes("Left Heavy") && {TEXT}.includes("Export")')
        picture(page, f'{name}-time')
        page.press('2')
        page.wait(TEXT)
        picture(page, f'{name}-heavy')
        page.press('3')
        # Its rows are made after the table has a size.
        page.wait(f'{TEXT}.includes("Symbol Name") && document.querySelectorAll("tr").length > 1')
        picture(page, f'{name}-table')
        rows = page.ask(ROWS)
    return [tuple(row) for row in rows if len(row) == 3]


def close_to(shown, value):
    """A number as the viewer rounds it: to two decimals of its unit."""
    match = NUMBER.fullmatch(shown)
    need(match, repr(shown))
    unit = UNITS[match[2]]
    return abs(float(match[1].replace(',', '')) * unit - value) <= 0.005 * unit + 1e-6


def check_table(table, sums, limit):
    """`sums`: {(module, name): Sum}. The viewer makes rows only of what is in sight: the first ones, by own time."""
    need(len(table) >= min(limit, len(sums)), len(table), 'rows', table)
    for total, own, name in table:
        named = [tuple(s) for (_, other), s in sums.items() if other == name.removesuffix('()')]
        need(any(close_to(total, s[1]) and close_to(own, s[2]) for s in named), name, total, own, 'but', named)


def test_program(t):
    directory = programs.recorded(t.folder, 'recursion', '--clock', 'insn')
    (paths_of_task,) = programs.paths_of(directory, lambda *function: function).values()
    check_table(table_of(t, export('speedscope', directory), 'program'), call_sums.functions_of(paths_of_task), 10)


def test_chrome(t):
    """It reads trace events, too; an end is that of the slice that has its name."""
    recording = made.Made(f'{t.folder}/data', n=600, tids=[8])
    sums = {('guest', name): s for name, s in call_sums.functions_of(recording.paths(8)).items()}
    check_table(table_of(t, export('chrome', recording.path), 'chrome'), sums, 10)


def test_hostile_names(t):
    recording = made.Made(f'{t.folder}/data', [n for n in made.HOSTILE if len(n) < 100], n=60, tids=[8], deep=3)
    sums = {('guest', clean(name).strip()): s for name, s in call_sums.functions_of(recording.paths(8)).items()}
    check_table(table_of(t, export('speedscope', recording.path), 'hostile'), sums, 5)


def test_something_else(t):
    """That this test fails where the viewer does not take a file."""
    try:
        table_of(t, b'{"profiles": 1}', 'bad')
    except Exception as why:  # pylint: disable=broad-exception-caught
        if isinstance(why, Skip):
            raise
        same(str(why).split('!', maxsplit=1)[0], 'the page says: Unrecognized format', 'the failure')
        return
    need(False, 'it took a file that is none')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
