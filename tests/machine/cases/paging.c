/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel that turns paging on and goes on at high addresses, with its stack there too; from there
 * it calls what is still at low addresses, and that calls back.
 *
 * calls: 500
 * roots: high_main
 * same: 10.0 11.1
 */
#include "walk.h"

enum { TURNS = 20 };

static char high_stack[STACK_SIZE] __attribute__((aligned(STACK_SIZE)));

OWN static void walks(word n)
{
    CALLED(walks);
    word seed = n;

    for (unsigned i = 0; i < 20; i++)
        walk(5, &seed);
}

OWN static void high_leaf(word n)
{
    CALLED(high_leaf);
    leaf(n);
}

OWN static void low_main(void (*call_back)(word), word n)
{
    CALLED(low_main);
    leaf(n);
    call_back(n);
    leaf(n);
}

OWN static void high_main(void)
{
    CALLED(high_main);
    void (*volatile low)(void (*)(word), word);
    void (*volatile high)(word);

    low = (void (*)(void (*)(word), word))((word)low_main & ~HIGH);
    high = (void (*)(word))((word)high_leaf | HIGH);
    for (unsigned i = 0; i < TURNS; i++)
        low(high, i);
    walks(2);
    k_finish();
}

OWN static void low_life(void)
{
    CALLED(low_life);
    walks(1);
    k_paging_on();
    k_place(HIGH);
    k_log_new("high", high_stack);
    k_enter(start_over);
    k_enter(go_there);
    k_leave();
    start_over(HIGH, high_main, high_stack + STACK_SIZE);
}

OWN void run(void)
{
    CALLED(run);
    low_life();
}
