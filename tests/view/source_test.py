#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace view --source FOLDER: source files with what their functions took, and no other file of the disk."""
import os
import sys

from gttest import commands, functions, made
from gttest.paths import GUESTTRACE
from gttest.results import equal, need, write
from page_test import Page, count, random_steps, report
from viewing import Viewing

TEXT = 'int main(void)\n{\n\treturn fib(7); /* <b>no</b> \u202e */\n}\n\nint fib(int n)\n{\n\treturn n;\n}\n'
BUILT = '/somewhere/build/../proj/src/prog.c'
LINES = {'main': (BUILT, 1), 'fib': (BUILT, 6), 'walk': ('/etc/passwd', 1), 'put': ('../../secret.c', 2), 'get': ('link.c', 1), 'read': ('fifo.c', 1),
         'sort': ('prog.c', 9), 'write': ('/', 1), 'done': ('x' * 5000 + '.c', 3), 'last': ('/a/b/../../../../secret.c', 1)}


def make(t):
    """A recording whose functions have lines, and the folder with its sources."""
    recording = made.Made(f'{t.folder}/data', step=random_steps)
    write(f'{recording.path}/guest.dbg', '# path name: guest\n' + ''.join(
        f'F: {made.FIRST + 16 * i:x} {name}\n' + ('L: %d %s\n' % (LINES[name][1], LINES[name][0]) if name in LINES else '') for i, name in enumerate(made.PLAIN)))
    os.makedirs(f'{t.folder}/sources/proj/src')
    write(f'{t.folder}/sources/proj/src/prog.c', TEXT)
    write(f'{t.folder}/secret.c', 'secret')
    os.symlink(f'{t.folder}/secret.c', f'{t.folder}/sources/link.c')
    os.mkfifo(f'{t.folder}/sources/fifo.c')
    return recording, f'{t.folder}/sources'


def sources(v):
    """{function: answer} of those that have one."""
    names = v.names()
    return {name: v.ask('source', function=names.index(name)) for name in LINES if name in names}


def test_what_is_read(t):
    recording, folder = make(t)
    with Viewing('--source', folder, recording.path) as v:
        v.ready()
        got = sources(v)
        equal(got['main']['lines'], TEXT.replace('\t', ' ' * 8).split('\n')[:-1], 'its text')
        equal((got['fib'], got['sort']['lines']), (got['main'], []), 'only as much of a path as is there')
        for name in set(LINES) - {'main', 'fib'}:
            equal(got[name]['lines'], [], name)
            need('not below the folder' in got[name]['why'], name, got[name]['why'])
        plain = v.names().index('f')
        for question in f'source?function={plain}', 'source?function=9999', 'source', 'source?file=/etc/passwd':
            need(v.request(v.path + question)[0] in (400, 404), question)
    with Viewing('--source', f'{folder}/proj/src', recording.path) as v:
        v.ready()
        equal([bool(sources(v)[name]['lines']) for name in ('main', 'sort')], [True, True], 'the folder itself')
    with Viewing(recording.path) as v:
        v.ready()
        equal(v.request(f'{v.path}source?function={v.names().index("main")}')[0], 404, 'without --source')


def test_counts(t):
    recording, folder = make(t)
    write(f'{t.folder}/cover.info', f'TN:\nSF:{BUILT}\nFN:1,main\nDA:8,0\nDA:1,3\nDA:3,12,abc\nend_of_record\nSF:/x/link.c\nDA:1,5\nend_of_record\nSF:/a/q.c\nDA:1,5\nSF:/b/q.c\nDA:2,6\n')
    with Viewing('--coverage', f'{t.folder}/cover.info', '--source', folder, recording.path) as v:
        v.ready()
        got = sources(v)
        equal([got[name]['counts'] for name in ('main', 'get', 'put')], [[1, 3, 3, 12, 8, 0], [1, 5], []], 'counts')
    for text, why in ('DA:1,2\n', 'line 1'), ('SF:a\nDA:x,1\n', 'line 2'), ('SF:a\nDA:1\n', 'line 2'), ('', 'SF'), ('SF:a\nDA:99999999999,1\n', 'line 2'):
        write(f'{t.folder}/bad.info', text)
        done = commands.run([GUESTTRACE, 'view', '--coverage', f'{t.folder}/bad.info', recording.path])
        need(done.returncode == 1 and why.encode() in done.stderr and b'bad.info' in done.stderr, text, done.returncode, done.stderr)
    for option in ['--source', f'{t.folder}/none'], ['--source', f'{t.folder}/secret.c'], ['--coverage', f'{t.folder}/none']:
        done = commands.run([GUESTTRACE, 'view', *option, recording.path])
        need(done.returncode == 1 and option[1].encode() in done.stderr, option, done.returncode, done.stderr)


def test_page(t):
    recording, folder = make(t)
    write(f'{t.folder}/cover.info', f'SF:{BUILT}\nDA:8,0\nDA:3,12\nend_of_record\n')
    sums = report(recording.path)
    with Viewing('--coverage', f'{t.folder}/cover.info', '--source', folder, recording.path) as v, Page(t, v.url) as p:
        p.press('3')
        p.ask('guesttrace.setState({ function: guesttrace.recording.functions.findIndex(f => f.name === "fib") })')
        p.press('v')
        p.browser.wait('document.querySelectorAll(`[aria-label="Lines"] .rows .row`).length > 8')
        table = p.rows('Lines')
        equal([row[0] for row in table], [str(n) for n in range(1, 10)], 'lines')
        equal({int(row[0]): count(row[2]) for row in table if row[2]}, {1: sums['main'][0], 6: sums['fib'][0]}, 'calls')
        equal({int(row[0]): row[1] for row in table if row[1]}, {3: '12', 8: '0'}, 'counts')
        need('<b>no</b> \\u202e' in table[2][5] and table[2][5].startswith(' ' * 8), table[2])
        equal(p.ask('document.querySelectorAll("b").length'), 0, 'elements that the text made')
        files = [(row[2], count(row[1])) for row in p.rows('Files')]
        for name, of in ('prog.c', ['main', 'fib']), ('prog.c', ['sort']), ('passwd', ['walk']):
            need((name, sum(sums[f][0] for f in of)) in files, name, of, files)
        p.picture('source')
    with Viewing(recording.path) as v, Page(t, v.url + '#tab=source') as p:
        p.browser.wait('document.querySelectorAll(`[aria-label="Lines"] .rows .row`).length')
        need('--source' in p.ask('document.querySelector(".listing").innerText'), 'it does not say how to see texts')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
