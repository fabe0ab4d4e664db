/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that is cancelled inside a system call: by a signal whose handler unwinds the stack.
 * (QEMU 7.2's own x86_64 guests crash there, with or without a plugin.)
 *
 * flags: -pthread -fexceptions
 * arches: aarch64 riscv64
 */
#include "guest.h"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t reached;

F static void leaf(void)
{
    WORK();
}

F static void cleanup(void *arg)
{
    (void)arg;
    leaf();
}

F static void wait_for_ever(void)
{
    leaf();
    sem_post(&reached);
    for (;;)
        pause();
}

F static void *cancelled_waiting(void *arg)
{
    pthread_cleanup_push(cleanup, NULL);
    wait_for_ever();
    pthread_cleanup_pop(0);
    return arg;
}

int main(void)
{
    pthread_t t;
    sem_init(&reached, 0, 0);
    pthread_create(&t, NULL, cancelled_waiting, NULL);
    while (sem_wait(&reached))
        ;
    pthread_cancel(t);
    pthread_join(t, NULL);
    leaf();
    return 0;
}

/* calls:
main
  leaf
--
cancelled_waiting
  wait_for_ever
    leaf
  cleanup
    leaf
 */
