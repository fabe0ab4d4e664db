/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "recording: 12.3 M records, 197 MB, 3.2 s" on standard error while a recording grows.
 *
 * Shown only on a terminal that is ours (foreground) and in line mode: a guest that draws on it, or
 * has its console there, is not disturbed. The line leaves the cursor at its start, so that what
 * the guest prints goes over it.
 */
#ifndef GT_CLI_RECORD_PROGRESS_H
#define GT_CLI_RECORD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct gt_progress {
    const char *dir; /* whose *.dat files are measured */
    uint64_t record; /* bytes of one record */
    uint64_t start;  /* gt_clock_monotonic */
    bool shown;
};

/* True where standard error is a terminal. */
bool gt_progress_possible(void);
void gt_progress_start(struct gt_progress *p, const char *dir, uint64_t record);
void gt_progress_tick(void *progress);
/* Since the start. */
double gt_progress_seconds(const struct gt_progress *p);
/* Removes the line. */
void gt_progress_end(struct gt_progress *p);

#endif
