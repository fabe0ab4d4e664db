/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that end while the program does: each is a task with its name, which only the first
 * thread has given it, whether its own end or the program's is first. How far they come is chance.
 *
 * flags: -pthread
 * alone: yes
 * tasks: prog outside outside outside outside outside outside outside outside outside
 * tasks: outside outside outside
 */
#include "guest.h"

#include <pthread.h>

enum { THREADS = 12 };

static pthread_barrier_t named, ending;

F static void *thread(void *arg)
{
    pthread_barrier_wait(&named);
    pthread_barrier_wait(&ending);
    return arg;
}

int main(void)
{
    pthread_t t[THREADS];
    pthread_barrier_init(&named, NULL, THREADS + 1);
    pthread_barrier_init(&ending, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&t[i], NULL, thread, NULL);
        pthread_setname_np(t[i], "outside");
    }
    pthread_barrier_wait(&named);
    pthread_barrier_wait(&ending);
    return 0;
}
