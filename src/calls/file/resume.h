/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to compact/: where a packer's records end in a file, so that another packer can go on
 * there.
 */
#ifndef GT_CALLS_FILE_RESUME_H
#define GT_CALLS_FILE_RESUME_H

#include "calls/file/file.h"
#include "calls/file/pack.h"
#include "calls/file/set.h"

/* The blocks of one packer, or its last ones. */
struct gt_compact_tail {
    struct gt_compact_file file; /* its list has these blocks only, whole segments */
    uint64_t records;            /* of the packer, in all of the file */
    bool is_set;                 /* the descriptor is our own */
};

/* Finds the packer's blocks from the offset `from` on: 0, or where one of its segments begins.
 * Bytes at the file's end that are not a block are cut off: a process was killed there. No process
 * adds to the file meanwhile; the descriptor stays the caller's. GT_E_IO, GT_E_NOMEM. */
int gt_compact_tail_find(int fd, const char *path, uint32_t packer, uint64_t from,
                         struct gt_compact_tail *out, struct gt_error *err);
/* The same in all parts of the set (set.h) from the segment on that begins at offset `from` of the
 * part `part`; 0: in all. Nothing is cut. Errors of gt_compact_set_open. */
int gt_compact_tail_find_in_set(const char *path, uint32_t packer, uint32_t part, uint64_t from,
                                struct gt_compact_tail *out, struct gt_error *err);
void gt_compact_tail_clear(struct gt_compact_tail *t);

/* A task after its last record. */
struct gt_compact_tail_task {
    uint32_t id;
    uint64_t time;
    struct gt_compact_packer_frame *frame; /* the functions that it has open, outermost first */
    uint32_t depth;
};

/* Calls `task` for each task of the tail's blocks, as it is after these; tasks of damaged blocks
 * are not known. What it returns below 0 ends the call and is returned. GT_E_IO, GT_E_NOMEM. */
int gt_compact_tail_tasks(const struct gt_compact_tail *t,
                          int (*task)(void *self, const struct gt_compact_tail_task *task),
                          void *self, struct gt_error *err);

/* For `task`: the packer goes on where the task is. A task with more functions open than a packer
 * takes begins without them: rather so than not at all. `self` is a struct gt_compact_packer.
 * Errors of gt_compact_packer_resume. */
int gt_compact_tail_resume(void *self, const struct gt_compact_tail_task *t);

/* For `task`: notes one task's time. `self` is a struct gt_compact_tail_time. */
struct gt_compact_tail_time {
    uint32_t task;
    uint64_t time; /* stays where the task is not there */
};
int gt_compact_tail_note_time(void *self, const struct gt_compact_tail_task *t);

#endif
