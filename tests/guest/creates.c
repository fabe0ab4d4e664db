/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that are created one after another at once, and end when all have been. */
#include "guest.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 40 };

static int ends[2];

F static void work(void)
{
    WORK();
}

static void *thread(void *arg)
{
    char byte;
    work();
    return read(ends[0], &byte, 1) == 0 ? arg : NULL;
}

F static void create(pthread_t *out)
{
    pthread_create(out, NULL, thread, NULL);
}

int main(void)
{
    pthread_t threads[THREADS];
    if (pipe(ends) < 0)
        return 1;
    for (int i = 0; i < THREADS; i++)
        create(&threads[i]);
    close(ends[1]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}
