/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads: a task each, with their names; one ends by pthread_exit deep in its stack, one is
 * cancelled while it computes, one is detached.
 *
 * flags: -pthread -fexceptions
 * again: clock=host
 * tasks: prog plain plain plain deep prog outside
 */
#include "guest.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static volatile pthread_t named;
static sem_t reached, detached_done;

F static void leaf(void)
{
    WORK();
}

F static void down(int n)
{
    if (n == 0)
        pthread_exit(NULL);
    down(n - 1);
    WORK();
}

F static void *ending_deep(void *arg)
{
    pthread_setname_np(pthread_self(), "deep");
    leaf();
    down(3);
    return arg;
}

F static void *plain(void *arg)
{
    prctl(PR_SET_NAME, "plain");
    pthread_barrier_wait(&barrier);
    leaf();
    return arg;
}

F static void compute_for_ever(void)
{
    leaf();
    sem_post(&reached);
    for (;;)
        pthread_testcancel();
}

F static void *cancelled_computing(void *arg)
{
    compute_for_ever();
    return arg;
}

/* Named by another thread: no system call of its own says so. */
F static void *detached(void *arg)
{
    while (!pthread_equal(named, pthread_self()))
        ;
    leaf();
    sem_post(&detached_done);
    return arg;
}

F static void run_cancelled(void *(*fn)(void *))
{
    pthread_t t;
    pthread_create(&t, NULL, fn, NULL);
    while (sem_wait(&reached))
        ;
    pthread_cancel(t);
    pthread_join(t, NULL);
}

int main(void)
{
    pthread_t t[3];
    sem_init(&reached, 0, 0);
    sem_init(&detached_done, 0, 0);
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, plain, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    pthread_create(&t[0], NULL, ending_deep, NULL);
    pthread_join(t[0], NULL);
    run_cancelled(cancelled_computing);
    pthread_create(&t[0], NULL, detached, NULL);
    pthread_setname_np(t[0], "outside");
    named = t[0];
    pthread_detach(t[0]);
    while (sem_wait(&detached_done))
        ;
    leaf();
    return 0;
}

/* calls:
main
  run_cancelled
  leaf
--
plain
  leaf
x3
--
ending_deep
  leaf
  down
    down
      down
        down
--
cancelled_computing
  compute_for_ever
    leaf
--
detached
  leaf
 */
