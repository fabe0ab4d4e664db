/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matches the files of files.h with the processes of processes.h: which files ran in which process,
 * and where.
 *
 * In each process a file is accepted at an offset at which its functions match the entries
 * (placement/load_offset.h): a file that is linked for an address only there, others at the best
 * offset; the more files and processes there are, the more functions must match. The file that
 * explains most entries takes precedence; of two that explain the same number, the one with the
 * name of the process; otherwise both are left out, unless they give the same names. The range of
 * an accepted file is closed to others. Pages that processes share have the addresses of the
 * process that ran them first, so the remaining entries are compared with the places of all
 * processes, and such a place needs to explain only more than half of the entries in it.
 *
 * The first place of a file in a process covers the whole file, a further one only the code that
 * was entered there.
 */
#ifndef GT_NAMES_PROCESSES_MATCH_H
#define GT_NAMES_PROCESSES_MATCH_H

#include "names/placement/locate.h"
#include "names/processes/files.h"
#include "names/processes/processes.h"

/* Sets `places`, `vague` and `left` of the processes, an array of struct gt_sysroot_process.
 * Appends a line to `lines` for two files that could not be distinguished. */
void gt_sysroot_match(const struct gt_sysroot_files *files, GArray *processes, GPtrArray *lines);

#endif
