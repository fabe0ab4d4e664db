/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The newest time of a recording, for a process that watches the machine while it runs: 8 bytes in
 * a file of the data directory. The file exists only with one vCPU and the instruction clock.
 */
#ifndef GT_CALLS_RECORDER_OUTPUT_LIVE_CLOCK_H
#define GT_CALLS_RECORDER_OUTPUT_LIVE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct gt_recorder;

struct gt_recorder_live_clock {
    uint64_t *now; /* the file's 8 bytes, or others; NULL: the time is not kept. Atomic */
    char *path;    /* NULL: there is no file */
};

/* Creates the file in the recorder's data directory, which exists; with control= the time is kept
 * without a file as well. Errors are not reported: the recording does not need the file. */
void gt_recorder_live_clock_create(struct gt_recorder *r);

/* Removes the file, at the end of the recording. */
void gt_recorder_live_clock_remove(struct gt_recorder_live_clock *c);

static inline void gt_recorder_live_clock_set(struct gt_recorder_live_clock *c, uint64_t time)
{
    if (__builtin_expect(c->now != NULL, 0))
        __atomic_store_n(c->now, time, __ATOMIC_RELAXED);
}

#endif
