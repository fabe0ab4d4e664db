/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * open-calls.txt: which calls had not returned when their task or the recording ended; one line for
 * each task that had such:
 *   <task decimal> <time decimal>
 * Records end these calls as well, as uftrace's readers want it: exits of the task at that time are
 * no returns.
 */
#ifndef GT_FORMAT_RECORDING_OPEN_CALLS_H
#define GT_FORMAT_RECORDING_OPEN_CALLS_H

#include "base/file.h"

#include <stdint.h>

/* Appends a task's line. */
void gt_open_calls_put(struct gt_text *out, uint32_t task, uint64_t time);
/* Calls `take` for each valid line of a whole file, which it changes. */
void gt_open_calls_parse(char *text, void (*take)(void *self, uint32_t task, uint64_t time),
                         void *self);

#endif
