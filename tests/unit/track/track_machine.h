/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest that is a whole machine: no code has symbols, so that functions `a` to `z` have no known
 * entries. Handlers and stack pointers, for tests of the tracker.
 */
#ifndef TESTS_TRACK_MACHINE_H
#define TESTS_TRACK_MACHINE_H

#include "track/machine.h"
#include "track_guest.h"

/* Words that stack pointers are stored in, and stack pointers. */
enum { MAIN = 0x100, T = 0x200, U = 0x300, MAIN_SP = 0x8000, T_SP = 0x9000, U_SP = 0xa000 };

static inline struct guest *machine_create(void)
{
    struct guest *g = guest_create(100, true);
    g->k.machine = true;
    for (int i = 0; i < FUNCS; i++)
        g->fn[i].flags = GT_FUNC_ANON;
    return g;
}

/* a calls b, which goes on. */
static inline struct guest *machine_start(void)
{
    struct guest *g = machine_create();
    call(g, 'a', 0, 'b');
    plain(g, 'b', 0);
    return g;
}

/* A handler begins at the block: the tracker concluded it. */
static inline void enter_at(struct guest *g, struct gt_code *c)
{
    gt_machine_enter(&g->t, c->pc, c->fn, c, g->last_exit, ++g->time);
    g->last_exit = gt_track_last_exit_of_func(c->fn);
}

/* A handler begins at block 0 of the function: the host told. */
static inline void enter(struct guest *g, char name)
{
    struct gt_code *c = block(g, name, 0, GT_EXIT_PLAIN, 0);
    gt_machine_enter(&g->t, c->pc, c->fn, NULL, g->last_exit, ++g->time);
    g->last_exit = gt_track_last_exit_of_func(c->fn);
}

/* Block n of the function ends in an exception return. */
static inline bool leave(struct guest *g, char name, unsigned n)
{
    struct gt_code *c = block(g, name, n, GT_EXIT_EXCEPTION_RETURN, 0);
    arrive(g, c);
    g->last_exit = gt_code_last_exit(c);
    return gt_machine_leave(&g->t, &g->last_exit, ++g->time);
}

static inline void syscall_at(struct guest *g, char name, unsigned n)
{
    run(g, block(g, name, n, GT_EXIT_SYSCALL, 0));
}

/* The stack pointer is loaded. */
static inline void load_sp(struct guest *g, uint64_t old_sp, uint64_t new_sp)
{
    gt_machine_switch(&g->t, old_sp, new_sp, ++g->time);
}

/* Block n of the function calls s, which stores the stack pointer at `own` (0: does not), loads it
 * from `other` (0: from nowhere), and ends in a return. */
static inline void switch_to(struct guest *g, char from, unsigned n, uint64_t own, uint64_t other,
                             uint64_t old_sp, uint64_t new_sp)
{
    struct gt_code *s = block(g, 's', 0, GT_EXIT_RETURN, 0);
    call(g, from, n, 's');
    arrive(g, s);
    if (own)
        gt_track_saved(&g->t, own);
    if (other)
        gt_track_restored(&g->t, other);
    load_sp(g, old_sp, new_sp);
    g->last_exit = gt_code_last_exit(s);
}

#endif
