/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "recording: 12.3 M records, 197 MB, 3.2 s" on standard error while a recording grows.
 *
 * The line is shown only on a terminal in line mode on which we are in the foreground: a guest that
 * draws on the terminal, or has its console there, is not disturbed. The cursor stays at the start
 * of the line, so that the guest's output overwrites it.
 */
#ifndef GT_CLI_RECORD_PROGRESS_H
#define GT_CLI_RECORD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct gt_record_progress {
    const char *dir; /* directory whose *.dat files are measured */
    uint64_t record; /* bytes of one record */
    uint64_t start;  /* gt_base_clock_monotonic */
    bool shown;
};

/* True if standard error is a terminal. */
bool gt_record_progress_possible(void);
void gt_record_progress_start(struct gt_record_progress *p, const char *dir, uint64_t record);
void gt_record_progress_tick(void *progress);
/* Returns the seconds since the start. */
double gt_record_progress_seconds(const struct gt_record_progress *p);
/* Removes the line. */
void gt_record_progress_end(struct gt_record_progress *p);

#endif
