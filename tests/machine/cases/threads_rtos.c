/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that switch as small systems do: each trap keeps what it interrupted on the stack, the
 * stack pointer in the thread's memory, and leaves with the stack pointer of the thread that is
 * next.
 *
 * defines: RTOS
 * calls: 15000
 * same: 7.2 10.0 11.1
 */
#include "kernel.h"

enum { THREADS = 8, TURNS = 100 };

static struct thread threads[THREADS];
static char stacks[THREADS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static const char *const names[] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"};

OWN static void pick(void)
{
    CALLED(pick);
    k_switch_current();
    k_switched_current();
}

OWN void system_call(struct frame *f)
{
    (void)f;
    CALLED(system_call);
    pick();
}

OWN static void yield(void)
{
    CALLED(yield);
    k_trap_self();
}

#define YIELD()      yield()
#define YIELD_ONE_IN 3
#include "walk.h"

OWN static void thread_main(word self)
{
    CALLED(thread_main);
    word seed = self;

    for (unsigned i = 0; i < TURNS; i++)
        walk(self + 2, &seed);
    k_interrupts_off();
    k_current[0]->is_alive = 0;
    yield();
}

OWN void run(void)
{
    CALLED(run);
    for (unsigned i = 0; i < THREADS; i++)
        k_thread_make_rtos(&threads[i], names[i], stacks[i], thread_main, i);
    yield();
}
