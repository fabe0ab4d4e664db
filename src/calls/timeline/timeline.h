/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of a recording by time, summed up for pictures of any width.
 *
 * A level has bins of one width, 2^exp ns, from the recording's first record on; the next level's
 * are four times as wide. At a level a call that lasted at least as long as a bin is a slice, with
 * its own begin and end; shorter ones are summed up in the cells of their task, depth and bin: how
 * many began there, how much of the bin they cover, and which function covers most of it. Nothing
 * is left out: slices and cells of a level have all calls.
 *
 * Levels are made by one scan (gt_timeline_fill); other threads may look at what it has so far.
 * Memory is bounded: where there are too many cells the finest level is given up. Finer levels
 * come from a scan of the few calls around it (gt_timeline_zoom_make).
 */
#ifndef GT_CALLS_TIMELINE_TIMELINE_H
#define GT_CALLS_TIMELINE_TIMELINE_H

#include "calls/read/calls.h"

enum {
    GT_TIMELINE_DEPTHS = 1024, /* calls deeper than that are counted only */
    GT_TIMELINE_LEVELS = 8,
    GT_TIMELINE_STEP = 2, /* exponents between levels: bins are four times as wide */
    GT_TIMELINE_NOTES = 20000,
};

struct gt_timeline;

struct gt_timeline_slice {
    uint64_t begin, duration;
    uint32_t function;
    uint16_t depth;
    uint8_t flags; /* enum gt_call_flag */
};

struct gt_timeline_cell {
    uint64_t bin;      /* from the first record on */
    uint32_t function; /* which covers most */
    uint32_t calls;    /* that began in the bin */
    uint64_t covered;  /* ns */
    uint16_t depth;
};

/* An event, or lost records. */
struct gt_timeline_note {
    uint64_t time;
    uint32_t task;
    uint32_t value; /* event: its id; lost: how many records, 0: not known */
    bool lost;
};

/* What each task has, so far; of a lane, its runs and handlers. */
struct gt_timeline_task {
    uint64_t calls;
    uint64_t suspended;   /* how often it was, of these */
    uint64_t first, last; /* UINT64_MAX, 0: nothing */
    uint32_t deepest;
};

/* Of a recording with these facts; `cells`: how many may be kept (0: the default). NULL: no memory.
 */
struct gt_timeline *gt_timeline_create(struct gt_calls *c, size_t cells);
void gt_timeline_destroy(struct gt_timeline *t); /* NULL is fine */

/* Reads the recording, once, on `threads` threads (0: all processors); *stop, where it is not NULL,
 * ends it (GT_E_USAGE). On one thread levels are the same each time: sums are rounded, and of two
 * functions that cover as much of a bin the first one stays. Errors of gt_calls_scan. */
int gt_timeline_fill(struct gt_timeline *t, unsigned threads, const volatile bool *stop,
                     struct gt_error *err);

/* How far the reading is, in thousandths; 1000: it has ended. */
unsigned gt_timeline_progress(struct gt_timeline *t);
/* Exponents of the finest and the coarsest level. */
void gt_timeline_range(struct gt_timeline *t, unsigned *finest, unsigned *coarsest);
/* A copy; n: how many tasks there are; lanes come after them. The caller frees it. */
struct gt_timeline_task *gt_timeline_tasks(struct gt_timeline *t, size_t *n);
/* How many lanes there are: the index n + v is vCPU v's, n being the number of tasks. A lane has
 * slices and cells as a task has: at depth 0 runs of tasks, whose index is in place of the
 * function; at depth 1 the outermost handlers in them. They are known where the recording says on
 * which vCPU tasks go on, or once it has been read and all tasks of a machine took turns.
 * *left_out: parts of them for which there was no room. */
size_t gt_timeline_lanes(struct gt_timeline *t, uint64_t *left_out);
/* A copy in order of time, and how many there were in all. The caller frees it (g_free). */
struct gt_timeline_note *gt_timeline_notes(struct gt_timeline *t, size_t *n, uint64_t *all);

/* A part of the picture: tasks, bins, depths. */
struct gt_timeline_part {
    const uint32_t *task; /* indexes, of lanes too */
    size_t n_tasks;
    unsigned exp;  /* the bins' width is 2^exp */
    uint64_t bin;  /* the first one */
    uint64_t bins; /* how many */
    uint32_t depths;
    unsigned threads; /* that read calls for finer levels; 0: all processors */
};

struct gt_timeline_sink {
    void *self;
    void (*task)(void *self, uint32_t task); /* what follows is of it */
    void (*slice)(void *self, const struct gt_timeline_slice *s);
    void (*cell)(void *self, const struct gt_timeline_cell *c);
};

/* Gives the content of the part, each task's slices, then its cells. GT_E_RANGE: the exponent is
 * above the coarsest level, or between levels, or below the finest one with too many calls. Below
 * the finest one the recording is read: errors of gt_calls_scan. */
int gt_timeline_look(struct gt_timeline *t, const struct gt_timeline_part *p,
                     const struct gt_timeline_sink *to, struct gt_error *err);

#endif
