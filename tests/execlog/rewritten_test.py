#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that write their own code: the lines are those of the code that ran, and the log's memory
does not grow with each of the thousands of codes that an address has had."""
import re

from gttest import paths, qemus
from gttest.compilers import compile_to
from gttest.results import need, write
from runs import main, qemu_7_2

GUEST = r'''
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *nothing(void *arg)
{
    return arg;
}

/* N codes of one address, each ran twice; where there is a third argument, beside a thread. */
int main(int argc, char **argv)
{
    unsigned n = atoi(argv[1]), sum = 0;
    unsigned char *code = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t t;
    if (argc > 2 && (pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL)))
        return 1;
    for (unsigned i = 0; i < n; i++) {
        unsigned char bytes[] = {0xb8, 0, 0, 0, 0, 0x90, 0xc3};
        memcpy(bytes + 1, &i, 4);
        memcpy(code, bytes, sizeof bytes);
        sum += ((unsigned (*)(void))code)() + ((unsigned (*)(void))code)();
    }
    FILE *status = fopen("/proc/self/status", "r"); /* QEMU's */
    for (char line[200]; status && fgets(line, sizeof line, status);)
        if (strncmp(line, "VmHWM:", 6) == 0)
            printf("%s", line);
    return sum == n * (n - 1) ? 42 : 1;
}
'''
MOVE = re.compile(r'"movl \$(?:0x)?([0-9a-f]+), %eax".*\n\d+, 0x[0-9a-f]+, 0x[0-9a-f]+, "nop')


def build(t):
    source = write(f'{t.folder}/rewrites.c', GUEST)
    return compile_to(f'{t.folder}/rewrites', 'x86_64', source, '-static', '-O1', '-pthread')


def check(text, n):
    values = [int(m, 16) for m in MOVE.findall(text)]
    need(values == [i for i in range(n) for _ in 'ab'], 'lines of', len(values), 'codes are wrong')


def test_lines(t):
    guest, n = build(t), 4000 if paths.LONG else 1500
    for turn, given in enumerate(([], ['format=binary'], ['last=10000000'], ['format=binary', 'last=10000000'])):
        for thread in qemus.by_turns([[], ['thread']], turn):
            command = [qemu_7_2('x86_64'), '-plugin', t.word(f'out={t.out}', *given), guest,
                       str(n), *thread]
            done = t.run(command)
            need(done.status == 42 and not done.said, done)
            check(t.text(given), n)


def peak(t, command):
    """Bytes of memory, at the most."""
    done = t.run(command)
    need(done.status == 42, done)
    return int(done.out.split()[1]) * 1024


def test_memory(t):
    """Of what a code costs, 600 bytes were ours; QEMU's are some 400 and, for the calls of a plugin,
    some 250."""
    guest, few, many = build(t), 10000, 60000

    def cost(*plugin):
        least, most = (peak(t, [qemu_7_2('x86_64'), *plugin, guest, str(n)]) for n in (few, many))
        return (most - least) / (many - few)
    plain = cost()
    for given in [], ['format=binary'], ['last=1000']:
        ours = cost('-plugin', t.word('out=/dev/null', *given))
        print(f'{given}: bytes a code: {plain:.0f}, with the plugin {ours:.0f}')
        need(ours - plain < 400, given, plain, ours)


if __name__ == '__main__':
    main(globals())
