/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to timeline/: levels of cells and slices. Not thread-safe.
 *
 * A level keeps a list a task: cells of 20 bytes, in the order in which they came,
 * which is nearly that of time. It is sorted, and cells of one bin and depth are made one, when
 * somebody looks. A cell that still grows is open; when another bin of its task and depth comes it
 * is put into the list, and added to the next level.
 */
#ifndef GT_CALLS_TIMELINE_BINS_H
#define GT_CALLS_TIMELINE_BINS_H

#include "calls/timeline/timeline.h"

#include <glib.h>

/* Two candidates for the function that covers most: an amount added to neither takes from the
 * smaller one, so a function that covers more than the others together stays. */
struct gt_timeline_bins_open {
    uint64_t bin;
    uint32_t function[2];
    float weight[2];
    float covered;
    uint32_t calls;
    bool used;
};

struct gt_timeline_bins_cell {
    uint32_t high, low; /* of a key: bin and depth */
    uint32_t function;
    uint32_t calls;
    float covered;
};

/* Of a task at a level. Slices last at least as long as a bin of it, and less than one of the next.
 */
struct gt_timeline_bins_list {
    GArray *cell;  /* struct gt_timeline_bins_cell; NULL: there are no cells */
    GArray *slice; /* struct gt_timeline_slice; NULL: there are no slices */
    bool cells_sorted, slices_sorted;
};

struct gt_timeline_bins {
    uint64_t first;     /* when bin 0 begins */
    uint64_t bin, bins; /* of level 0: the first one that is kept, and how many are */
    unsigned exp;       /* of level 0 */
    unsigned n;         /* levels */
    unsigned finest;
    size_t n_tasks;
    size_t cells, most; /* cells and slices that are kept, and may be */
    bool full;          /* only the coarsest level is left, and too small */
    struct gt_timeline_bins_list *list[GT_TIMELINE_LEVELS]; /* by task */
    GPtrArray *open; /* by task a GArray, by depth a cell for each level; NULL: none is open */
    size_t n_open;   /* depths of all tasks in it */
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

/* What a level has of a task in these bins. */
void gt_timeline_bins_slices(struct gt_timeline_bins *l, uint32_t task, unsigned level,
                             uint64_t from, uint64_t to, uint32_t depths,
                             const struct gt_timeline_sink *sink);
void gt_timeline_bins_cells(struct gt_timeline_bins *l, uint32_t task, unsigned level, uint64_t bin,
                            uint64_t bins, uint32_t depths, const struct gt_timeline_sink *sink);

#endif
