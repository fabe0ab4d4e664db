/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to calls/: a pass over what filters leave. It walks the whole recording, on one thread:
 * whether a call is left may depend on what came long before, or comes long after. */
#ifndef GT_CALLS_READ_FILTERED_H
#define GT_CALLS_READ_FILTERED_H

#include "calls/read/calls.h"

/* As gt_calls_walk; w->filter is not NULL. Memory is bounded by tasks, depth and
 * the events that are left while a call is held back. */
int gt_filtered_walk(struct gt_calls *c, const struct gt_calls_window *w,
                     int (*call)(void *self, const struct gt_call *e), void *self,
                     struct gt_error *err);

#endif
