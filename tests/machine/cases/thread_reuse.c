/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that end at some depth, and whose memory, thread and stack, is a new thread's at once:
 * its calls are none of the dead one's.
 *
 * calls: 1900
 * reuse: yes
 * same: 7.2 10.0 11.1
 */
#include "kernel.h"

enum { SLOTS = 3, GENERATIONS = 12 };

static struct thread threads[SLOTS];
static char stacks[SLOTS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static const char *const names[] = {"a", "b", "c"};

OWN static void last_words(void)
{
    CALLED(last_words);
    thread_exit();
}

/* Ends on its way, or else its caller does. */
OWN static void walk(word depth, word *seed)
{
    CALLED(walk);
    schedule();
    if (k_random(seed) % 60 == 0)
        last_words();
    for (word n = 1 + k_random(seed) % 2; depth > 0 && n > 0; n--)
        walk(depth - 1, seed);
}

OWN static void thread_main(word self)
{
    CALLED(thread_main);
    word seed = self;

    k_interrupts_off();
    walk(5, &seed);
    thread_exit();
}

OWN void run(void)
{
    CALLED(run);
    k_interrupts_off();
    for (unsigned generation = 0; generation < GENERATIONS; generation++) {
        for (unsigned i = 0; i < SLOTS; i++)
            k_thread_make(&threads[i], names[i], stacks[i], thread_main, generation * SLOTS + i);
        schedule();
    }
}
