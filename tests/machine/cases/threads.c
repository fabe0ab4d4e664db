/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Eight threads that switch to each other from all depths of a recursion, as Linux switches.
 *
 * calls: 20000
 * same: 7.2 10.0 11.1
 */
#define YIELD()      schedule()
#define YIELD_ONE_IN 3
#include "walk.h"

enum { THREADS = 8, TURNS = 150 };

static struct thread threads[THREADS];
static char stacks[THREADS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static const char *const names[] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"};

OWN static void thread_main(word self)
{
    CALLED(thread_main);
    word seed = self;

    k_interrupts_off();
    for (unsigned i = 0; i < TURNS; i++)
        walk(self + 2, &seed);
    thread_exit();
}

OWN void run(void)
{
    CALLED(run);
    k_interrupts_off();
    for (unsigned i = 0; i < THREADS; i++)
        k_thread_make(&threads[i], names[i], stacks[i], thread_main, i);
    schedule();
}
