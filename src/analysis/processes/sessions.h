/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording's sessions as text: what its map and task.txt were, and what they become.
 *
 * The map of a process's session has its files and what `symbols` has put into the recording's map.
 * Not what the recording itself wrote there, a name like 0x1234 for every address: readers show
 * such an address anyway, and each of many maps would have its own pieces of it.
 */
#ifndef GT_ANALYSIS_PROCESSES_SESSIONS_H
#define GT_ANALYSIS_PROCESSES_SESSIONS_H

#include "analysis/processes/processes.h"
#include "format/uftrace/dir.h"

#include <glib.h>

struct gt_sysroot_base {
    struct gt_uftrace_dir dir;
    char *tasks;                    /* task.txt as it was recorded */
    struct gt_uftrace_task session; /* its first line */
    GArray *line;                   /* struct gt_sysroot_task, the others */
    uint32_t highest;               /* tid of these */
    struct gt_uftrace_map current;  /* of that session */
    struct gt_uftrace_map named;    /* lines of it that the recording did not write; its strings are
                                     * those of current */
    struct gt_uftrace_symtab *tab;  /* of each line of named */
    GArray *execs; /* uint64_t, sorted: where functions of the kernel are whose call is an exec */
};

/* *out is the caller's, to be given to gt_sysroot_base_free, also after an error. GT_E_NOT_FOUND,
 * GT_E_IO, GT_E_FORMAT, GT_E_RANGE; GT_E_UNSUPPORTED: it is of no machine. */
int gt_sysroot_base_read(const char *dir, struct gt_sysroot_base *out, struct gt_error *err);
void gt_sysroot_base_free(struct gt_sysroot_base *b);

/* Writes the process's map, and beside it what serves `symbols` as its map as recorded: the lines
 * (an array of struct gt_map_line, to which pieces are appended), then what they leave of what is
 * named. */
int gt_sysroot_put_map(const struct gt_sysroot_base *b, const struct gt_sysroot_process *p,
                       GArray *lines, struct gt_error *err);
/* Writes task.txt, in which the processes (struct gt_sysroot_process, by pid and time) have
 * sessions, and removes the maps of sessions that are gone. */
int gt_sysroot_put_tasks(const struct gt_sysroot_base *b, const GArray *processes,
                         struct gt_error *err);

#endif
