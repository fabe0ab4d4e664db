/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading guesttrace.stats (format/recording/stats.h) of a recording's directory, if it is new. */
#ifndef GT_ANALYSIS_RECORDING_STATS_H
#define GT_ANALYSIS_RECORDING_STATS_H

#include "base/error.h"
#include "format/recording/files.h"
#include "format/recording/stats.h"

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* Which file it is, to tell a new one from one that an earlier recording left at the same path. */
struct gt_recording_mark {
    dev_t dev;
    ino_t ino; /* 0: no file */
    struct timespec mtime;
};

void gt_recording_mark(const char *dir, const char *name, struct gt_recording_mark *mark);
/* True for one and the same existing file, unchanged. */
bool gt_recording_mark_same(const struct gt_recording_mark *a, const struct gt_recording_mark *b);

/* Reads the file, unless it is the one of the mark (which may be NULL). GT_E_NOT_FOUND: no file, or
 * only the marked one; GT_E_IO, GT_E_RANGE, GT_E_NOMEM. */
int gt_recording_stats_read(const char *dir, const struct gt_recording_mark *older,
                            struct gt_stats *out, struct gt_error *err);

#endif
