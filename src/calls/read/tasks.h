/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks, processes and sessions of a recording, from task.txt and the files with tasks' names. */
#ifndef GT_CALLS_READ_TASKS_H
#define GT_CALLS_READ_TASKS_H

#include "calls/read/calls.h"
#include "calls/read/spaces.h"

/* The map that a task has from a time on. */
struct gt_calls_tasks_epoch {
    uint64_t time;
    size_t map;
};

/* It is suspended, or goes on. */
struct gt_calls_tasks_switch {
    uint64_t time;
    bool out, preempted;
};

/* Open calls of the task, of less than that depth, ended. */
struct gt_calls_tasks_end {
    uint64_t time;
    uint32_t depth;
};

struct gt_calls_tasks_task {
    uint32_t parent;             /* of a forked child: the process of its FORK line; else 0 */
    struct gt_calls_task public; /* `names` in the array below */
    GArray *names;               /* struct gt_calls_name, by time */
    GArray *switches; /* struct gt_calls_tasks_switch, by time: what perf says; NULL: nothing */
    GArray *ends;     /* struct gt_calls_tasks_end, by time, depth; NULL: none */
    GArray *epochs;   /* struct gt_calls_tasks_epoch, by time; none: no session */
};

struct gt_calls_tasks {
    GPtrArray *task;     /* struct gt_calls_tasks_task, by index */
    GHashTable *by_id;   /* their indexes, from 1 */
    GArray *process;     /* struct gt_calls_process, by index */
    GHashTable *by_pid;  /* their indexes, from 1 */
    GStringChunk *texts; /* names and paths */
    const struct gt_calls_texts *files;
    struct gt_error_notices notices;
};

/* Reads the texts and adds maps and libraries to the spaces. `first`: ids of tasks that get the
 * first indexes, in that order. GT_E_FORMAT (a line of task.txt), GT_E_IO, GT_E_NOMEM. */
int gt_calls_tasks_read(struct gt_calls_tasks *t, const struct gt_calls_texts *files,
                        struct gt_calls_spaces *spaces, const uint32_t *first, size_t n_first,
                        const struct gt_error_notices *notices, struct gt_error *err);
void gt_calls_tasks_finish(struct gt_calls_tasks *t); /* { 0 } is fine */

/* Adds a task that has records, where there is no line of it; returns its index. */
uint32_t gt_calls_tasks_add(struct gt_calls_tasks *t, uint32_t id);
/* All tasks have been added: orders names, and gives each task a process. */
void gt_calls_tasks_ready(struct gt_calls_tasks *t);
/* UINT32_MAX: there is none. */
static inline uint32_t gt_calls_tasks_find(const struct gt_calls_tasks *t, uint32_t id)
{
    size_t number = GPOINTER_TO_SIZE(g_hash_table_lookup(t->by_id, GUINT_TO_POINTER(id)));
    return number ? (uint32_t)number - 1 : UINT32_MAX;
}
static inline const struct gt_calls_tasks_task *gt_calls_tasks_at(const struct gt_calls_tasks *t,
                                                                  uint32_t index)
{
    return t->task->pdata[index];
}
/* The space that the task is in at the time; *until as gt_calls_spaces_at. */
uint32_t gt_calls_tasks_space(const struct gt_calls_tasks *t, const struct gt_calls_spaces *spaces,
                              uint32_t index, uint64_t time, uint64_t *until);

#endif
