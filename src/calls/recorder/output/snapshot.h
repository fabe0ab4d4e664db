/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flight recorder (last=): records go round in rings (calls/file/flight.h), and a snapshot
 * makes a file of what they have.
 *
 * Each process has a ring of its own. A snapshot has the rings of all processes of the recording,
 * also of ended ones; of its own process it has all that was recorded before, of others all that is
 * packed: all but the last second. vCPUs go on meanwhile.
 */
#ifndef GT_CALLS_RECORDER_OUTPUT_SNAPSHOT_H
#define GT_CALLS_RECORDER_OUTPUT_SNAPSHOT_H

#include "base/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gt_recorder;

/* How many may wait; an unnamed one that is asked for while another waits is the same. */
enum { GT_SNAPSHOTS_WAITING = 16, GT_SNAPSHOT_NAME = 256 };

struct gt_recorder_snapshots {
    bool on; /* at load: there is a flight recorder */

    pthread_mutex_t turn; /* one is made at a time; before r->lock. Guards the members below */
    uint64_t records;     /* of this process, in the last one */
    bool some;            /* there was one */
    bool ended;           /* none is made any more */

    pthread_mutex_t lock; /* of the members below; taken last */
    pthread_cond_t changed;
    char waiting[GT_SNAPSHOTS_WAITING][GT_SNAPSHOT_NAME]; /* names; "": the next */
    unsigned n_waiting, refused;
    bool running; /* the thread is there */
    bool busy;    /* it makes one */
    bool stop;
    pthread_t thread;
    struct gt_error err; /* the first of one that was asked for */
};

/* At load. */
void gt_recorder_snapshots_init(struct gt_recorder *r);

/* Writes a snapshot and returns when it is complete. `name`: of a file beside the recording's;
 * NULL: the next one. *path (room bytes) gets its path; NULL: not wanted. From any thread but a
 * vCPU's that has a descriptor table of its own (base/thread.h). GT_E_UNSUPPORTED: not a flight
 * recorder, or has ended; GT_E_NOT_FOUND: nothing is recorded; errors of gt_compact_work_snapshot.
 * After an error nothing is left of it, and the recording goes on. */
int gt_recorder_snapshot_write(struct gt_recorder *r, const char *name, char *path, size_t room,
                               struct gt_error *err);

/* Asks for a snapshot and returns at once: records until then are in it. From any thread. What
 * fails is reported at the end. */
void gt_recorder_snapshot_ask(struct gt_recorder *r, const char *name);

/* Waits until those that were asked for are made. */
void gt_recorder_snapshots_wait(struct gt_recorder *r);

/* fork(): with all other locks that are held over it; lock, then unlock, or forked in the child. */
void gt_recorder_snapshots_fork_prepare(struct gt_recorder *r);
void gt_recorder_snapshots_fork_parent(struct gt_recorder *r);
void gt_recorder_snapshots_fork_child(struct gt_recorder *r);

/* At the end, before the open calls are ended: makes the snapshots that were asked for, and stops
 * the thread. True: records have come since the last one. */
bool gt_recorder_snapshots_end(struct gt_recorder *r);
/* After that: prints what has failed. */
void gt_recorder_snapshots_report(const struct gt_recorder *r);

#endif
