/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A task of the recording: what the recorder keeps of each call stack that the tracker follows. */
#ifndef GT_CALLS_RECORDER_TASK_H
#define GT_CALLS_RECORDER_TASK_H

#include "calls/recorder/select/filtered.h"
#include "track/track.h"

/* The sink's data of a stack (gt_stack.data). */
struct gt_recorder_task {
    uint32_t id;        /* uftrace's TID of its output */
    uint32_t named_pid; /* the guest process that `name` is of */
    char name[16];
    bool switched_out;                  /* an open sched-out is recorded */
    bool beyond;                        /* counted among the stacks beyond max-tasks= */
    struct gt_select_levels *levels;    /* with privilege_levels: where its records go */
    struct gt_select_filtered filtered; /* with filters, without privilege_levels */
};
static inline struct gt_recorder_task *gt_recorder_task_of(const struct gt_stack *s)
{
    return s->data;
}

#endif
