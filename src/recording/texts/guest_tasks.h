/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-tasks.txt: the thread of a Linux guest that a task was; one line each time its name
 * changed:
 *   <task decimal> <pid decimal> <tgid decimal> <comm>
 * <comm> is the rest of the line after the third blank: at most 15 bytes, control characters
 * replaced.
 */
#ifndef GT_RECORDING_TEXTS_GUEST_TASKS_H
#define GT_RECORDING_TEXTS_GUEST_TASKS_H

#include "base/file.h"

#include <stdbool.h>
#include <stdint.h>

struct gt_recording_guest_task {
    uint32_t task, pid, tgid;
    char comm[16];
};

/* Appends the task's line. */
void gt_recording_guest_task_put(struct gt_text *out, const struct gt_recording_guest_task *t);
/* Parses a line without its newline. False: invalid. A longer comm is cut. */
bool gt_recording_guest_task_parse(const char *line, struct gt_recording_guest_task *out);

#endif
