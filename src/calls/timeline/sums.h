/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to timeline/: calls of a scan as slices and sums of bins. One thread. */
#ifndef GT_CALLS_TIMELINE_SUMS_H
#define GT_CALLS_TIMELINE_SUMS_H

#include "calls/timeline/bins.h"

enum { GT_SUMS_CANDIDATES = 4, GT_SUMS_WAITING = 8192 };

/* A complete bin, or a slice. */
struct gt_timeline_sums_done {
    uint32_t task; /* of a slice */
    bool is_slice;
    union {
        struct gt_timeline_slice slice;
        struct gt_timeline_bins_sum sum;
    } as;
};

/* A bin of one task and depth that is being summed up. */
struct gt_timeline_sums_bin {
    uint64_t bin, covered;
    uint64_t weight[GT_SUMS_CANDIDATES];
    uint32_t function[GT_SUMS_CANDIDATES];
    uint32_t calls;
    bool used;
};

struct gt_timeline_sums {
    uint64_t first;  /* when bin 0 begins */
    unsigned exp;    /* bins are 2^exp wide */
    GPtrArray *bins; /* GArray of struct gt_timeline_sums_bin by depth, by task */
    GArray *done;    /* struct gt_timeline_sums_done: a task's of one depth in order of time */
    uint64_t deeper; /* calls deeper than GT_TIMELINE_DEPTHS */
};

void gt_timeline_sums_init(struct gt_timeline_sums *s, size_t n_tasks, uint64_t first,
                           unsigned exp);
void gt_timeline_sums_clear(struct gt_timeline_sums *s);
/* A call that has ended: EXIT. */
void gt_timeline_sums_add(struct gt_timeline_sums *s, const struct gt_call *e);
/* Completes all bins. */
void gt_timeline_sums_finish(struct gt_timeline_sums *s);
/* Puts complete sums into levels, and forgets them. */
void gt_timeline_sums_put(struct gt_timeline_sums *s, struct gt_timeline_bins *l);
static inline bool gt_timeline_sums_wait(const struct gt_timeline_sums *s)
{
    return s->done->len < GT_SUMS_WAITING;
}

#endif
