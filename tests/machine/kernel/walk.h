/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work of many cases: a recursion that chance decides on. Before a case includes this it may
 * define
 *
 *     LEAF_WORK     how much k_work() a function does that calls nothing
 *     YIELD()       how another thread is let run, after the first call of every YIELD_ONE_IN walks
 */
#ifndef WALK_H
#define WALK_H

#include "kernel.h"

#ifndef LEAF_WORK
#define LEAF_WORK 0
#endif

OWN static word leaf(word n)
{
    CALLED(leaf);
    if (LEAF_WORK)
        k_work(LEAF_WORK);
    return n + 1;
}

OWN static word walk(word depth, word *seed)
{
    CALLED(walk);
    word sum = leaf(depth);

#ifdef YIELD
    if (k_random(seed) % YIELD_ONE_IN == 0)
        YIELD();
#endif
    for (word n = k_random(seed) % 3; depth > 0 && n > 0; n--)
        sum += walk(depth - 1, seed);
    return sum;
}

#endif
