/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the lanes into the trace file, in order of time.
 *
 * Each lane is in order. Between lanes the order is that of the timestamps: a record is taken once
 * `until` is behind it, which leaves threads that have read the clock the time to finish.
 */
#ifndef GT_EVENTS_RECORD_COLLECT_H
#define GT_EVENTS_RECORD_COLLECT_H

#include "events/record/tracefile.h"

enum gt_events_collecting {
    GT_EVENTS_SOME, /* what is older than a moment */
    GT_EVENTS_ALL,  /* what is there, and what was lost at the ends of lanes */
    GT_EVENTS_TAKE, /* the same, where the producers overwrite */
};

/* Whether there was anything. */
bool gt_events_collect(struct gt_events_tracefile *f, enum gt_events_collecting how);

/* Lets the next record of every lane wake the writer. False if there are records already. */
bool gt_events_collect_arm(void);

/* Events that threads lost and no record tells yet. */
uint64_t gt_events_collect_lost(void);

#endif
