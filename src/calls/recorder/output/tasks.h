/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data directory while the guest runs: tasks, names of threads, modules. Text files are written
 * on the worker; functions wait for it. A job that fails is tried again before the next job and at
 * the end; until then the recording continues without it.
 */
#ifndef GT_CALLS_RECORDER_OUTPUT_TASKS_H
#define GT_CALLS_RECORDER_OUTPUT_TASKS_H

#include "base/stream/stream.h"
#include "base/worker.h"
#include "calls/recorder/output/packed.h"
#include "calls/recorder/vcpu.h"
#include "qemu/support/modules.h"
#include "recording/directory/dir.h"

struct gt_recorder;
/* Counts of a recording's processes, in memory that they share. Atomic. */
struct gt_recorder_shared {
    uint64_t records, lost, counters[GT_COUNTERS]; /* of processes that have ended */
    bool reported;                                 /* a fault was reported */
    unsigned starting;                             /* children that have not entered yet: users.h */
    bool forked;                                   /* there may be other processes; atomic */
    bool first_ended;                              /* the process that all others come from */
    unsigned unrecorded; /* forked children that lost all of their records, and did not say so */
};

struct gt_recorder_output {
    struct gt_thread_worker *worker; /* at load, as are dir and streams */
    struct gt_streams *streams;      /* records: a stream for each task */
    struct gt_uftrace_dir dir;
    int lock; /* of the directory: users.h */
    struct gt_recorder_packed packed;
    char *view;                       /* the command that shows the recording */
    char sid[GT_UFTRACE_SID_LEN + 1]; /* the session's id */
    bool begun;                       /* gt_recorder_output_start was called; atomic */
    uint64_t began;                   /* the time then; with the lock */
    bool no_worker;                   /* a job was not run; atomic */

    /* On the worker. */
    bool started;        /* the first text files were written */
    bool named;          /* some task has a name */
    bool modules_failed; /* a module's files could not be written */
    bool map_is_stale;   /* the map has a module that task.txt has, or lacks one */
    GArray *failed;      /* jobs to try again, in order; NULL: none failed so far */
    size_t n_found;      /* matches in GT_CODE_FOUND_FILE: see gt_support_code_modules_count */

    struct gt_recorder_shared *shared; /* at load */
};

/* At load: starts the worker, creates the directory and the streams. GT_E_NOMEM, GT_E_IO, errors of
 * gt_uftrace_dir_create and gt_uftrace_dir_open; no thread runs then. */
int gt_recorder_output_create(struct gt_recorder *r, struct gt_error *err);

/* At load, before that: true where this process recorded there before it replaced itself with
 * execve(), or is a forked child of a process that did. */
bool gt_recorder_output_continues(const struct gt_recorder *r);

/* Writes the first text files, at the first call: when the guest is known, before the first task.
 * Takes the lock. */
void gt_recorder_output_start(struct gt_recorder *r);

/* open and close of struct gt_track_sink: a file for the stack. `self` is the recorder. */
bool gt_recorder_output_open_stack(void *self, struct gt_track_thread *t, struct gt_stack *s,
                                   uint64_t time);
void gt_recorder_output_close_stack(void *self, struct gt_stack *s);
/* Machines of several vCPUs: which one runs the stack from now on. */
void gt_recorder_output_put_vcpu(const struct gt_recorder *r, struct gt_stack *s,
                                 struct gt_stream *out, uint32_t depth, uint64_t time);

/* Opens a task with a name (15 bytes are kept). NULL: refused, and counted. */
struct gt_stream *gt_recorder_output_open_task(struct gt_recorder *r, uint32_t id, const char *name,
                                               uint64_t time);

/* `added` of struct gt_support_modules; `self` is the recorder. On the worker. */
void gt_recorder_output_module_added(void *self, struct gt_support_module *m);

/* `code_found` of struct gt_support_modules: code of a machine was recognised at a new place. With
 * the lock. */
void gt_recorder_output_code_found(void *self);

/* Writes where code was recognised, if that is not in the file yet. On the worker. Errors of
 * gt_support_code_modules_write. */
int gt_recorder_output_put_found(struct gt_recorder *r, struct gt_error *err);

/* Records the name of the vCPU's task. NULL: the name that the kernel has; `own`: of the calling
 * thread. False: there is none, or it is recorded already. */
bool gt_recorder_output_name(struct gt_vcpu *v, const char *name, bool own, uint64_t time);

/* User mode, before the program exits: reads the names of all threads, which may be gone when QEMU
 * reports the exit. */
void gt_recorder_output_keep_names(struct gt_recorder *r);

/* Records the name of a machine's context. */
void gt_recorder_output_name_stack(struct gt_recorder *r, struct gt_stack *s, const char *name,
                                   uint64_t time);

/* In a forked child: drops the parent's counts and failed jobs. */
void gt_recorder_output_forked(struct gt_recorder *r, uint32_t parent);

/* Tries failed jobs again, from any thread: text files are complete then. GT_E_* of the first that
 * fails, GT_E_IO: the worker cannot be started. */
int gt_recorder_output_put_texts(struct gt_recorder *r, struct gt_error *err);

/* Tries failed jobs again. On the worker. GT_E_* of the first that fails. */
int gt_recorder_output_run_failed(struct gt_recorder *r, struct gt_error *err);

#endif
