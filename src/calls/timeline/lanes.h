/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to timeline/: lanes of vCPUs, as a scan of all tasks has them. A lane has runs: the task
 * is resumed there, has calls open, and is not suspended; and of each run the outermost handlers.
 *
 * On which vCPU a run is, the recording says (GT_LANES_TOLD), or the machine has one only
 * (GT_LANES_ONE). A stretch of a task may begin in a run, whose vCPU an earlier one has: what
 * cannot be said before waits as a piece, and pieces are joined when all is read.
 */
#ifndef GT_CALLS_TIMELINE_LANES_H
#define GT_CALLS_TIMELINE_LANES_H

#include "calls/read/calls.h"

#include <glib.h>

enum gt_timeline_lanes_kind { GT_LANES_NONE, GT_LANES_TOLD, GT_LANES_ONE };

enum { GT_LANES_PIECES = 1 << 19 }; /* that may wait in a share; four times as many of runs */

/* Takes runs and handlers as calls: `task` is the vCPU, `function` the task at depth 0, the handler
 * at depth 1. */
typedef void gt_timeline_lanes_put(void *self, const struct gt_call *e);

/* Where the task runs at a time, as far as others know it. False: they do not. */
typedef bool gt_timeline_lanes_find(void *self, uint32_t task, uint64_t time, uint32_t *vcpu,
                                    uint64_t *since);

struct gt_timeline_lanes_task; /* what a stretch has had of a task */

/* Of one worker. */
struct gt_timeline_lanes {
    struct gt_calls *calls;
    enum gt_timeline_lanes_kind kind;
    gt_timeline_lanes_put *put;
    void *self; /* its */
    size_t n_tasks;
    struct gt_timeline_lanes_task *task;
    uint64_t *first_end; /* gt_calls_first_end of each task */
    GArray *stretches;   /* struct gt_timeline_lanes_stretch */
    GArray *pieces;      /* struct gt_timeline_lanes_piece */
    GByteArray *handler; /* by function: 0 it is not looked at, 1 none, 2 a handler */
    uint64_t left_out;   /* pieces for which there was no room */
};

/* Which kind the recording has, and how many vCPUs it names. */
enum gt_timeline_lanes_kind gt_timeline_lanes_kind_of(struct gt_calls *c, size_t *vcpus);

void gt_timeline_lanes_init(struct gt_timeline_lanes *l, struct gt_calls *c,
                            enum gt_timeline_lanes_kind kind, gt_timeline_lanes_put *put,
                            void *self);
void gt_timeline_lanes_clear(struct gt_timeline_lanes *l);
/* A batch of a scan of all tasks. */
void gt_timeline_lanes_take(struct gt_timeline_lanes *l, const struct gt_calls_batch *b);
/* The worker has ended: moves what waits from `from` to `to`, which has no tasks of its own. */
void gt_timeline_lanes_move(struct gt_timeline_lanes *to, struct gt_timeline_lanes *from);
/* All workers have: joins what waits, and gives it to `put`. `whole`: the scan went on to the
 * recording's end, so that runs end with their task's last record. `find` may be NULL. */
void gt_timeline_lanes_join(struct gt_timeline_lanes *l, bool whole, gt_timeline_lanes_find *find,
                            void *self);

#endif
