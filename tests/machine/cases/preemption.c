/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timer's handler switches threads: each is interrupted anywhere, and goes on from there when
 * it is switched to, out of the handler.
 *
 * calls: 200
 * handlers: 60
 */
#define LEAF_WORK 20
#include "walk.h"

enum { THREADS = 4, TICKS = 60, WALKS = 40 };

static struct thread threads[THREADS];
static char stacks[THREADS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static const char *const names[] = {"t0", "t1", "t2", "t3"};
static volatile unsigned ticks;

OWN void async_tick(struct frame *f)
{
    (void)f;
    CALLED(async_tick);
    ticks++;
    if (ticks > 1 && ticks < TICKS)
        k_tick_after(20 + ticks % 7);
    schedule();
}

OWN static void thread_main(word self)
{
    CALLED(thread_main);
    word seed = self;

    while (ticks < TICKS) {
        unsigned before = ticks;
        for (unsigned i = 0; ticks == before && before < TICKS; i++)
            if (i < WALKS)
                walk(4, &seed);
    }
    thread_exit();
}

OWN void run(void)
{
    CALLED(run);
    k_first_tick(&ticks);
    for (unsigned i = 0; i < THREADS; i++)
        k_thread_make(&threads[i], names[i], stacks[i], thread_main, i);
    k_tick_after(20);
    schedule();
}
