#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page for those who do not see it, or use keys alone: axe-core reports nothing, on any tab, light or dark; the calls in
sight are a tree that keys walk. axe-core is the package that scripts/npm-packages fetched.
"""
import os
import sys

from gttest import functions, made, paths
from gttest.results import Skip, equal, need, read_text
from page_test import Page, random_steps
from viewing import Viewing

PACKAGE = 'axe-core-4.14.1'
VIOLATIONS = 'axe.run().then(r => [r.passes.length, r.violations.map(v => `${v.id}: ${v.nodes.map(n => n.html.slice(0, 200)).join("\\n")}`)])'
CALL = '{ task: 1, depth: 0, begin: 100, duration: 50, function: 3 }'
STATES = {'with a list and a range': 'search: "f", list: true, range: [1000, 50000], hidden: [2]', 'with a call': f'call: {CALL}'}
ITEMS = '[...document.querySelectorAll("[role=treeitem]")].map(e => [Number(e.getAttribute("aria-level")), e.textContent, e.getAttribute("aria-expanded")])'
AT = 'document.getElementById(document.querySelector("[role=tree]").getAttribute("aria-activedescendant")).textContent'


def check(p, what):
    passes, violations = p.ask(VIOLATIONS)
    need(passes > 5, what, passes, 'rules')
    need(not violations, what, *violations)


def test_axe(t):
    path = f'{paths.CACHE}/npm-packages/{PACKAGE}/axe.min.js'
    if not os.path.exists(path):
        raise Skip(f'no {PACKAGE}: {paths.why_not_fetched("npm-packages", PACKAGE)}')
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path, recording.path) as v, Page(t, v.url) as p:
        p.ask(f'{read_text(path)};0')
        for theme in 'light', 'dark':
            if p.ask('document.documentElement.dataset.theme') != theme:
                p.press('t')
            for tab in 'timeline', 'flame', 'functions', 'modules', 'tasks', 'source', 'difference', 'about', 'boot', 'bookmarks':
                p.ask(f'guesttrace.setState({{ tab: "{tab}" }})')
                p.idle()
                check(p, f'{theme}, {tab}')
            for name, state in STATES.items():
                p.ask(f'guesttrace.setState({{ tab: "timeline", {state} }})')
                p.idle()
                check(p, f'{theme}, {name}')
            p.ask('guesttrace.setState({ search: "", list: false, range: null, call: null, hidden: [] })')
            p.press('?')
            check(p, f'{theme}, keys')
            p.ask('document.querySelector("dialog").close()')
            p.press('b')
            check(p, f'{theme}, a bookmark')
            p.browser.press('Enter')
            p.idle()
        p.ask('guesttrace.view.canvas.focus()')
        p.press('Tab', 'ArrowRight')
        check(p, 'the tree')


def wait_at(p, text):
    p.browser.wait(f'{AT}.startsWith("{text}")')


def test_tree(t):
    """Arrows open and walk it, Space selects a call, Enter zooms to it."""
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path) as v, Page(t, v.url) as p:
        p.ask('guesttrace.setSight(0, 90000); guesttrace.view.canvas.focus()')
        p.browser.wait(f'{ITEMS}.length > 0 && !/: 0 outermost/.test({AT})')
        p.press('Tab')
        equal(p.ask('document.activeElement.getAttribute("role")'), 'tree', 'the focus')
        p.picture('tree')
        tracks = p.ask(ITEMS)
        equal([(level, is_open) for level, _, is_open in tracks], [(1, 'false')] * len(tracks), 'tracks')
        p.press('ArrowRight')
        items = p.ask(ITEMS)
        calls = [text for level, text, _ in items if level == 2]
        need(f': {len(calls)} outermost calls in sight' in items[0][1], items[0][1], len(calls))
        outer = next(i for i, item in enumerate(items) if item[2] == 'false' and item[0] == 2)
        p.press(*['ArrowDown'] * outer)
        wait_at(p, items[outer][1])
        p.press('ArrowRight', 'ArrowRight')
        inner = p.ask(ITEMS)[outer + 1]
        equal(inner[0], 3, 'what it calls')
        wait_at(p, inner[1])
        p.press(' ')
        call = p.state('call')
        name = p.ask('guesttrace.functionOf(guesttrace.state.call.function).name')
        equal(inner[1].split(', ')[0], name, 'the selected call')
        need(f'{call["begin"] / 1e9:.9f} s' in inner[1], inner[1], call)
        equal(call['depth'] > 0, True, 'its depth')
        p.press('ArrowLeft')
        wait_at(p, items[outer][1])
        p.press('ArrowLeft', 'ArrowLeft', 'End')
        wait_at(p, p.ask(ITEMS)[-1][1])
        p.press('Home')
        wait_at(p, items[0][1][:8])
        p.press('ArrowDown', 'Enter')
        begin, duration = p.state('call.begin'), p.state('call.duration')
        need(calls[0].endswith(f'at {begin / 1e9:.9f} s'), calls[0], begin)
        wide = p.state('to') - p.state('from')
        need(duration < wide < duration * 1.3, 'Enter does not zoom to it:', wide, duration)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
