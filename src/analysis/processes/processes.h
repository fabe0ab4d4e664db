/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a recorded guest, what they executed one after the other, and what each of that
 * called outside of what has names.
 *
 * DIR/guest-tasks.txt says which tasks are one process: lines "TID PID TGID COMM", several of a TID
 * whose number was used again or that executed another program. Without it, and where it says
 * several TGIDs of one, a task is a process of its own. The kernel's idle threads (TGID 0) are
 * none. Where the kernel has names, a call of the function that puts a new program into a process
 * says when it executed one.
 */
#ifndef GT_ANALYSIS_PROCESSES_PROCESSES_H
#define GT_ANALYSIS_PROCESSES_PROCESSES_H

#include "analysis/placement/entries.h"
#include "format/uftrace/dir.h"

#include <glib.h>

/* Of one process: later ones count as the last. */
#define GT_SYSROOT_EXECS_MAX 64

/* A line of task.txt. */
struct gt_sysroot_task {
    uint64_t time;
    uint32_t tid, pid;
};

/* What a process was from a time on: until the next one with its pid, if there is one. */
struct gt_sysroot_process {
    uint32_t pid;   /* the lowest of its tasks */
    GArray *tids;   /* uint32_t, sorted; the pid's processes share it */
    char name[16];  /* the guest's last one for it; "" where it is not known, or not of the last */
    uint64_t time;  /* of the first: from which the first of its tasks is known */
    uint32_t tid;   /* of those that follow: which of the tasks lives on */
    GArray *places; /* struct gt_place; for match.h, as the next one */
    GArray *vague;  /* places of which the file is not clear */
    struct gt_entries entries;
    struct gt_entries open; /* what is still open of those before it; nothing of what has names */
    struct gt_entries left; /* match.h, too: what no place explains */
};

/* What is asked about the recording. */
struct gt_sysroot_tasks {
    const struct gt_sysroot_task *line; /* of task.txt */
    size_t n;
    const struct gt_uftrace_map *named; /* entries in its lines are left out */
    const struct gt_entries *execs;     /* functions of the kernel whose call is an exec */
};

/* The processes by pid and time, without those that have no entries. *grouped: true where
 * guest-tasks.txt knows a task. The array's elements are freed with it (g_array_free), which is due
 * after an error, too. Errors of gt_entries_read_tasks. */
int gt_sysroot_processes_read(const char *dir, const struct gt_sysroot_tasks *tasks, GArray **out,
                              bool *grouped, struct gt_error *err);
/* Takes the element's memory; for those that are taken out of the array. */
void gt_sysroot_process_clear(void *process);

#endif
