/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A random recording, as a list of calls, and what a window must show of it, in the simplest way.
 * It is written as a directory and as a compact file of two packers.
 */
#ifndef GT_TESTS_UNIT_ANALYSIS_CALLS_MODEL_H
#define GT_TESTS_UNIT_ANALYSIS_CALLS_MODEL_H

#include "calls_util.h"

enum { TASKS = 5, FIRST_TID = 100, SCHEDULE = FUNCTIONS, EVENT = GT_UFTRACE_EV_USER + 5 };

/* A call, or an event (which ends as it begins). */
struct model_call {
    uint64_t begin, end; /* end UINT64_MAX: never */
    uint32_t function, depth;
    size_t parent; /* SIZE_MAX: none */
    bool event, recursive;
    /* in a window */
    bool shown;
    uint64_t from, to; /* clipped */
    int64_t self;
    uint64_t slept;
};

/* What happens, in order: a call's number, and whether it ends. */
struct model_step {
    size_t call;
    bool end;
};

struct model_task {
    GArray *call, *step;
    size_t top; /* the innermost open call; SIZE_MAX: none */
    uint32_t depth;
    uint64_t last;
};

struct model {
    struct model_task task[TASKS];
    uint64_t time;
    uint32_t seed;
    struct gt_uftrace_dir dir;
    char file[300];
    struct gt_compact_packer *packer[2];
};

struct model *model_make(uint32_t seed, size_t records, uint64_t segment, uint64_t block);
void model_free(struct model *m);
uint32_t model_roll(struct model *m, uint32_t below);
/* Marks what the window shows of a task. */
void model_show(const struct model *m, unsigned task, const struct gt_calls_window *w);
/* The task's events in the window, in order. Functions are FUNCTION numbers, begins clipped. */
GArray *model_events(const struct model *m, unsigned task, const struct gt_calls_window *w);
/* True where the task has a record in the window. */
bool model_has(const struct model *m, unsigned task, const struct gt_calls_window *w);

#endif
