/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the processes of a recorded machine, from a folder with the guest's programs and
 * libraries.
 *
 * A process in which files of the folder ran gets a session of its own: its pid is the lowest of
 * its tasks, its map has the files where they ran (match.h) and what `symbols` has put into
 * the recording's map. Modules are called as their file; a further place has "@0xADDRESS" behind
 * it. Other tasks stay in the recording's session. A process that executed a program which lies
 * across what ran in it before has a session for each (join.h); what was open then keeps
 * its names in the later one.
 *
 * task.txt as it was recorded is kept in task.txt.recorded, so that this can be done again; then
 * the former sessions are gone. What `symbols` puts into the recording's map before or after is in
 * the processes' maps, too.
 */
#ifndef GT_ANALYSIS_PROCESSES_SYSROOT_H
#define GT_ANALYSIS_PROCESSES_SYSROOT_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>

/* Appends to `told` a line (owned, g_free) for each file that ran somewhere, and one where the
 * recording does not say all that is asked. `prefix`: names get
 * "FILE:" in front. GT_E_NOT_FOUND: no such folder or recording, or none of the files ran;
 * GT_E_UNSUPPORTED: no recording of a machine; GT_E_IO, GT_E_FORMAT, GT_E_NOMEM. task.txt is
 * replaced last. */
int gt_sysroot_apply(const char *dir, const char *folder, bool prefix, GPtrArray *told,
                     struct gt_error *err);

#endif
