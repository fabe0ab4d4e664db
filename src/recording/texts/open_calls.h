/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * open-calls.txt: which calls had not returned when their task or the recording ended, recording
 * was switched off, or the machine was reset; one line each time that a task had such:
 *
 *   <task decimal> <time decimal> <depth decimal>
 *
 * Records end these calls as well, as uftrace's readers want it: exits of the task at that time,
 * from depths (from 0) below that one, are not returns. Without a depth, no exit at that time is a
 * return.
 */
#ifndef GT_RECORDING_TEXTS_OPEN_CALLS_H
#define GT_RECORDING_TEXTS_OPEN_CALLS_H

#include "base/file.h"

#include <stdint.h>

struct gt_recording_open_calls_line {
    uint32_t task;
    uint32_t depth; /* UINT32_MAX: not said */
    uint64_t time;
};

/* Appends a task's line. */
void gt_recording_open_calls_put(struct gt_text *out, uint32_t task, uint64_t time, uint32_t depth);
/* Calls `take` for each valid line of a whole file, which it changes. */
void gt_recording_open_calls_parse(char *text,
                                   void (*take)(void *self,
                                                const struct gt_recording_open_calls_line *line),
                                   void *self);

#endif
