/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sessions of a recording: its recorded map and task.txt, and their new versions.
 *
 * The map of a process's session has its files and the lines that `symbols` added to the
 * recording's map. It does not have the lines of the recording itself, with a name like 0x1234 for
 * every address: readers show such an address anyway, and each of many maps would have its own
 * pieces of them.
 */
#ifndef GT_NAMES_PROCESSES_SESSIONS_H
#define GT_NAMES_PROCESSES_SESSIONS_H

#include "names/processes/processes.h"
#include "recording/directory/dir.h"

#include <glib.h>

struct gt_sysroot_base {
    struct gt_uftrace_dir dir;
    char *tasks;                    /* the recorded task.txt */
    struct gt_uftrace_task session; /* its first line, the session */
    GArray *line;                   /* struct gt_sysroot_task: the other lines */
    uint32_t highest;               /* highest tid of these */
    struct gt_uftrace_map current;  /* the map of that session */
    struct gt_uftrace_map
        named; /* lines of `current` that the recording did not write; shares its strings */
    struct gt_uftrace_symtab *tab; /* symbols of each line of `named` */
    GArray
        *execs; /* uint64_t, sorted: addresses of the kernel's functions whose calls mark an exec */
};

/* Reads a recording; the caller frees *out with gt_sysroot_base_free, also after an error.
 * GT_E_NOT_FOUND, GT_E_IO, GT_E_FORMAT, GT_E_RANGE; GT_E_UNSUPPORTED: not a recording of a machine.
 *
 */
int gt_sysroot_base_read(const char *dir, struct gt_sysroot_base *out, struct gt_error *err);
void gt_sysroot_base_free(struct gt_sysroot_base *b);

/* Writes the process's map, and beside it the original that `symbols` starts from: the lines (an
 * array of struct gt_place_map_line, to which pieces are appended), then the parts of `named` that
 * they do not cover. */
int gt_sysroot_put_map(const struct gt_sysroot_base *b, const struct gt_sysroot_process *p,
                       GArray *lines, struct gt_error *err);
/* Writes a task.txt with sessions for the processes (struct gt_sysroot_process, sorted by pid and
 * time), and removes the maps of former sessions. */
int gt_sysroot_put_tasks(const struct gt_sysroot_base *b, const GArray *processes,
                         struct gt_error *err);

#endif
