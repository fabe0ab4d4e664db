/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording and each of its tasks have, counted. */
#ifndef GT_CALLS_PROFILE_COUNTS_H
#define GT_CALLS_PROFILE_COUNTS_H

#include "calls/read/calls.h"

struct gt_profile_task_counts {
    uint64_t calls, events;
    uint64_t lost;        /* how often records were lost */
    uint64_t first, last; /* times of its first and last event; UINT64_MAX, 0: it has none */
    uint32_t deepest;     /* the most calls that were open at a time */
};

struct gt_profile_counts {
    struct gt_profile_task_counts *task; /* by index */
    size_t functions;                    /* how many were called */
};

/* Reads the whole recording. Errors of gt_calls_scan. After an error *out is empty. */
int gt_profile_counts_make(struct gt_calls *c, struct gt_profile_counts *out, struct gt_error *err);
void gt_profile_counts_clear(struct gt_profile_counts *k); /* { 0 } is fine */

#endif
