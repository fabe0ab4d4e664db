/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who writes a recording: the lock in its directory, or in the working directory of a compact file.
 *
 * GT_DIR_LOCK_FILE is there while a recording is made or changed, and after a kill. Each process
 * that records holds a shared flock() on it; who changes a recording that no process records holds
 * it alone. The file never appears without its maker's lock: it is locked before it gets its name.
 * A process that replaces itself with execve() holds no lock for a moment, but its pool of records
 * (base/stream/stream.h) is there, by which it counts as one that records.
 *
 * Where the file system has no locks everybody is let in: it is as good as it gets.
 */
#ifndef GT_RECORDING_TEXTS_DIR_LOCK_H
#define GT_RECORDING_TEXTS_DIR_LOCK_H

#include "base/error.h"

#include <stdbool.h>

#define GT_DIR_LOCK_FILE ".guesttrace.lock"

/* In all: *fd is the lock's descriptor, to be closed; -1 after an error. `name`: the recording's,
 * for messages. */

/* Makes the lock, shared. What killed processes have left there is replaced. GT_E_BUSY: a process
 * records there or changes it; GT_E_IO, GT_E_NOT_FOUND (no such directory), GT_E_RANGE. */
int gt_recording_dir_lock_make(const char *dir, const char *name, int *fd, struct gt_error *err);
/* Shares a lock that is there; waits for one that changes the recording. GT_E_NOT_FOUND: none is
 * there, also after that; GT_E_IO. */
int gt_recording_dir_lock_share(const char *dir, int *fd, struct gt_error *err);
/* Holds a lock that is there alone. GT_E_BUSY; GT_E_NOT_FOUND, GT_E_IO. */
int gt_recording_dir_lock_alone(const char *dir, const char *name, int *fd, struct gt_error *err);
/* A descriptor of gt_recording_dir_lock_share or gt_recording_dir_lock_make: true if no other
 * process has it, and none is about to go on after an execve(); then it is held alone. False: not
 * at all any more. */
bool gt_recording_dir_lock_is_last(const char *dir, int fd);
bool gt_recording_dir_lock_is_there(const char *dir);
/* Removes the lock, which is held alone. */
void gt_recording_dir_lock_remove(const char *dir);

/* True where a pool is in the directory, of a killed process or of one that records. */
bool gt_recording_dir_lock_has_pool(const char *dir);

#endif
