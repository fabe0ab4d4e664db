/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel that copies itself, all its data with it, further up, and goes on there with a new
 * stack, as U-Boot does: a function is called here and returns there. Nobody comes back to what was
 * open.
 *
 * defines: DISTANCE=0x1800000
 * calls: 900
 * roots: second_life
 * same: 7.2 10.0 11.1
 */
#include "walk.h"

static char second_stack[STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
extern char k_end[];

OWN static void walks(word n)
{
    CALLED(walks);
    word seed = n;

    for (unsigned i = 0; i < 40; i++)
        walk(5, &seed);
}

/* The stack's log is the copy's. */
OWN static void second_life(void)
{
    CALLED(second_life);
    walks(2);
    k_finish();
}

INLINE void copy(void)
{
    volatile word *from = (volatile word *)k_image;
    volatile word *to = (volatile word *)(k_image + DISTANCE);

    for (word i = 0; i < (word)(k_end - k_image) / sizeof(word); i++)
        to[i] = from[i];
}

OWN static void first_life(void)
{
    CALLED(first_life);
    walks(1);
    k_place(DISTANCE);
    k_log_new("second", second_stack);
    *k_log_at((word)second_stack) =
        (struct log *)((char *)*k_log_at((word)second_stack) + DISTANCE);
    k_enter(start_over);
    k_enter(go_there);
    k_leave();
    copy();
    start_over(DISTANCE, second_life, second_stack + STACK_SIZE);
}

OWN void run(void)
{
    CALLED(run);
    first_life();
}
