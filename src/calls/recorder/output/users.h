/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a recording. Each shares the lock of its directory (recording/texts/dir_lock.h)
 * while it records, so that readers do not take the recording for one that has ended.
 *
 * What runs on the worker says so. There the lock is descriptor 0, where the worker's descriptors
 * are its own: so it takes none of those that a guest leaves.
 */
#ifndef GT_CALLS_RECORDER_OUTPUT_USERS_H
#define GT_CALLS_RECORDER_OUTPUT_USERS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct gt_recorder;
struct gt_vcpu;

/* At load: true where this process recorded in the directory before it replaced itself with
 * execve(), or comes from one that records there. */
bool gt_recorder_users_go_on(const char *dir);

/* On the worker, at load: the lock of a directory that was made, or of one that goes on. GT_E_BUSY;
 * where there is no room for a lock it is recorded without one. */
int gt_recorder_users_begin(struct gt_recorder *r, bool goes_on, struct gt_error *err);
/* On the worker: the lock is held already. */
void gt_recorder_users_keep(const struct gt_recorder *r, int *lock);

/* The process forks: called before it, by the parent's vCPU when the system call returns, and by
 * the child when its recording begins. The recording has no last process in between. */
void gt_recorder_users_before_fork(struct gt_recorder *r, struct gt_vcpu *v);
void gt_recorder_users_after_fork(struct gt_vcpu *v, int64_t result);
void gt_recorder_users_forked(struct gt_vcpu *v);
/* In the child, at once: the parent's lock is not its own. */
void gt_recorder_users_fork_child(struct gt_recorder *r);

/* On the worker, at the end. True: no other process records, or can begin to. Waits a moment for
 * children that have just been forked. */
bool gt_recorder_users_is_last(struct gt_recorder *r);
/* On the worker, at the very end. */
void gt_recorder_users_end(struct gt_recorder *r);

#endif
