/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of calls as profilers take it: of each task its stacks, and samples that say which
 * stack ran, and for how long.
 *
 * Of a window with a begin or an end, samples are in order of time, one each time that the stack
 * changes: nothing is between them. Of a whole recording they are sums, one a stack, in the order
 * of the stacks' first calls.
 */
#ifndef GT_CALLS_EXPORT_SAMPLES_H
#define GT_CALLS_EXPORT_SAMPLES_H

#include "calls/export/sums.h"

#include <glib.h>

/* Of all tasks of a window: more are an error. */
enum { GT_SAMPLES_MOST = 10 * 1000 * 1000 };

/* A call on top of another stack. */
struct gt_export_sample_stack {
    uint32_t function; /* index of calls.h */
    uint32_t parent;   /* index of a stack of the task, before this one; GT_TREE_NONE: none */
};

struct gt_export_sample {
    uint64_t time;   /* in order of time: as the recording has it; of sums: the sum before it */
    uint64_t weight; /* how long this stack ran without a call of its own */
    uint32_t stack;  /* index; GT_TREE_NONE: the task is suspended, or has no call; weight is 0 */
};

/* An event, or lost records. */
struct gt_export_sample_instant {
    uint64_t time;
    char *text;
};

struct gt_export_sample_task {
    GArray *stacks;   /* struct gt_export_sample_stack */
    GArray *samples;  /* struct gt_export_sample */
    GArray *instants; /* struct gt_export_sample_instant; in order of time only */
};

struct gt_export_samples {
    struct gt_export_sample_task *task; /* by the index of calls.h; members NULL: it did not run */
    size_t n;                           /* tasks */
    bool in_time;
    GArray
        *console; /* struct gt_export_sample_instant: the machine's lines; in order of time only */
};

/* Errors of gt_export_sums_make_paths; GT_E_RANGE: more than GT_SAMPLES_MOST samples. After an
 * error *out is empty. `out->failed` ends the reading. */
int gt_export_samples_make(struct gt_calls *c, const struct gt_export_sums_options *o,
                           const struct gt_output *output, struct gt_export_samples *out,
                           struct gt_error *err);
void gt_export_samples_clear(struct gt_export_samples *s);

#endif
