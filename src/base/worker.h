/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker: a thread inside a foreign process that opens files (ELF, DWARF, text files of the
 * output) without the process noticing: see thread.h. It runs calls one at a time, in order, and
 * each caller waits for its own call; no caller waits for a post.
 */
#ifndef GT_BASE_WORKER_H
#define GT_BASE_WORKER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct gt_thread_worker;

/* Creates the worker and starts its thread. GT_E_NOMEM, GT_E_IO. */
int gt_thread_worker_create(struct gt_thread_worker **out, struct gt_error *err);

/* Runs fn(arg) on the worker's thread and returns when it is done. Any thread may call; a call from
 * within fn runs at once. fn must not wait for a thread that may be in fork() or in another
 * gt_thread_worker_call(). GT_E_IO: the thread could not be started (again, after a fork), fn was
 * not run.
 *
 */
int gt_thread_worker_call(struct gt_thread_worker *w, void (*fn)(void *arg), void *arg);

/* The same with a copy of the data, and returns at once. Runs in the order of the posts, before
 * calls that come later. From within a call or post it runs at once. */
int gt_thread_worker_post(struct gt_thread_worker *w, void (*fn)(void *data), const void *data,
                          size_t size);

/* False: the thread has no descriptor table of its own, so descriptors that fn leaves open are
 * visible to the process. */
bool gt_thread_worker_private_files(const struct gt_thread_worker *w);

/* Ends the thread after the pending calls; later ones are not run (GT_E_IO). */
void gt_thread_worker_stop(struct gt_thread_worker *w);
/* The same, and frees the worker, which has no callers any more. NULL is fine. */
void gt_thread_worker_destroy(struct gt_thread_worker *w);

/* fork(): call prepare before it (prepare waits for the current call and blocks new ones), parent
 * and child after it. The child's thread starts with its first call; descriptors that fn left open
 * are closed there. */
void gt_thread_worker_fork_prepare(struct gt_thread_worker *w);
void gt_thread_worker_fork_parent(struct gt_thread_worker *w);
void gt_thread_worker_fork_child(struct gt_thread_worker *w);

#endif
