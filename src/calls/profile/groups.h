/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of each task, or of the functions of each module, summed up. The total of a module is
 * the time in calls of its functions that none of its own functions made, however far out.
 */
#ifndef GT_CALLS_PROFILE_GROUPS_H
#define GT_CALLS_PROFILE_GROUPS_H

#include "calls/read/calls.h"

struct gt_profile_group_row {
    uint32_t index;                     /* of the task; of one function of the module */
    uint32_t functions;                 /* how many different ones were called */
    uint64_t calls, open, total, slept; /* as struct gt_profile_tree_node has them */
    int64_t self;
};

struct gt_profile_groups {
    struct gt_profile_group_row *row; /* tasks in their order, modules by path */
    size_t n;
};

/* Read the calls of a window (NULL: all). Errors of gt_profile_tree_make. After an error *out is
 * empty. */
int gt_profile_groups_of_tasks(struct gt_calls *c, const struct gt_calls_window *w,
                               struct gt_profile_groups *out, struct gt_error *err);
int gt_profile_groups_of_modules(struct gt_calls *c, const struct gt_calls_window *w,
                                 struct gt_profile_groups *out, struct gt_error *err);
void gt_profile_groups_clear(struct gt_profile_groups *g); /* { 0 } is fine */

#endif
