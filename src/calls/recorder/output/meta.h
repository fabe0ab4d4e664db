/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Content of the recorder's text files, for tasks.c and finish.c. All functions run on the worker,
 * except gt_recorder_meta_init. Errors: see the gt_uftrace_dir_*
 * function that writes the file (recording/directory/dir.h).
 */
#ifndef GT_CALLS_RECORDER_OUTPUT_META_H
#define GT_CALLS_RECORDER_OUTPUT_META_H

#include "qemu/support/modules.h"
#include "recording/directory/dir.h"
#include "track/counters.h"

struct gt_recorder;

/* Finds the program's name, the command line and the session's id. Before all others. */
void gt_recorder_meta_init(struct gt_recorder *r);

/* The time of the last record in TID.dat; 0: there is no record. */
uint64_t gt_recorder_meta_last_time(const struct gt_uftrace_dir *dir, uint32_t tid);

/* The kernel's name of a thread of this process; "" where it has none. */
void gt_recorder_meta_thread_name(uint32_t tid, char name[16]);

/* Writes sid-SID.map, and lines of task.txt for modules that cannot be in it. */
int gt_recorder_meta_put_map(struct gt_recorder *r, struct gt_error *err);

/* A new module, or one that is mapped again: writes the parts of it that are not written yet. */
int gt_recorder_meta_add_module(struct gt_recorder *r, struct gt_support_module *m,
                                struct gt_error *err);

/* Writes info. */
int gt_recorder_meta_put_info(struct gt_recorder *r, struct gt_error *err);

/* Writes the module's symbol file, with names for addresses that were collected. */
int gt_recorder_meta_put_symbols(struct gt_recorder *r, struct gt_support_module *m,
                                 struct gt_error *err);

/* What vCPUs that run have counted, beside r->totals. */
struct gt_recorder_meta_running {
    uint64_t recorded; /* with those that have ended */
    uint64_t tracked, matched, counters[GT_COUNTERS];
};

/* Before an execve, the last chance to write counts of the program that it replaces: the process's;
 * outside: the other program, if it is not recorded; "": it records itself; else NULL. After one
 * that failed they are taken away again. */
int gt_recorder_meta_put_stats_of_exec(struct gt_recorder *r,
                                       const struct gt_recorder_meta_running *running,
                                       const char *outside, struct gt_error *err);
int gt_recorder_meta_take_back_stats(struct gt_recorder *r, struct gt_error *err);

/* Writes GT_STATS_FILE: this process's counts, added to those that are there; `recorded`: calls.
 * Errors of gt_file_replace_text. */
int gt_recorder_meta_put_stats(struct gt_recorder *r, uint64_t recorded, struct gt_error *err);

#endif
