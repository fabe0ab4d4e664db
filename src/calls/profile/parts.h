/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Self times, and times suspended, of calls that a scan sees in parts: the call began in one
 * stretch of time and ends in another, which may be another thread's. Memory is bounded by the
 * calls that are open where stretches end.
 */
#ifndef GT_CALLS_PROFILE_PARTS_H
#define GT_CALLS_PROFILE_PARTS_H

#include "calls/read/calls.h"

/* A call: that of the task, at the depth, which began then. */
struct gt_profile_part {
    uint64_t begin, end; /* end: `ended` only */
    uint64_t slept;      /* sum of the parts so far */
    int64_t self;        /* the same */
    uint32_t task, depth, function;
    bool used, ended; /* ended: its EXIT was seen */
};

/* { 0 } is empty. */
struct gt_profile_parts {
    struct gt_profile_part *slot; /* by hash */
    size_t slots, n;
};

/* Adds a part: an EXIT or a SPLIT. GT_E_NOMEM. */
int gt_profile_parts_add(struct gt_profile_parts *p, const struct gt_call *e);
/* Adds all of `from`. GT_E_NOMEM. */
int gt_profile_parts_merge(struct gt_profile_parts *p, const struct gt_profile_parts *from);
void gt_profile_parts_each(const struct gt_profile_parts *p,
                           void (*part)(void *self, const struct gt_profile_part *part),
                           void *self);
void gt_profile_parts_clear(struct gt_profile_parts *p);

#endif
