/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `crowd THREADS COUNT`: each thread calls tick() so often; all stay until somebody closes standard
 * input. */
#include "guest.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t done, end;

F static void leaf(void)
{
    WORK();
}

F static void tick(void)
{
    leaf();
}

static void *in_thread(void *arg)
{
    for (long i = *(long *)arg; i; i--)
        tick();
    pthread_barrier_wait(&done);
    pthread_barrier_wait(&end);
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 2 ? (unsigned)atoi(argv[1]) : 1;
    long count = argc > 2 ? atol(argv[2]) : 1;
    pthread_t *thread = calloc(n, sizeof *thread);
    pthread_barrier_init(&done, NULL, n + 1);
    pthread_barrier_init(&end, NULL, n + 1);
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&thread[i], NULL, in_thread, &count) != 0)
            return 1;
    pthread_barrier_wait(&done);
    puts("done");
    fflush(stdout);
    getchar();
    pthread_barrier_wait(&end);
    for (unsigned i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    return 6;
}
