/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings in several files (split=): a part that the streams' writer has ended gets text files
 * and an index on a thread of its own, which may take its time: neither the writer nor a vCPU waits
 * for it.
 */
#ifndef GT_CALLS_RECORDER_OUTPUT_PARTS_H
#define GT_CALLS_RECORDER_OUTPUT_PARTS_H

#include "base/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_recorder;

/* How many may wait; others are finished at the end. */
enum { GT_PARTS_WAITING = 64 };

struct gt_recorder_ended_parts {
    pthread_mutex_t lock; /* of the members below; taken last */
    pthread_cond_t changed;
    uint32_t waiting[GT_PARTS_WAITING];
    unsigned n_waiting;
    bool running, stop;
    pthread_t thread;
    struct gt_error err; /* the first */
};

/* Text files that are else written at the end, as they are now. Maps, symbols and the like are
 * written when they change: so no lock is held that a vCPU may wait for, but the worker's turn. On
 * the worker; `recorder` is a struct gt_recorder. */
void gt_recorder_parts_put_texts(void *recorder);

/* At load. */
void gt_recorder_parts_init(struct gt_recorder *r);
/* The part has its own name. `self` is the recorder. On the streams' writer. */
void gt_recorder_parts_ended(void *self, uint32_t part);

/* fork(): as gt_recorder_snapshots_fork_prepare and others. */
void gt_recorder_parts_fork_prepare(struct gt_recorder *r);
void gt_recorder_parts_fork_parent(struct gt_recorder *r);
void gt_recorder_parts_fork_child(struct gt_recorder *r);

/* When streams are written: finishes the parts that wait, and stops the thread. */
void gt_recorder_parts_end(struct gt_recorder *r);
/* After that: prints what has failed. */
void gt_recorder_parts_report(const struct gt_recorder *r);

#endif
