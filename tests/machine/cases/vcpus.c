/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Four vCPUs that call at the same time; threads go on on whichever has nothing to do, under a
 * lock.
 *
 * smp: 4
 * calls: 10000
 */
#include "kernel.h"

enum { THREADS = 6, TURNS = 250 };

static struct thread threads[THREADS];
static char stacks[THREADS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static const char *const names[] = {"t0", "t1", "t2", "t3", "t4", "t5"};
static unsigned begun, done;
static volatile unsigned seen[THREADS];

OWN static word leaf(word n)
{
    CALLED(leaf);
    return n + 1;
}

OWN static word walk(word depth, word *seed)
{
    CALLED(walk);
    word sum = leaf(depth);

    if (k_random(seed) % 6 == 0)
        schedule();
    for (word n = k_random(seed) % 3; depth > 0 && n > 0; n--)
        sum += walk(depth - 1, seed);
    return sum;
}

OWN static void thread_main(word self)
{
    CALLED(thread_main);
    word seed = self;

    k_interrupts_off();
    for (unsigned i = 0; i < TURNS; i++) {
        walk(self + 2, &seed);
        seen[self] |= 1u << k_cpu();
    }
    thread_exit();
}

INLINE void work(void)
{
    while (__atomic_load_n(&k_alive, __ATOMIC_SEQ_CST) > 0)
        if (k_is_waiting())
            schedule();
}

/* All vCPUs but the first have been there. */
INLINE void wait_for(unsigned *place)
{
    while (__atomic_load_n(place, __ATOMIC_SEQ_CST) < CPUS - 1)
        ;
}

OWN void run_other(word cpu)
{
    CALLED(run_other);
    word seed = cpu;

    k_interrupts_off();
    for (unsigned i = 0; i < TURNS; i++)
        leaf(seed);
    __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST);
    wait_for(&begun);
    work();
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
    for (;;)
        k_wait();
}

OWN void run(void)
{
    CALLED(run);
    unsigned moved = 0;

    k_interrupts_off();
    for (unsigned i = 0; i < THREADS; i++)
        k_thread_make(&threads[i], names[i], stacks[i], thread_main, i);
    for (unsigned cpu = 1; cpu < CPUS; cpu++)
        k_start_cpu(cpu);
    wait_for(&begun);
    work();
    wait_for(&done);
    for (unsigned i = 0; i < THREADS; i++)
        moved += (seen[i] & (seen[i] - 1)) != 0;
    if (moved == 0)
        k_panic("no thread moved", 0);
}
