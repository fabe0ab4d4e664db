/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data directory while the guest runs: tasks, names of threads, modules. Text files are written
 * on the worker; functions wait for it. What cannot be written is kept and tried again before the
 * next job and at the end, so that a recording goes on without it.
 */
#ifndef GT_PLUGIN_UFTRACE_OUTPUT_H
#define GT_PLUGIN_UFTRACE_OUTPUT_H

#include "plugin/common/modules.h"
#include "plugin/uftrace/vcpu.h"

struct gt_stream;

/* At load: starts the worker, makes the directory and the streams. GT_E_NOMEM, GT_E_IO, errors of
 * gt_uftrace_dir_create and gt_uftrace_dir_open; no thread is left then. */
int gt_output_create(struct gt_error *err);

/* The first text files: once, when the guest is known and before the first task. */
void gt_output_start(void);

/* open and close of struct gt_sink: a file for the stack. */
bool gt_output_open_stack(void *self, struct gt_thread *t, struct gt_stack *s, uint64_t time);
void gt_output_close_stack(void *self, struct gt_stack *s);

/* Opens a task with a name (15 bytes are kept). NULL: refused, and counted. */
struct gt_stream *gt_output_open_task(uint32_t id, const char *name, uint64_t time);

/* `added` of struct gt_modules. On the worker. */
void gt_output_module_added(void *self, struct gt_module *m);

/* `code_found` of struct gt_modules: code of a machine was recognised at a new place. With the
 * lock. */
void gt_output_code_found(void);

/* Writes where code was recognised, if the file does not say so yet. On the worker. Errors of
 * gt_code_modules_write. */
int gt_output_put_found(struct gt_error *err);

/* Records the name of the vCPU's task, unless it is recorded. NULL: the name that the kernel has.
 */
void gt_output_name(struct gt_vcpu *v, const char *name, uint64_t time);

/* User mode, before the program exits: reads the names of all threads, which may be gone when QEMU
 * reports the exit. */
void gt_output_keep_names(void);

/* Records the name of a machine's context. */
void gt_output_name_stack(struct gt_stack *s, const char *name, uint64_t time);

/* In a forked child: what the parent counted and could not write is the parent's. */
void gt_output_forked(uint32_t parent, uint64_t time);

/* Tries again what could not be written. On the worker. GT_E_* of the first that fails. */
int gt_output_run_failed(struct gt_error *err);

#endif
