#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace view A B: what differs between two recordings, compared with the records of both."""
import collections
import sys

from gttest import commands, functions, made
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, read_text, write
from page_test import Page, count, random_steps, report
from use_test import two_deep
from viewing import Viewing, rows


def two(t, names=None, more=None):
    """Recordings whose functions are the same but one."""
    names = names or made.PLAIN
    first = made.Made(f'{t.folder}/first', names, step=random_steps)
    return first, made.Made(f'{t.folder}/second', [more or 'added' if name == 'walk' else name for name in names], n=3000, step=random_steps)


def named(got):
    return {number: (name, module) for number, name, module in rows(got['names'], 3)}


def check_nodes(got, sides, value):
    """Each node has the values of both; what is below it is no more, and all of it where small paths are counted."""
    names, open_ = named(got), []
    shown, below = {}, collections.Counter()
    for depth, number, value0, value1, *calls in rows(got['nodes'], 6):
        del open_[depth - 1 if depth else 0:]
        if depth:
            open_.append(names[number][0] if number >= 0 else None)
            below[tuple(open_[:-1])] += value0 + value1
        path = tuple(open_)
        if number < 0 or not depth:
            continue
        shown[path] = value0, value1
        equal([value0, value1], [value(side, path) for side in sides], path)
        equal(calls, [side[path].calls if path in side else 0 for side in sides], f'calls of {path}')
    equal(got['all'], [sum(value(side, path) for path in side if len(path) == 1) for side in sides], 'all')
    for path in {path for side in sides for path in side}:
        part = sum(value(side, path) / whole for side, whole in zip(sides, got['all']))
        need(path in shown or path[:-1] and path[:-1] not in shown or part < 2 / 2000 + 1e-9, path, 'is not there', part)
    return shown, below


def test_flame(t):
    first, second = two(t)
    sides = first.all_paths(), second.all_paths()
    with Viewing(first.path, second.path) as v:
        got = v.ask('difference')
        shown, below = check_nodes(got, sides, lambda side, path: side[path].total if path in side else 0)
        need(any(path[-1] == 'added' for path in shown) and any(path[-1] == 'walk' for path in shown), 'what one alone has is missing')
        for path, values in shown.items():
            inside = sum(side[p].total for side in sides for p in side if p[:-1] == path)
            need(below[path] in (0, inside), path, 'has', below[path], 'below it, not', inside, values)
        path = max((p for p in shown if len(p) == 2), key=lambda p: sum(shown[p]))
        numbers = {name: number for number, (name, _) in named(got).items()}
        part = v.ask('difference', path=','.join(str(numbers[name]) for name in path))
        equal(part['nodes'][2:4], list(shown[path]), path)
        equal(part['all'], got['all'], 'all')
        equal(v.request(v.path + 'difference?path=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0')[0], 400, 'a path that is none')
        equal(v.request(v.path + 'difference?path=9999')[0], 400, 'a number that is none')


def test_inverse(t):
    first, second = two(t)
    with Viewing(first.path, second.path) as v:
        got = v.ask('difference', inverse=1)
        names, own = named(got), [collections.Counter(), collections.Counter()]
        for side, recording in enumerate((first, second)):
            for path, s in recording.all_paths().items():
                own[side][path[-1]] += s.self
        top = {names[number][0]: [value0, value1] for depth, number, value0, value1, *_ in rows(got['nodes'], 6) if depth == 1 and number >= 0}
        equal(top, {name: [own[0][name], own[1][name]] for name in {*own[0], *own[1]}}, 'own times')


def test_same(t):
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path, recording.path) as v:
        for how in {}, {'inverse': 1}, {'by': 'calls'}:
            for _, number, value0, value1, calls0, calls1 in rows(v.ask('difference', **how)['nodes'], 6):
                equal((value0, calls0), (value1, calls1), f'a recording and itself, {number}')


def test_one(t):
    recording = made.Made(f'{t.folder}/data', n=50)
    with Viewing(recording.path) as v:
        for name in 'difference', 'changes':
            equal(v.request(v.path + name)[0], 404, name)
    for what, status in ([recording.path] * 3, 2), ([recording.path, f'{t.folder}/none'], 1):
        done = commands.run([GUESTTRACE, 'view', *what])
        equal(done.returncode, status, f'{what}: {done.stderr}')


def test_page(t):
    first, second = two(t)
    with Viewing(first.path, second.path) as v, Page(t, v.url) as p:
        equal(p.state('tab'), 'flame', 'what is shown first')
        p.picture('difference')
        p.press('ArrowDown', 'Enter')
        need(len(p.state('path')) == 1 and '…' not in p.ask('document.querySelector(".path").innerText'), 'path')
        p.press('Backspace', '7')
        sides = report(first.path), report(second.path)
        table = {row[8]: row for row in p.rows('Difference')}
        equal(set(table), {*sides[0], *sides[1]}, 'functions')
        whole = [sum(own for _, _, own in side.values()) for side in sides]
        for name, row in table.items():
            (calls0, _, own0), (calls1, _, own1) = (side.get(name, (0, 0, 0)) for side in sides)
            equal([count(row[6]), count(row[7])], [calls0, calls1], f'calls of {name}')
            change = 100 * (own1 / whole[1] - own0 / whole[0])
            need(abs(float(row[0].replace('−', '-')) - change) < 0.006, name, row[0], change)
        changes = [abs(float(row[0].replace('−', '-'))) for row in p.rows('Difference')]
        equal(changes, sorted(changes, reverse=True), 'the largest changes first')
        p.picture('changes')
        p.press('2')
        p.ask('guesttrace.setState({ difference: false, path: [] })')
        p.idle()
        need(p.ask('guesttrace.flame.nodes.length') > 2 and not p.ask('Boolean(guesttrace.flame.nodes[1].parts)'), 'this recording alone')


NAMES = '[...document.querySelectorAll(".path .link")].map(e => e.textContent)'


def test_link(t):
    """A path has names: with another recording beside it functions have other numbers."""
    first, second = two(t)
    third = made.Made(f'{t.folder}/third', ['a' * 5, 'a' * 6, *made.PLAIN], step=random_steps, tids=[7, 8])
    with Viewing(first.path, second.path) as v, Page(t, v.url) as p:
        p.idle()
        p.ask(f'guesttrace.setState({{ path: {two_deep(p)} }})')
        p.browser.wait('location.hash.includes("path=") && guesttrace.flame.ready === guesttrace.flame.key')
        link, path, number = p.ask('location.hash'), p.ask(NAMES), p.state('path')
        equal(len(path), 3, path)
    with Viewing(first.path, third.path) as v, Page(t, v.url + link) as p:
        p.browser.wait('guesttrace.state.path.length === 2 && guesttrace.flame.ready === guesttrace.flame.key')
        p.idle()
        equal(p.ask(NAMES), path, link)
        need(p.state('path') != number, 'functions have the same numbers')


def test_places(t):
    """A kernel that lies at another address in another boot is the same one, and so is a part of it."""
    names = 'guest@0x1000000', 'guest@0x3400000', 'guest+0x1000-0x2ff0'
    made_of = []
    for i, name in enumerate(names):
        made_of.append(made.Made(f'{t.folder}/{i}', step=random_steps, tids=[8]))
        path = made_of[-1].path
        write(f'{path}/sid-{made.SID}.map', read_text(f'{path}/sid-{made.SID}.map').replace('guest', name))
        write(f'{path}/{name}.sym', read_text(f'{path}/guest.sym').replace('path name: guest', f'path name: {name}'))
    for other in made_of[1:]:
        with Viewing(made_of[0].path, other.path) as v:
            got = v.ask('changes')
            equal({name: module for _, name, module in rows(got['names'], 3)}, {name: 'guest' for name in report(made_of[0].path)}, 'names')
            for _, *sums in rows(got['rows'], 9):
                equal(sums[:4], sums[4:], 'sums of the same calls')


def test_hostile_names(t):
    first, second = two(t, [*made.HOSTILE, b'walk', b'<img src=x onerror=alert(1)>'], b'\xe2\x80\xae<script>alert(2)</script>')
    with Viewing(first.path, second.path) as v, Page(t, v.url) as p:
        p.press('7')
        names = [row[8] for row in p.rows('Difference')]
        need('<img src=x onerror=alert(1)>' in names, names)
        p.press('2', '7', '8')
        equal(p.ask('document.querySelectorAll("img, script:not([src])").length'), 0, 'elements that names made')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
