/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control=PATH: commands while the guest runs (qemu/support/control.h).
 *
 *   status            counts of the recording until now: "key=value ..."
 *   flush             writes all records until now; then readers can show it
 *   on, off           switch the recording
 *   filter OPTION...  other filters and triggers; without any, none
 *   trigger SPEC...   the same, with triggers added
 *   snapshot [FILE]   writes what the flight recorder holds
 *
 * The first process of a recording has the socket; its forked children have none.
 */
#ifndef GT_CALLS_RECORDER_RUN_CONTROL_H
#define GT_CALLS_RECORDER_RUN_CONTROL_H

#include "base/error.h"

struct gt_recorder;

/* At load, before the output is created: makes the socket, if there is to be one. Clients that
 * connect wait. A process that continues a recording of another process, which still has the
 * socket, gets none. Errors of gt_support_control_start. */
int gt_run_control_start(struct gt_recorder *r, struct gt_error *err);
/* At load, when all is ready: commands are run from now on. */
void gt_run_control_serve(struct gt_recorder *r);
/* Removes the socket: no command runs any more. No socket is fine. */
void gt_run_control_stop(struct gt_recorder *r);
/* In a forked child: the socket is the parent's. */
void gt_run_control_fork_child(struct gt_recorder *r);

#endif
