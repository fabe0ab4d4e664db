/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tracker does, under filters (filtered.h). There no transfer is plain to transfer.c:
 * GT_VCPU_ASKS. */
#ifndef GT_CALLS_RECORDER_SELECT_FILTERED_STACKS_H
#define GT_CALLS_RECORDER_SELECT_FILTERED_STACKS_H

#include "calls/recorder/vcpu.h"
#include "track/track.h"

/* A transfer of a vCPU that has begun. True: it was a plain one, and is done. */
bool gt_filtered_transfer(const struct gt_transfer *t);

/* At the end, when all calls have ended: counts those of stacks that no thread runs. */
void gt_filtered_end_all(struct gt_uftrace_recorder *r);

/* Receives the tracker's call events: a task for each stack. */
extern const struct gt_sink gt_filtered_sink;

#endif
