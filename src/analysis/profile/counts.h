/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each task of a recording has, counted. */
#ifndef GT_ANALYSIS_PROFILE_COUNTS_H
#define GT_ANALYSIS_PROFILE_COUNTS_H

#include "analysis/calls/calls.h"

struct gt_task_counts {
    uint64_t calls, events;
    uint64_t lost;        /* how often records were lost */
    uint64_t first, last; /* times of its first and last event; UINT64_MAX, 0: it has none */
    uint32_t deepest;     /* the most calls that were open at a time */
};

/* Reads the whole recording; *out has the counts by index of tasks; the caller frees it. Errors of
 * gt_calls_scan. */
int gt_task_counts_make(struct gt_calls *c, struct gt_task_counts **out, struct gt_error *err);

#endif
