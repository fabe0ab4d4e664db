/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that tasks have over time. */
#ifndef GT_ANALYSIS_CALLS_TASK_NAMES_H
#define GT_ANALYSIS_CALLS_TASK_NAMES_H

#include "analysis/calls/calls.h"

#include <glib.h>

/* Adds a name from a time on; one that the task has already changes nothing. At most 15 bytes of it
 * are kept. */
void gt_task_names_add(GArray *names, GStringChunk *texts, uint64_t time, const char *name);
/* All have been added: orders them by time. */
void gt_task_names_order(GArray *names);

/* Calls `take` for each COMM record of a perf-cpuN.dat, in the order of the file. */
void gt_task_names_read(const char *data, size_t size,
                        void (*take)(void *self, uint32_t tid, uint64_t time, const char *name),
                        void *self);

#endif
