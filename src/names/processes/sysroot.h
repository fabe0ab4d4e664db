/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the processes of a recorded machine with a folder of the guest's programs and libraries.
 *
 * A process in which files of the folder ran gets a session of its own: its pid is the lowest of
 * its tasks, its map has the files where they ran (match.h) and the lines that `symbols` added to
 * the recording's map. A module has the path of its file; a further place has "@0xADDRESS"
 * appended. Other tasks stay in the recording's session. A process that executed programs with
 * overlapping files has a session for each (processes.h); functions that were open at an exec keep
 * their names in the later session.
 *
 * The recorded task.txt is kept in task.txt.recorded, so that the function can be applied again,
 * which removes the former sessions. Lines that `symbols` adds to the recording's map, before or
 * after, are in the processes' maps as well.
 */
#ifndef GT_NAMES_PROCESSES_SYSROOT_H
#define GT_NAMES_PROCESSES_SYSROOT_H

#include "base/error.h"
#include "recording/records.h"

#include <glib.h>
#include <stdbool.h>

/* Appends to `lines` a line (owned, g_free) for each file that ran in a process, and one if the
 * recording lacks information. `prefix`: names begin with "FILE:". GT_E_NOT_FOUND: no such folder
 * or recording, or none of the files ran; GT_E_UNSUPPORTED: not a recording of a machine; GT_E_IO,
 * GT_E_FORMAT, GT_E_NOMEM. task.txt is replaced last. */
int gt_sysroot_apply(const struct gt_recording_records *at, const char *folder, bool prefix,
                     GPtrArray *lines, struct gt_error *err);

#endif
