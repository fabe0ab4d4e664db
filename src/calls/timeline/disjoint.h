/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to timeline/: whether spans of time may all be of one vCPU: no bin of time has more of
 * them than its width. */
#ifndef GT_CALLS_TIMELINE_DISJOINT_H
#define GT_CALLS_TIMELINE_DISJOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of spans from `first` to `last`. */
struct gt_timeline_disjoint {
    uint64_t first;
    unsigned exp; /* bins are 2^exp wide */
    size_t n;
    uint64_t *part; /* by bin: what spans that end or begin there have of it */
    int64_t *whole; /* by bin: how many more spans have all of it than of the one before */
};

void gt_timeline_disjoint_init(struct gt_timeline_disjoint *d, uint64_t first, uint64_t last,
                               unsigned exp);
void gt_timeline_disjoint_clear(struct gt_timeline_disjoint *d);
void gt_timeline_disjoint_add(struct gt_timeline_disjoint *d, uint64_t begin, uint64_t end);
/* Of the same bins. */
void gt_timeline_disjoint_merge(struct gt_timeline_disjoint *to,
                                const struct gt_timeline_disjoint *from);
bool gt_timeline_disjoint_holds(const struct gt_timeline_disjoint *d);

#endif
