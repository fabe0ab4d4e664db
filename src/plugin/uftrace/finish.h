/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a recording. */
#ifndef GT_PLUGIN_UFTRACE_FINISH_H
#define GT_PLUGIN_UFTRACE_FINISH_H

struct gt_uftrace_recorder;

/* Ends all calls, writes what is missing, prints losses and counts. Once; later calls do nothing.
 * Takes the lock. */
void gt_output_finish(struct gt_uftrace_recorder *r);

#endif
