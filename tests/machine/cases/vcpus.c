/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Four vCPUs that call at the same time; threads go on on whichever has nothing to do, under a
 * lock.
 *
 * smp: 4
 * calls: 10000
 */
#define YIELD()      schedule()
#define YIELD_ONE_IN 6
#include "walk.h"

enum { THREADS = 6, TURNS = 250, MOST_TURNS = 800 };

static struct thread threads[THREADS];
static char stacks[THREADS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static const char *const names[] = {"t0", "t1", "t2", "t3", "t4", "t5"};
static unsigned begun, done;
static volatile unsigned moved;

/* Where the thread runs: see vcpu_tasks_test.py. */
#define ON_CPU(n)                                                                                  \
    OWN static void on_cpu##n(void)                                                                \
    {                                                                                              \
        CALLED(on_cpu##n);                                                                         \
    }
ON_CPU(0)
ON_CPU(1)
ON_CPU(2)
ON_CPU(3)

INLINE void tell_cpu(void)
{
    static void (*const on_cpu[])(void) = {on_cpu0, on_cpu1, on_cpu2, on_cpu3};
    on_cpu[k_cpu()]();
}

OWN static void thread_main(word self)
{
    CALLED(thread_main);
    word seed = self, first = k_cpu();

    k_interrupts_off();
    for (unsigned i = 0; i < (moved ? TURNS : MOST_TURNS); i++) {
        walk(self + 2, &seed);
        tell_cpu();
        if (k_cpu() != first)
            moved = 1;
        else if (!moved)
            k_work(50000);
    }
    thread_exit();
}

INLINE void work(void)
{
    while (__atomic_load_n(&k_alive, __ATOMIC_SEQ_CST) > 0) {
        if (k_is_waiting())
            schedule();
        k_work(500); /* few calls while it waits */
    }
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

    k_interrupts_off();
    for (unsigned i = 0; i < THREADS; i++)
        k_thread_make(&threads[i], names[i], stacks[i], thread_main, i);
    for (unsigned cpu = 1; cpu < CPUS; cpu++)
        k_start_cpu(cpu);
    wait_for(&begun);
    work();
    wait_for(&done);
    if (!moved)
        k_panic("no thread moved", 0);
}
