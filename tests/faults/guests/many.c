/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `many together N`: N threads alive at once. `many sequence N`: one after the other. */
#include "guest.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t barrier;
static int together;
static long calls;

F static void leaf(void)
{
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

F static void few(void)
{
    leaf();
    leaf();
}

static void *in_thread(void *arg)
{
    few();
    if (together)
        pthread_barrier_wait(&barrier);
    few();
    return arg;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) : 1;
    together = strcmp(argv[1], "together") == 0;
    pthread_t *t = calloc((size_t)n, sizeof *t);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    pthread_barrier_init(&barrier, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) {
        if (pthread_create(&t[i], &attr, in_thread, NULL) != 0)
            return 1;
        if (!together)
            pthread_join(t[i], NULL);
    }
    for (int i = 0; i < n && together; i++)
        pthread_join(t[i], NULL);
    printf("%ld calls\n", calls);
    return 4;
}
