/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to timeline/: levels of bins and slices. Not thread-safe. */
#ifndef GT_CALLS_TIMELINE_BINS_H
#define GT_CALLS_TIMELINE_BINS_H

#include "calls/read/pairs.h"
#include "calls/timeline/timeline.h"

#include <glib.h>

enum { GT_BINS_BLOCK = 16 }; /* bins that are kept together */

/* Two candidates for the function that covers most: an amount added to neither takes from the
 * smaller one, so a function that covers more than the others together stays. */
struct gt_timeline_bins_cell {
    uint32_t function[2];
    float weight[2];
    float covered;
    uint32_t calls;
};

/* Where a block of bins is. */
struct gt_timeline_bins_place {
    uint64_t key; /* block and depth */
    uint32_t task;
};

/* Cells by task, depth and block of bins. */
struct gt_timeline_bins_level {
    struct gt_calls_pairs find; /* number of the block */
    GPtrArray *blocks;          /* struct gt_timeline_bins_cell[GT_BINS_BLOCK] */
    GArray *places;             /* struct gt_timeline_bins_place of each */
};

/* Slices that last at least as long as a bin of their level, and less than one of the next. */
struct gt_timeline_bins_slices {
    GArray *slice; /* struct gt_timeline_slice */
    bool sorted;   /* by begin */
};

struct gt_timeline_bins {
    uint64_t first; /* when bin 0 begins */
    unsigned exp;   /* of level 0 */
    unsigned n;     /* levels */
    unsigned finest;
    size_t n_tasks;
    size_t cells, most; /* cells that are kept, and may be */
    bool full;          /* only the coarsest level is left, and too small */
    struct gt_timeline_bins_level level[GT_TIMELINE_LEVELS];
    struct gt_timeline_bins_slices *slices[GT_TIMELINE_LEVELS]; /* by task */
};

/* Calls of one task and depth in one bin of level 0. */
struct gt_timeline_bins_sum {
    uint64_t bin;
    uint64_t covered, weight[2];
    uint32_t function[2];
    uint32_t task, calls;
    uint16_t depth;
};

static inline unsigned gt_timeline_bins_exp(const struct gt_timeline_bins *l, unsigned level)
{
    return l->exp + level * GT_TIMELINE_STEP;
}

/* False: no memory. */
bool gt_timeline_bins_init(struct gt_timeline_bins *l, size_t n_tasks);
void gt_timeline_bins_clear(struct gt_timeline_bins *l);
void gt_timeline_bins_add_sum(struct gt_timeline_bins *l, const struct gt_timeline_bins_sum *s);
void gt_timeline_bins_add_slice(struct gt_timeline_bins *l, uint32_t task,
                                const struct gt_timeline_slice *s);

/* What a level has of a task in these bins; slices that last at least `least`. */
void gt_timeline_bins_slices(struct gt_timeline_bins *l, uint32_t task, unsigned level,
                             uint64_t from, uint64_t to, uint32_t depths,
                             const struct gt_timeline_sink *sink);
void gt_timeline_bins_cells(const struct gt_timeline_bins *l, uint32_t task, unsigned level,
                            uint64_t bin, uint64_t bins, uint32_t depths,
                            const struct gt_timeline_sink *sink);

#endif
