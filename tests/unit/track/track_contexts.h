/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests that save contexts and go on with them: for tests of the tracker. */
#ifndef TESTS_TRACK_CONTEXTS_H
#define TESTS_TRACK_CONTEXTS_H

#include "track_guest.h"

/* Function s saves its context at the addresses, and returns to the block that called it. */
static inline void save(struct guest *g, uint64_t slot)
{
    arrive(g, block(g, 's', 0, GT_EXIT_RETURN, 0));
    gt_track_saved(&g->t, slot);
    gt_track_saved(&g->t, slot + 8);
    ret(g, 's', 0);
}

/* Function l loads a context, and the stack pointer. */
static inline void load(struct guest *g, uint64_t slot)
{
    arrive(g, block(g, 'l', 0, GT_EXIT_PLAIN, 0));
    gt_track_restored(&g->t, slot + 8);
    gt_track_restored(&g->t, slot);
    gt_track_switched(&g->t, 0);
    g->last_exit = gt_track_last_exit_of_func(func(g, 'l'));
}

/* a calls b, b calls s to save and then itself, so often. */
static inline struct guest *nested_saves(int n)
{
    struct guest *g = guest_create(100, true);
    call(g, 'a', 0, 'b');
    for (int i = 0; i < n; i++) {
        call(g, 'b', 0, 's');
        save(g, 0x100000 + 0x100 * (uint64_t)i);
        call(g, 'b', 1, 'b');
    }
    plain(g, 'b', 0);
    call(g, 'b', 4, 'l');
    return g;
}

/* The main function swaps to a new coroutine that begins at c's entry. */
static inline void begin(struct guest *g, unsigned n)
{
    call(g, 'a', n, 's');
    arrive(g, block(g, 's', 0, GT_EXIT_RETURN, 0));
    gt_track_saved(&g->t, 0x100000);
    gt_track_restored(&g->t, 0x300000);
    gt_track_switched(&g->t, 0);
    ret(g, 's', 0);
    plain(g, 'c', 0);
}

/* The running coroutine, in c, swaps to whom the slot says; block n is where it goes on. */
static inline void swap(struct guest *g, char from, unsigned n, uint64_t own, uint64_t slot)
{
    call(g, from, n, 's');
    arrive(g, block(g, 's', 0, GT_EXIT_RETURN, 0));
    if (own)
        gt_track_saved(&g->t, own);
    gt_track_restored(&g->t, slot);
    gt_track_switched(&g->t, 0);
    ret(g, 's', 0);
}

/* Function x loads a stack pointer that nothing saved, and returns to block n of the function. */
static inline void leave(struct guest *g, char from, char to, unsigned n)
{
    arrive(g, block(g, from, 0, GT_EXIT_RETURN, 0));
    gt_track_switched(&g->t, 0);
    ret(g, from, 0);
    plain(g, to, n);
}

#endif
