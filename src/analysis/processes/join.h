/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process executed one after the other: where a single map can name all of it, a single
 * session is better, for calls of the first program may be open while the second one runs. The map
 * can, unless something of one program is where another has a file of its own.
 */
#ifndef GT_ANALYSIS_PROCESSES_JOIN_H
#define GT_ANALYSIS_PROCESSES_JOIN_H

#include "analysis/processes/processes.h"

/* Makes one of those of a pid (struct gt_sysroot_process, by pid and time) that follow one another
 * and go together, and takes out the pids that have no place. */
void gt_sysroot_join(GArray *processes);

#endif
