/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of two recordings, and what differs between them. A function of one is that of the
 * other with the same name, in a file of the same name: two builds need not lie in the same folder,
 * nor code at the same address. Functions of both have numbers together.
 */
#ifndef GT_CALLS_PROFILE_MATCH_H
#define GT_CALLS_PROFILE_MATCH_H

#include "calls/profile/functions.h"

#include <glib.h>

enum { GT_MATCH_SIDES = 2 };

struct gt_profile_function_match {
    uint32_t *id[GT_MATCH_SIDES]; /* the number of each function, by its index */
    size_t n[GT_MATCH_SIDES];     /* functions */
    GArray *names;                /* of each number: const struct gt_calls_function * */
};

/* Of the functions that have been met: after passes over both. */
void gt_profile_function_match_make(struct gt_profile_function_match *m,
                                    struct gt_calls *const side[GT_MATCH_SIDES]);
void gt_profile_function_match_clear(struct gt_profile_function_match *m); /* { 0 } is fine */

/* The name of a function's file without its folder, and how much of it says which file it is:
 * of code that is in a recording twice, its place comes behind that. */
const char *gt_profile_function_match_file(const struct gt_calls_function *f, size_t *n);

/* ---- what differs -------------------------------------------------------------------------- */

/* Of a function, in both; times in ns. */
struct gt_profile_change {
    uint64_t calls[GT_MATCH_SIDES], total[GT_MATCH_SIDES], self[GT_MATCH_SIDES];
    uint64_t open[GT_MATCH_SIDES]; /* calls that have not returned */
};

/* Adds the sums of one side's functions to of[number]. A function that the match does not have,
 * since no pass had met it, is left out. */
void gt_profile_changes_add(struct gt_profile_change *of, const struct gt_profile_function_match *m,
                            int which, const struct gt_profile_function_table *f);

/* False: nothing of it differs. */
static inline bool gt_profile_change_is_one(const struct gt_profile_change *c)
{
    return c->calls[0] != c->calls[1] || c->total[0] != c->total[1] || c->self[0] != c->self[1];
}

#endif
