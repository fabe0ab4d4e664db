/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that have not returned when their task or the recording ends. */
#ifndef GT_CALLS_RECORDER_OUTPUT_OPEN_CALLS_H
#define GT_CALLS_RECORDER_OUTPUT_OPEN_CALLS_H

#include "base/error.h"
#include "base/file.h"

#include <pthread.h>
#include <stdint.h>

struct gt_stack;
struct gt_recorder;

struct gt_recorder_open_calls {
    pthread_mutex_t lock;
    struct gt_text text; /* lines of the file */
};

/* Nothing is open; also in a forked child, whose parent's other threads may have had the lock. */
void gt_recorder_open_calls_init(struct gt_recorder_open_calls *o);
/* The task's calls of less than that depth end at the time. */
void gt_recorder_open_calls_note(struct gt_recorder_open_calls *o, uint32_t task, uint64_t time,
                                 uint32_t depth);
/* The sink's `ends` where a stack has one task; `recorder` is one. */
void gt_recorder_open_calls_end(void *recorder, struct gt_stack *s, uint64_t time);
/* Appends the lines to GT_OPEN_CALLS_FILE, if there are any. On the worker. Errors of
 * gt_file_append. */
int gt_recorder_open_calls_write(struct gt_recorder *r, struct gt_error *err);

#endif
