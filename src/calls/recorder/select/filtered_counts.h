/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tasks of a recording that has filters (filtered.h) count until they end. */
#ifndef GT_CALLS_RECORDER_SELECT_FILTERED_COUNTS_H
#define GT_CALLS_RECORDER_SELECT_FILTERED_COUNTS_H

#include <stdint.h>

struct gt_uftrace_recorder;

/* In a forked child, before its own calls: what the parent's tasks have counted is the parent's. */
void gt_filtered_forked(struct gt_uftrace_recorder *r);

/* Adds what tasks have counted that have not ended: calls that are recorded, and too deep for it.
 */
void gt_filtered_running(struct gt_uftrace_recorder *r, uint64_t *recorded, uint64_t *beyond);

#endif
