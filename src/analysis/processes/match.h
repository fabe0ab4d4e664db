/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files ran in which process, and where: what files.h found against what
 * processes.h found.
 *
 * In each process a file is believed where its functions are what was entered
 * (placement/load_offset.h): one that is linked for an address only there, others where the entries
 * say; the more files and processes there are, the more of its functions. The file that explains
 * most is first, of two that explain the same the one that is called as the process is; otherwise
 * both are left out, unless they give the same names. What a file covers, no other gets. Pages that
 * processes share have the addresses of the process that ran them first, so what is left is
 * compared with the places of all processes, and one of those needs only to explain more than half
 * of what was entered in it.
 *
 * The first place of a file in a process is all of it, a further one no more than was entered
 * there.
 */
#ifndef GT_ANALYSIS_PROCESSES_MATCH_H
#define GT_ANALYSIS_PROCESSES_MATCH_H

#include "analysis/placement/locate.h"
#include "analysis/processes/files.h"
#include "analysis/processes/processes.h"

/* Fills the places of the processes, an array of struct gt_sysroot_process, and what is left.
 * Appends to `told` a line for two files that could not be told apart. */
void gt_sysroot_match(const struct gt_sysroot_files *files, GArray *processes, GPtrArray *told);

#endif
