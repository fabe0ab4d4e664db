/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The newest time of a recording, for a process that watches the machine while it runs: 8 bytes in
 * a file of the data directory. The file exists only with one vCPU and the instruction clock.
 */
#ifndef GT_PLUGIN_UFTRACE_LIVE_CLOCK_H
#define GT_PLUGIN_UFTRACE_LIVE_CLOCK_H

#include "plugin/uftrace/recorder.h"

/* When the directory exists. Errors are not reported: the recording does not need the file. */
void gt_live_clock_create(void);

/* Removes the file, at the end of the recording. */
void gt_live_clock_remove(void);

static inline void gt_live_clock_set(uint64_t time)
{
    if (__builtin_expect(gt_rec.now != NULL, 0))
        __atomic_store_n(gt_rec.now, time, __ATOMIC_RELAXED);
}

#endif
