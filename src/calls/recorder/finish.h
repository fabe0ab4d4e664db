/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a recording. */
#ifndef GT_CALLS_RECORDER_FINISH_H
#define GT_CALLS_RECORDER_FINISH_H

struct gt_recorder;

/* Ends all calls, writes the rest, prints losses and counts. Once; later calls do nothing.
 * Takes the lock. */
void gt_recorder_finish(struct gt_recorder *r);

/* The installed recorder's host ends without an exit event, or after one that was held back:
 * gt_host_on_abnormal_exit. */
void gt_recorder_killed(int sig);

#endif
