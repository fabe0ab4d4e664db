/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timer interrupts a recursion anywhere; its handler calls functions, some of those that it
 * interrupted, and every other time lets itself be interrupted.
 *
 * calls: 200
 * handlers: 90
 */
#define LEAF_WORK 20
#include "walk.h"

enum { TICKS = 60, WALKS = 40, LOST = 10000000 };

static volatile unsigned ticks, nested;

OWN static void wait_for_nested(void)
{
    CALLED(wait_for_nested);
    unsigned before = nested;

    k_tick_after(1);
    k_interrupts_on();
    for (unsigned i = 0; nested == before && i < LOST; i++)
        k_work(10);
    k_interrupts_off();
    leaf(1);
}

OWN static void inner_tick(void)
{
    CALLED(inner_tick);
    nested++;
    leaf(2);
}

OWN static void outer_tick(void)
{
    CALLED(outer_tick);
    word seed = ticks;

    walk(2, &seed);
    if (ticks++ % 2)
        wait_for_nested();
}

OWN void async_tick(struct frame *f)
{
    (void)f;
    CALLED(async_tick);
    if (k_log()->level == 2)
        inner_tick();
    else
        outer_tick();
}

OWN void run(void)
{
    CALLED(run);
    word seed = 7;

    k_first_tick(&ticks);
    k_interrupts_on();
    while (ticks < TICKS) {
        unsigned before = ticks;
        k_tick_after(1 + k_random(&seed) % 4);
        for (unsigned i = 0; ticks == before; i++)
            if (i < WALKS)
                walk(4, &seed);
    }
    k_interrupts_off();
}
