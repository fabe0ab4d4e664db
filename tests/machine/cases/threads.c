/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Eight threads that switch to each other from all depths of a recursion, as Linux switches.
 *
 * calls: 9000
 * tasks: 9
 */
#include "kernel.h"

enum { THREADS = 8, TURNS = 150 };

static struct thread threads[THREADS + 1];
static char stacks[THREADS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static const char *const names[] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"};
static word dice = 1;

/* Not in order: the next one alive from a place that is thrown. */
OWN static void schedule(void)
{
    struct thread *from = k_current[0];
    unsigned i = k_random(&dice) % THREADS;

    CALLED(schedule);
    for (unsigned tries = 0; tries < THREADS && !threads[i].is_alive; tries++)
        i = (i + 1) % THREADS;
    if (!threads[i].is_alive)
        i = THREADS;
    if (&threads[i] == from)
        return;
    k_current[0] = &threads[i];
    switch_to(from, &threads[i]);
}

OWN static word leaf(word n)
{
    CALLED(leaf);
    return n + 1;
}

OWN static word walk(word depth, word *seed)
{
    CALLED(walk);
    word sum = leaf(depth);

    if (k_random(seed) % 3 == 0)
        schedule();
    for (word n = k_random(seed) % 3; depth > 0 && n > 0; n--)
        sum += walk(depth - 1, seed);
    return sum;
}

OWN static void thread_main(word self)
{
    word seed = self;

    CALLED(thread_main);
    for (unsigned i = 0; i < TURNS; i++)
        walk(self + 2, &seed);
    k_current[0]->is_alive = 0;
    schedule();
}

OWN void run(void)
{
    CALLED(run);
    for (unsigned i = 0; i < THREADS; i++)
        k_thread_make(&threads[i], names[i], stacks[i], thread_main, i);
    threads[THREADS].log = k_current[0]->log;
    k_current[0] = &threads[THREADS];
    schedule();
}
