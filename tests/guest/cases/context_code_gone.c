/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads have just loaded a context when the translated code goes, as recording ends: what they
 * run next calls QEMU's functions that access memory. QEMU 7.2 goes on with the memory callbacks of
 * an instruction that ended its block, and these are free then; riscv64 has one in swapcontext.
 *
 * flags: -pthread
 * plugin: trigger=stop_recording@trace-off
 * alone: yes
 */
#include "guest.h"

#include <pthread.h>
#include <stdio.h>
#include <ucontext.h>

enum { THREADS = 6, STACK = 65536 };

static ucontext_t homes[THREADS], others[THREADS];
static char stacks[THREADS][STACK] __attribute__((aligned(16)));
static volatile int arrived[THREADS], stopped;
static int counted;

/* No system call comes before the additions: QEMU forgets the callbacks there. */
F static void other(int i)
{
    arrived[i] = 1;
    while (!stopped)
        ;
    for (int n = 0; n < 100; n++)
        __atomic_fetch_add(&counted, 1, __ATOMIC_SEQ_CST);
    swapcontext(&others[i], &homes[i]);
}

F static void *run(void *arg)
{
    int i = (int)(long)arg;
    swapcontext(&homes[i], &others[i]);
    return arg;
}

F static void stop_recording(void)
{
    WORK();
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        getcontext(&others[i]);
        others[i].uc_stack.ss_sp = stacks[i];
        others[i].uc_stack.ss_size = STACK;
        makecontext(&others[i], (void (*)(void))other, 1, i);
        if (pthread_create(&threads[i], NULL, run, (void *)(long)i))
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        while (!arrived[i])
            ;
    stop_recording();
    stopped = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", counted);
    return 0;
}
