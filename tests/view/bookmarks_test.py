#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Bookmarks with notes: in links, and in the file of `guesttrace view --notes`."""
import os
import sys

from gttest import commands, functions, made
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, read_bytes, read_text, write
from page_test import Page, random_steps
from viewing import Viewing

HEAD = 'guesttrace notes 1\n'
RANGE = 'guesttrace.setState({ call: null, range: [1000, 5000] })'
NOTE = '<img src=x onerror=alert(1)> \\ a "note"'
DIALOG = '!!document.querySelector("dialog.note[open]")'


def bookmark(p, note):
    """With the key, at the selection."""
    p.ask('guesttrace.view.canvas.focus()')
    p.press('b')
    p.browser.wait(DIALOG)
    p.type(note)
    p.browser.press('Enter')
    p.browser.wait(f'!{DIALOG}')
    p.idle()


def shown(p):
    p.ask('guesttrace.setState({ tab: "bookmarks" })')
    p.idle()
    return [row for row in p.rows('Bookmarks') if len(row) > 1]


def press_button(p, text):
    p.ask(f'[...document.querySelectorAll("main .doing button")].find(b => b.textContent === "{text}" && b.offsetParent).click()')
    p.idle()


def test_link(t):
    """Set, gone to, changed, deleted; the address has them."""
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    with Viewing(recording.path) as v:
        with Page(t, v.url) as p:
            call = p.ask('guesttrace.callAt(1, 0, 20000).call')
            name = p.ask(f'guesttrace.functionOf({call["function"]}).name')
            p.ask('guesttrace.setState({ call: guesttrace.callAt(1, 0, 20000).call })')
            bookmark(p, NOTE)
            p.ask(RANGE)
            bookmark(p, '')
            p.picture('flags')
            rows = [[f'{call["begin"] / 1e9:.9f} s', name, 'guest 8', NOTE], ['0.000001000 s', 'stretch of time', '', '']]
            rows.sort()
            equal([[row[0], *row[2:]] for row in shown(p)], rows, 'bookmarks')
            p.browser.wait('new URLSearchParams(location.hash.slice(1)).getAll("bookmark").length === 2')
            link = p.ask('location.hash')
        with Page(t, v.url + link) as p:
            equal([[row[0], *row[2:]] for row in shown(p)], rows, link)
            equal(p.ask('document.querySelectorAll("img").length'), 0, 'elements that notes made')
            p.picture('bookmarks')
            index = next(i for i, row in enumerate(shown(p)) if row[2] == name)
            p.ask(f'document.querySelectorAll("[aria-label=Bookmarks] .rows .row")[{index}].click()')
            p.ask('document.querySelector("[aria-label=Bookmarks]").focus()')
            p.press('Enter')
            equal([p.state('tab'), p.state('call.begin'), p.state('call.depth'), p.state('call.function')], ['timeline', call['begin'], 0, call['function']], 'it is gone to')
            p.ask('guesttrace.setState({ tab: "bookmarks" })')
            press_button(p, 'Edit note')
            p.browser.wait(DIALOG)
            p.ask('document.querySelector("dialog.note input").value = "another"')
            p.browser.press('Enter')
            p.idle()
            equal([row[4] for row in shown(p) if row[2] == name], ['another'], 'its note')
            p.ask(f'document.querySelectorAll("[aria-label=Bookmarks] .rows .row")[{1 - index}].click()')
            press_button(p, 'Delete')
            equal([row[4] for row in shown(p)], ['another'], 'the other one')
            p.ask('document.querySelector("header [role=tab]").click()')
            p.idle()
            p.ask('guesttrace.setSight(0, guesttrace.recording.duration)')
            p.idle()
            equal(p.ask('[...document.querySelectorAll(".flag")].map(f => f.title.split("\\n")[0])'), ['another'], 'flags')


def test_file(t):
    """The server keeps them, whole or not at all; another page has them."""
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    notes = f'{t.folder}/boot.notes'
    with Viewing('--notes', notes, recording.path) as v:
        need(not os.path.exists(notes), 'there is a file before there is a bookmark')
        with Page(t, v.url) as p:
            p.ask(RANGE)
            bookmark(p, NOTE)
            p.browser.wait('!guesttrace.source.busy')
            equal(shown(p)[0][4], NOTE, 'it is shown')
            p.ask(RANGE.replace('1000', '2000'))
            bookmark(p, 'two\tthree')
            p.browser.wait(f'{len(HEAD)} < 1e9')
        line = '1000\t5000\t\t\t\t\t' + NOTE.replace('\\', '\\\\') + '\n'
        equal(read_text(notes), f'{HEAD}{line}' + '2000\t5000\t\t\t\t\ttwo\\tthree\n', 'the file')
        need('bookmark=' not in p.url, p.url)
    write(notes, f'{HEAD}{line}')
    with Viewing('--notes', notes, recording.path) as v:
        with Page(t, v.url) as p:
            equal([row[4] for row in shown(p)], [NOTE], 'another page')
        kept = read_bytes(notes)
        for body, status in ((b'', 400), (b'guesttrace notes 2\n', 400), (b'x' * 100, 400), (HEAD.encode() + b'1\t2\n', 400), (HEAD.encode() + b'1\t2\t\t\t\t\t\xff\n', 400),
                             (HEAD.encode() + b'x\t2\t\t\t\t\t\n', 400), (HEAD.encode() + b'1\t2\t\t\t\t\t\x1b[2J\n', 400), (HEAD.encode() + b'1\t2\t\t\t\t\tno end', 400),
                             (HEAD.encode() + b'1\t2\t\t\t\t\t\n' * 8000, 413), (b'x' * (8 << 20), 413)):
            equal(v.request(v.path + 'notes', method='POST', body=body)[0], status, body[:40])
        for path, headers, status in (('/notes', {}, 403), (f'/{"0" * 32}/notes', {}, 403), (v.path + 'notes', {'Origin': 'http://evil.example'}, 403),
                                      (v.path + 'notes', {'Host': 'evil.example'}, 403), (v.path + 'info', {}, 405)):
            equal(v.request(path, method='POST', body=HEAD.encode(), headers=headers)[0], status, f'{path} {headers}')
        equal(v.request(v.path + 'notes', method='PUT', body=HEAD.encode())[0], 405, 'PUT')
        equal(read_bytes(notes), kept, 'the file after refused ones')
        equal(v.request(v.path + 'notes', method='POST', body=HEAD.encode())[0], 200, 'none')
        equal((read_text(notes), sorted(os.listdir(t.folder))), (HEAD, ['boot.notes', 'data']), 'the file, and nothing beside it')


def test_without(t):
    """No file is written unless one is named, and none that has something else in it."""
    recording = made.Made(f'{t.folder}/data', n=50)
    with Viewing(recording.path) as v:
        equal(v.request(v.path + 'notes')[2], b'', 'none are kept')
        equal(v.request(v.path + 'notes', method='POST', body=HEAD.encode())[0], 405, 'without --notes')
    for text in 'something else\n', f'{HEAD}1\n', HEAD + 'x' * 70000:
        write(f'{t.folder}/other', text)
        done = commands.run([GUESTTRACE, 'view', '--no-browser', '--notes', f'{t.folder}/other', recording.path])
        equal((done.returncode, read_text(f'{t.folder}/other')), (1, text), done.stderr)
        need(b'/other' in done.stderr, done.stderr)
    with Viewing('--notes', f'{t.folder}/none/x', recording.path) as v:
        status, _, body = v.request(v.path + 'notes', method='POST', body=HEAD.encode())
        need(status == 500 and b'none' in body, status, body)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
