/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a recorded guest, the programs that each executed one after the other, and the
 * functions without names that each program entered.
 *
 * DIR/guest-tasks.txt groups tasks into processes: lines "TID PID TGID COMM", several for a TID
 * that was reused or that executed another program. Without the file, and for a TID with several
 * TGIDs, a task is a process of its own. The kernel's idle threads (TGID 0) are not processes. If
 * the kernel has names, calls of the function that starts a new program in a process mark its
 * execs.
 */
#ifndef GT_NAMES_PROCESSES_PROCESSES_H
#define GT_NAMES_PROCESSES_PROCESSES_H

#include "names/placement/entries.h"
#include "recording/directory/dir.h"

#include <glib.h>

/* Programs of one process: later execs count as the last one. */
#define GT_SYSROOT_EXECS_MAX 64

/* A line of task.txt. */
struct gt_sysroot_task {
    uint64_t time;
    uint32_t tid, pid;
};

/* A program of a process, from its time until that of the next element with the same pid. */
struct gt_sysroot_process {
    uint32_t pid;   /* the lowest number of its tasks */
    GArray *tids;   /* uint32_t, sorted; shared by the elements of the pid */
    char name[16];  /* the guest's last name of the process; "": unknown, or not the last element */
    uint64_t time;  /* start; for the first element, when the first of its tasks is known */
    uint32_t tid;   /* later elements: the task that continues after the exec */
    GArray *places; /* struct gt_place; set by match.h, as is `vague` */
    GArray *vague;  /* places whose file is ambiguous */
    struct gt_place_entries entries;
    struct gt_place_entries
        open; /* functions without names that were still open from earlier elements */
    struct gt_place_entries left; /* set by match.h: entries that no place explains */
};

/* Facts on the recording. */
struct gt_sysroot_tasks {
    const struct gt_sysroot_task *line; /* lines of task.txt */
    size_t n;
    const struct gt_uftrace_map *named;   /* entries in the ranges of its lines are left out */
    const struct gt_place_entries *execs; /* functions of the kernel whose calls mark an exec */
};

/* Returns the processes with entries, sorted by pid and time. *grouped: guest-tasks.txt has at
 * least one task. Free the array, which owns its elements, with g_array_free, also after an error.
 * Errors of gt_place_entries_read. */
int gt_sysroot_processes_read(const struct gt_recording_records *at,
                              const struct gt_sysroot_tasks *tasks, GArray **out, bool *grouped,
                              struct gt_error *err);
/* Frees the members of an element that is removed from the array. */
void gt_sysroot_process_clear(void *process);

/*
 * Joins the programs that a process executed one after the other into one session if a single map
 * can name all of them: calls of the first program may be open while the second one runs. A single
 * map is possible unless files of two programs overlap.
 */

/* Joins consecutive elements of a pid (struct gt_sysroot_process, sorted by pid and time) where
 * possible, and removes pids without places. */
void gt_sysroot_join(GArray *processes);

#endif
