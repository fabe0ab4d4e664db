/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between two recordings: sums of each function in both. */
#ifndef GT_CALLS_PROFILE_CHANGES_H
#define GT_CALLS_PROFILE_CHANGES_H

#include "calls/profile/functions.h"
#include "calls/profile/match.h"

/* Of a function, in both; times in ns. */
struct gt_change {
    uint64_t calls[GT_MATCH_SIDES], total[GT_MATCH_SIDES], self[GT_MATCH_SIDES];
    uint64_t open[GT_MATCH_SIDES]; /* calls that have not returned */
};

/* Adds the sums of one side's functions to of[number]. A function that the match does not have,
 * since no pass had met it, is left out. */
void gt_changes_add(struct gt_change *of, const struct gt_function_match *m, int which,
                    const struct gt_function_table *f);

/* False: nothing of it differs. */
static inline bool gt_change_is_one(const struct gt_change *c)
{
    return c->calls[0] != c->calls[1] || c->total[0] != c->total[1] || c->self[0] != c->self[1];
}

#endif
