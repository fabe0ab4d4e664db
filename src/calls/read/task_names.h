/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about tasks from other files than task.txt: their names over time, when they were
 * suspended, the threads of a Linux guest. */
#ifndef GT_CALLS_READ_TASK_NAMES_H
#define GT_CALLS_READ_TASK_NAMES_H

#include "calls/read/tasks.h"

/* The task runs a program, whose base name it has. */
void gt_calls_task_names_add_program(struct gt_calls_tasks *t, struct gt_calls_tasks_task *task,
                                     uint64_t time, const char *exename);
/* Reads perf-cpuN.dat and guest-tasks.txt, for tasks that are there. GT_E_IO, GT_E_NOMEM,
 * GT_E_FORMAT. */
int gt_calls_task_names_read(struct gt_calls_tasks *t, struct gt_error *err);
/* The call of that depth (from 0) ended at the time, without a return. */
bool gt_calls_task_names_ended(const struct gt_calls_tasks_task *t, uint64_t time, uint32_t depth);
/* All has been added: orders it by time. */
void gt_calls_task_names_order(struct gt_calls_tasks_task *task);

#endif
