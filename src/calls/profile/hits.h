/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of chosen functions, as a search lists them: how many there are, the first ones in an
 * order, when they begin and how long they take. One scan on all processors.
 */
#ifndef GT_CALLS_PROFILE_HITS_H
#define GT_CALLS_PROFILE_HITS_H

#include "calls/read/calls.h"

enum gt_profile_hits_order {
    GT_HITS_BY_TIME,
    GT_HITS_BY_DURATION,
    GT_HITS_BY_TASK,
    GT_HITS_BY_FUNCTION,
    GT_HITS_ORDERS
};

enum {
    GT_HITS_ROWS = 2000, /* at most */
    GT_HITS_MARKS = 512, /* parts of the recording's time */
    GT_HITS_FINE = 4,    /* parts of an octave of durations; below it each has its own */
    GT_HITS_DURATIONS = 64 * GT_HITS_FINE,
};

struct gt_profile_hit {
    uint64_t begin, duration; /* from call to return */
    uint32_t task, depth, function;
    unsigned flags; /* GT_CALL_OPEN, GT_CALL_UNFINISHED */
};

struct gt_profile_hits_options {
    const struct gt_calls_window *window;
    const bool *wanted; /* by index of n functions */
    size_t n;
    uint64_t least, most; /* durations of the calls that are listed */
    enum gt_profile_hits_order by;
    bool down; /* the greatest first */
    /* Only calls that come behind it in the order; NULL: from the first one on. */
    const struct gt_profile_hit *after;
    unsigned threads;
};

struct gt_profile_hits {
    struct gt_profile_hit *row; /* in the order; of equal ones the earlier first */
    size_t n;
    uint64_t calls;                        /* of the durations, with those before `after` */
    uint64_t all;                          /* of any duration */
    uint64_t marks[GT_HITS_MARKS];         /* how many of `calls` begin in each part of the time */
    uint64_t durations[GT_HITS_DURATIONS]; /* how many of `all` */
};

/* Errors of gt_calls_scan. The caller clears it, also after an error. */
int gt_profile_hits_make(struct gt_calls *c, const struct gt_profile_hits_options *o,
                         struct gt_profile_hits *out, struct gt_error *err);
void gt_profile_hits_clear(struct gt_profile_hits *h); /* { 0 } is fine */

/* The shortest duration of a part. */
static inline uint64_t gt_profile_hits_least(unsigned part)
{
    return part < GT_HITS_FINE
               ? part
               : (uint64_t)(GT_HITS_FINE + part % GT_HITS_FINE) << (part / GT_HITS_FINE - 1);
}

#endif
