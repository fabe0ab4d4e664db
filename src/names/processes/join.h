/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins the programs that a process executed one after the other into one session if a single map
 * can name all of them: calls of the first program may be open while the second one runs. A single
 * map is possible unless files of two programs overlap.
 */
#ifndef GT_NAMES_PROCESSES_JOIN_H
#define GT_NAMES_PROCESSES_JOIN_H

#include "names/processes/processes.h"

/* Joins consecutive elements of a pid (struct gt_sysroot_process, sorted by pid and time) where
 * possible, and removes pids without places. */
void gt_sysroot_join(GArray *processes);

#endif
