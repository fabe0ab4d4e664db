/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to calls/: calls that --where finds. Whether it does is known when they have returned,
 * what they call is shown before that: so a pass before the one that shows them looks at all calls.
 * A bit for each call of a function that some --where is about, by task, in their order.
 */
#ifndef GT_CALLS_READ_WHERE_H
#define GT_CALLS_READ_WHERE_H

#include "calls/read/verdicts.h"

struct gt_calls_where {
    GPtrArray *tasks; /* struct gt_calls_where_task, by index; NULL: not met */
};

/* Errors of gt_calls_walk. The caller calls gt_calls_where_finish, also after an error. */
int gt_calls_where_find(struct gt_calls_where *w, struct gt_calls *c,
                        const struct gt_calls_window *window, struct gt_calls_verdicts *verdicts,
                        struct gt_error *err);
/* The task's n-th call of such a function. */
bool gt_calls_where_found(const struct gt_calls_where *w, uint32_t task, uint64_t n);
void gt_calls_where_finish(struct gt_calls_where *w); /* { NULL } is fine */

#endif
