/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thousand threads that all wait for each other inside of calls.
 *
 * calls: 20000
 * defines: LOGS=1040 EVENTS=512 THREAD_COUNT=1040
 * options: --max-tasks 2000
 * plugin: max-tasks=2000
 * readers: riscv64
 * same: 7.2 10.0 11.1
 */
#include "kernel.h"

enum { THREADS = 1000, TURNS = 6 };

static struct thread threads[THREADS];
static char stacks[THREADS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static char names[THREADS][5];

OWN static word leaf(word n)
{
    CALLED(leaf);
    return n + 1;
}

OWN static word wait_in(word depth)
{
    CALLED(wait_in);
    if (depth > 0)
        return wait_in(depth - 1) + leaf(depth);
    schedule();
    return 0;
}

OWN static void thread_main(word self)
{
    CALLED(thread_main);
    k_interrupts_off();
    for (unsigned i = 0; i < TURNS; i++)
        wait_in((self + i) % 5);
    thread_exit();
}

static void name(unsigned i)
{
    char *to = names[i];

    to[0] = 't';
    for (int at = 3; at > 0; at--, i /= 10)
        to[at] = (char)('0' + i % 10);
}

OWN void run(void)
{
    CALLED(run);
    k_interrupts_off();
    for (unsigned i = 0; i < THREADS; i++) {
        name(i);
        k_thread_make(&threads[i], names[i], stacks[i], thread_main, i);
    }
    schedule();
}
