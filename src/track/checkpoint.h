/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checkpoints: copies of what the tracker knows of a machine, made while it is stopped, as its
 * state may be saved then. If that state is loaded later, the machine continues as it was then, and
 * so does the tracker.
 *
 * All functions are called while no thread makes transfers.
 */
#ifndef GT_TRACK_CHECKPOINT_H
#define GT_TRACK_CHECKPOINT_H

#include "track/track.h"

struct gt_track_checkpoint;

/* A thread at a checkpoint. */
struct gt_track_thread_checkpoint {
    uint32_t stack;      /* its index in the checkpoint */
    uint32_t slow_flags; /* which say what transfer was under way */
    uint8_t passed;
    uint64_t calls; /* which its handlers' are compared with */
    uint64_t calling_sp, returned_sp;
    struct gt_track_nonlocal nonlocal;
    struct gt_track_saved_context reloaded;
};

/* Copies all call stacks, saved contexts and fork snapshots. NULL: no memory, or more than is kept.
 */
struct gt_track_checkpoint *gt_track_checkpoint_make(struct gt_track *k);
void gt_track_checkpoint_free(struct gt_track_checkpoint *c);
/* After gt_track_checkpoint_make, before other checkpoints are made. */
void gt_track_checkpoint_thread(const struct gt_track_thread *t,
                                struct gt_track_thread_checkpoint *out);

/* After gt_track_stop_following: the thread has no stack until one of the functions below gives it
 * one. */
void gt_track_checkpoint_leave(struct gt_track_thread *t, uint64_t time);

/* When all threads have left and gt_track_end_suspended was called: the stacks are as they were,
 * and their open calls are entered again. False: no memory; the restored stacks have ended again.
 */
bool gt_track_checkpoint_restore(struct gt_track *k, struct gt_track_checkpoint *c, uint64_t time);
/* After that, for each thread of the checkpoint. */
void gt_track_checkpoint_resume(struct gt_track_thread *t, const struct gt_track_checkpoint *c,
                                const struct gt_track_thread_checkpoint *at, uint64_t time);
/* The thread continues on an empty stack. `cut`: calls may be open that are not known. False: no
 * memory, it has no stack. */
bool gt_track_checkpoint_begin(struct gt_track_thread *t, bool cut, uint64_t time);

#endif
