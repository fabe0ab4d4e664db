#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What people have set for themselves changes nothing: in a locale that writes 1,5 for one and a half, and not UTF-8, options are
read and recordings, reports and exports written as in C; a umask of 077 keeps recordings from others;
hundreds of variables reach the guest."""
import os
import re
import shutil
import sys

from gttest import functions, made, paths, qemus
from gttest.commands import must, printed
from gttest.compilers import compile_to
from gttest.paths import GUESTTRACE
from gttest.results import Skip, equal, need, read_bytes

LOCALE = 'de_DE.ISO-8859-1'
TEXTS = [['info'], ['info', '--json'], ['report'], ['report', '--json'], ['graph'], ['replay'], ['replay', '--json'],
         ['replay', '--from', '1.5us', '--to', '0.0025ms'], ['report', '--time-filter', '0.05us']]
FORMATS = ['compact', 'perfetto', 'chrome', 'folded', 'speedscope', 'callgrind', 'pprof', 'firefox', 'perf', 'html']
GUEST = r'''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
__attribute__((noinline)) int count(void)
{
    int n = 0;
    for (char **e = environ; *e; e++)
        n += strncmp(*e, "NOISE_", 6) == 0;
    return n;
}
int main(void)
{
    return printf("%d %s\n", count(), getenv("LC_ALL")) < 0;
}
'''


def env_of(t):
    """An environment with that locale, which is made."""
    if not shutil.which('localedef') or not os.path.exists('/usr/share/i18n/locales/de_DE'):
        raise Skip('no source of a locale: package locales')
    must(['localedef', '-i', 'de_DE', '-f', 'ISO-8859-1', f'{t.folder}/{LOCALE}'])
    env = dict(os.environ, LOCPATH=t.folder, LC_ALL=LOCALE, LANGUAGE='de')
    said = printed([sys.executable, '-c', 'import locale; locale.setlocale(locale.LC_ALL, ""); print(locale.str(1.5))'], env=env)
    equal(said, '1,5\n', 'the locale')
    return env


def test_readers(t):
    env = env_of(t)
    made.Made(f'{t.folder}/data', n=300)
    for words in TEXTS:
        command = [GUESTTRACE, *words, f'{t.folder}/data']
        want = printed(command)
        need(len(want) > 100, words, want)
        equal(printed(command, env=env), want, words)


def test_exports(t):
    env = env_of(t)
    made.Made(f'{t.folder}/data', n=300)
    for name in FORMATS:
        for out, where in ('c', os.environ), ('de', env):
            must([GUESTTRACE, 'export', '--format', name, '-o', f'{t.folder}/{out}-{name}', f'{t.folder}/data'], env=where)
        need(read_bytes(f'{t.folder}/c-{name}') == read_bytes(f'{t.folder}/de-{name}'), name)


def test_record(t):
    """Of a guest that has the locale and a large environment, too."""
    env = {**env_of(t), **{f'NOISE_{i}': 'x' * 50 for i in range(500)}, 'GUESTTRACE_PLUGIN_DIR': paths.PLUGINS}
    qemus.user('x86_64')
    with open(f'{t.folder}/p.c', 'w', encoding='utf-8') as f:
        f.write(GUEST)
    program = compile_to(f'{t.folder}/p', 'x86_64', f'{t.folder}/p.c', '-O1')
    for form, files in ('compact', ['']), ('uftrace', ['/info', '/task.txt']):
        out = f'{t.folder}/{form}'
        done = must([GUESTTRACE, 'record', '--format', form, '-o', out, program], env=env, umask=0o077)
        equal(done.stdout, f'500 {LOCALE}\n'.encode(), 'what the guest prints')
        need(re.search(rb'in 1 task, \d+(\.\d+)? \w+, \d+\.\d s$', done.stderr, re.M), done.stderr)
        need(re.search(r' count$', printed([GUESTTRACE, 'report', out]), re.M), 'no call of count')
        modes = {name: os.stat(out + name).st_mode & 0o777 for name in files}
        equal(modes, {name: 0o600 for name in files}, 'rights')


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
