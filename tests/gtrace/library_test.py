#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""libgtrace as it is installed: pkg-config finds it, its examples are built against it and say what the reader of
Python says; programs in C and C++ of any standard include its header; it exports its own names only; an older
program's structs are not written behind their end; a server of any program has the page of view; a recording becomes one
of the other form."""
import glob
import json
import os
import shutil
import sys

from gttest import paths, qemus
from gttest.commands import must, printed, run
from gttest.compilers import compile_to
from gttest.recordings import record
from gttest.results import Skip, Tally, folder, need

WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Werror']
OLD = r'''
#include <gtrace/gtrace.h>
#include <stdio.h>
#include <string.h>
/* A program of an earlier version knew less of a struct, one of a later version knows more. */
union { struct gtrace_facts facts; unsigned char byte[256]; } u;
int main(int argc, char **argv)
{
    struct gtrace *t;
    unsigned bad = 0;
    if (argc != 2 || gtrace_open(argv[1], NULL, &t, NULL) != 0)
        return 1;
    for (uint32_t size = 4; size <= sizeof u; size += 4) {
        memset(&u, 0xa5, sizeof u);
        u.facts.size = size;
        bad += gtrace_facts(t, &u.facts) != 0;
        for (size_t i = size; i < sizeof u; i++)
            bad += u.byte[i] != 0xa5;
        for (size_t i = sizeof u.facts; i < size; i++)
            bad += u.byte[i] != 0;
    }
    struct gtrace_task task = {.size = sizeof task};
    bad += gtrace_task(t, (uint32_t)gtrace_n_tasks(t), &task) != GTRACE_E_RANGE;
    bad += gtrace_version() < 200;
    gtrace_close(t);
    printf("%u\n", bad);
    return bad != 0;
}
'''
PAGE = r'''
#include <gtrace/gtrace.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* PAGE RECORDING OTHER-FORM QUESTION...: each answer, and what is said of it. */
static const char *value(void *user, const char *key)
{
    return strcmp(key, "sort") == 0 ? user : NULL;
}
int main(int argc, char **argv)
{
    struct gtrace *t;
    struct gtrace_page *p;
    struct gtrace_error err = {.size = sizeof err};
    struct gtrace_page_options wrong = {.size = sizeof wrong, .sources = "/none"};
    struct gtrace_page_answer none = {.size = sizeof none};
    if (argc < 3 || gtrace_written("/none") != GTRACE_E_NOT_FOUND || gtrace_written(argv[1]) <= 0 ||
        gtrace_convert(argv[1], argv[2], GTRACE_ETRACE, NULL, NULL) != GTRACE_E_USAGE ||
        gtrace_convert(argv[1], argv[2], GTRACE_DIRECTORY, NULL, &err) != 0 ||
        gtrace_convert(argv[2], "/proc/none", GTRACE_FILE, NULL, NULL) >= 0 ||
        gtrace_open(argv[2], NULL, &t, &err) != 0 ||
        gtrace_page_open(t, &wrong, &p, &err) != GTRACE_E_NOT_FOUND || p ||
        gtrace_page_answer(NULL, "info", value, NULL, STDOUT_FILENO, &none, NULL) != GTRACE_E_NOT_FOUND ||
        gtrace_page_open(t, NULL, &p, NULL) != 0 || gtrace_page_read(p, NULL) != 0)
        return 1;
    for (int i = 3; i < argc; i++) {
        struct gtrace_page_answer a = {.size = sizeof a};
        int status = gtrace_page_answer(p, argv[i], value, NULL, STDOUT_FILENO, &a, &err);
        fprintf(stderr, "%d %d %s\n", status, a.final, status < 0 ? err.text : a.type);
    }
    gtrace_page_stop(p);
    gtrace_page_close(p);
    gtrace_page_close(NULL);
    gtrace_close(t);
    return 0;
}
'''


def installed(where_to):
    """Where the build's files are installed; pkg-config's environment for it."""
    if not shutil.which('pkg-config'):
        raise Skip('no pkg-config')
    must(['meson', 'install', '-C', paths.BUILD, '--no-rebuild', '--quiet', '--destdir', f'{where_to}/root'])
    found = glob.glob(f'{where_to}/root/**/gtrace.pc', recursive=True)
    need(len(found) == 1, 'gtrace.pc:', found)
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(found[0]), PKG_CONFIG_SYSROOT_DIR=f'{where_to}/root')
    flags = printed(['pkg-config', '--cflags', '--libs', 'gtrace'], env=env).split()
    return flags, dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(os.path.dirname(found[0])))


def recording(where_to):
    qemus.user('x86_64')
    program = compile_to(f'{where_to}/program', 'x86_64', paths.source('readers', 'recursion.c'), '-O1', '-g')
    record(f'{where_to}/r.gtrace', [], [program])
    return f'{where_to}/r.gtrace'


def build(where_to, source, flags):
    out = f'{where_to}/{os.path.splitext(os.path.basename(source))[0]}'
    must(['cc', '-std=c11', *WARNINGS, '-o', out, source, *flags])
    return out


def test_installed(where_to):
    flags, env = installed(where_to)
    r = recording(where_to)
    slowest = build(where_to, f'{paths.ROOT}/examples/gtrace/slowest.c', flags)
    lines = printed([slowest, r, '*'], env=env).splitlines()
    need(len(lines) == 10 and lines[0].endswith(' _start'), lines)
    times = [float(line.split()[0]) for line in lines]
    need(times == sorted(times, reverse=True), lines)
    need(any('main >' in line for line in lines), lines)
    latency = build(where_to, f'{paths.ROOT}/examples/gtrace/latency.c', flags)
    lines = printed([latency, r, '_start', 'main'], env=env).splitlines()
    need(len(lines) == 1 and lines[0].split()[-1] == '1', lines)
    for command, status in ([slowest, f'{where_to}/none', 'f'], 1), ([latency, r], 2):
        done = run(command, env=env)
        need(done.returncode == status and done.stderr, command, done)


def test_sizes(where_to):
    flags, env = installed(where_to)
    with open(f'{where_to}/old.c', 'w', encoding='utf-8') as f:
        f.write(OLD)
    need(printed([build(where_to, f'{where_to}/old.c', flags), recording(where_to)], env=env) == '0\n', 'sizes')


def test_page(where_to):
    flags, env = installed(where_to)
    with open(f'{where_to}/page.c', 'w', encoding='utf-8') as f:
        f.write(PAGE)
    program = build(where_to, f'{where_to}/page.c', flags)
    command = [program, recording(where_to), f'{where_to}/r.data']
    done = run([*command, '', 'page.css', 'page.js', 'none', 'info'], env=env)
    need(done.returncode == 0 and done.stderr.decode().splitlines() == [
        '0 1 text/html; charset=utf-8', '0 1 text/css; charset=utf-8', '0 1 text/javascript; charset=utf-8',
        '-7 0 there is no such answer', '0 1 application/json'], done.returncode, done.stderr)
    info = json.loads(done.stdout[done.stdout.rindex(b'{"title"'):])
    need(info['title'] == 'r.data' and os.path.isfile(f'{where_to}/r.data/info'), info)


def test_header(where_to):
    with open(f'{where_to}/h.c', 'w', encoding='utf-8') as f:
        f.write('#include <gtrace/gtrace.h>\n#include <gtrace/gtrace.h>\nint x;\n')
    for command in ['cc', '-std=c99'], ['c++', '-x', 'c++', '-std=c++11']:
        must([*command, *WARNINGS, f'-I{paths.ROOT}/include', '-c', '-o', f'{where_to}/h.o', f'{where_to}/h.c'])


def test_names(_):
    lines = printed(['nm', '-D', '--defined-only', f'{paths.BUILD}/src/gtrace/libgtrace.so']).splitlines()
    names = {line.split()[-1].split('@')[0] for line in lines}
    need(len(names) > 20 and all(name.startswith(('gtrace_', 'GTRACE_')) for name in names), names)
    with open(f'{paths.ROOT}/include/gtrace/gtrace.h', encoding='utf-8') as f:
        header = f.read()
    need(all(f'{name}(' in header for name in names if name.startswith('gtrace_')), 'exported and not declared')


def main():
    tally = Tally()
    for name, test in sorted(globals().items()):
        if name.startswith('test_'):
            with folder(name) as path:
                tally.run(name, test, path)
    return tally.status()


if __name__ == '__main__':
    sys.exit(main())
