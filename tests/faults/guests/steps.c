/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `steps ROUNDS [fork | threads N]`: recursion to depths, by ways and in times that no packer
 * predicts, so that blocks and parts of a compact recording begin at all depths. With fork a child
 * does the same, with threads N of them do as well.
 */
#include "guest.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MOST
#define MOST 511 /* calls that are open, of a power of two less one */
#endif

static unsigned rounds;

F static unsigned b(unsigned *seed, unsigned n);

static unsigned next(unsigned *seed)
{
    return (*seed = *seed * 1103515245u + 12345u) >> 16;
}

/* Takes a time that nobody predicts: few calls fill a part. */
static unsigned spend(unsigned *seed)
{
    for (unsigned i = next(seed) & 63; i; i--)
        WORK();
    return next(seed) & 1;
}

F static unsigned a(unsigned *seed, unsigned n)
{
    return n ? (spend(seed) ? b(seed, n - 1) : a(seed, n - 1)) + 1 : 0;
}

F static unsigned b(unsigned *seed, unsigned n)
{
    return n ? (spend(seed) ? a(seed, n - 1) : b(seed, n - 1)) + 2 : 0;
}

static unsigned run(unsigned seed)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; i++)
        sum += a(&seed, next(&seed) & MOST);
    return sum;
}

static void *in_thread(void *seed)
{
    return (void *)(size_t)run((unsigned)(size_t)seed);
}

static void run_threads(size_t n)
{
    pthread_t *t = calloc(n, sizeof *t);
    for (size_t i = 0; i < n; i++)
        if (pthread_create(&t[i], NULL, in_thread, (void *)(i + 1)) != 0)
            exit(1);
    for (size_t i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    free(t);
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[2] : "";
    rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    pid_t child = strcmp(how, "fork") == 0 ? fork() : 1;
    unsigned sum = run(child ? 1 : 2);
    if (strcmp(how, "threads") == 0)
        run_threads((size_t)atoi(argv[3]));
    if (child > 1)
        waitpid(child, 0, 0);
    return sum == 1;
}
