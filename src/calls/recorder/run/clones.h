/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs, the instruction clock: the time of a new thread begins at that of the thread that
 * created it.
 *
 * QEMU announces a vCPU on the thread that creates it (7.2), or later on the new thread
 * (since 9.0), while its creator goes on and may create more. The thread then waits until the
 * system call of its creator has returned, which says which thread it made.
 */
#ifndef GT_CALLS_RECORDER_RUN_CLONES_H
#define GT_CALLS_RECORDER_RUN_CLONES_H

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_recorder;
struct gt_vcpu;

/* With the recorder's lock. */
struct gt_run_clones {
    unsigned open;          /* system calls under way whose thread has not begun */
    GArray *made;           /* struct of clones.c: threads that have not begun; NULL: none so far */
    pthread_cond_t changed; /* `open` has become less */
};

void gt_run_clones_init(struct gt_run_clones *c);

/* The vCPU is about to create a thread, at `time`, and its system call has returned `result`. On
 * its thread, with the recorder's lock. */
void gt_run_clones_before(struct gt_vcpu *v, uint64_t time);
void gt_run_clones_after(struct gt_vcpu *v, int64_t result);

/* The time at which the vCPU that is being announced was created; the newest noted time, where it
 * is the first one or the system call of its creator does not return in two seconds. `caller` is
 * the vCPU that announces it; NULL: its own thread does. With the recorder's lock, which is
 * released while it waits. */
uint64_t gt_run_clones_begin(struct gt_recorder *r, struct gt_vcpu *caller);

/* In a forked child, where no other thread is left. */
void gt_run_clones_forked(struct gt_recorder *r);

#endif
