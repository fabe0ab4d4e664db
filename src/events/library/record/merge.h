/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merges records from the rings into the trace file, in order of time.
 *
 * Each ring is in order. Records of several rings are merged by timestamp: a record is taken when
 * `until` is after it, so that threads that have read the clock have time to finish their record.
 */
#ifndef GT_EVENTS_LIBRARY_RECORD_MERGE_H
#define GT_EVENTS_LIBRARY_RECORD_MERGE_H

#include "events/library/record/tracefile.h"

enum gt_events_merging {
    GT_EVENTS_SOME, /* records that are older than a moment */
    GT_EVENTS_ALL,  /* all records, and the losses at the ends of rings */
    GT_EVENTS_TAKE, /* the same, for the policy `overwrite` */
};

/* True if there were records. */
bool gt_events_merge(struct gt_events_tracefile *f, enum gt_events_merging how);

/* Lets the next record of every ring wake the writer. False if there are records already. */
bool gt_events_merge_arm(void);

/* Returns the number of lost events that no record reports yet. */
uint64_t gt_events_merge_lost(void);

#endif
