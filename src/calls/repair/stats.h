/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads guesttrace.stats, the statistics that a plugin writes at the end of a recording. */
#ifndef GT_CALLS_REPAIR_STATS_H
#define GT_CALLS_REPAIR_STATS_H

#include "base/error.h"
#include "recording/texts/files.h"
#include "recording/texts/stats.h"

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* The identity of a file, to distinguish a new one from that of an earlier recording at the same
 * path. */
struct gt_repair_mark {
    dev_t dev;
    ino_t ino; /* 0: no file */
    struct timespec mtime;
};

void gt_repair_mark(const char *dir, const char *name, struct gt_repair_mark *mark);
/* True if both are the same existing file, unchanged. */
bool gt_repair_mark_same(const struct gt_repair_mark *a, const struct gt_repair_mark *b);

/* Reads the file, unless it is the file of `older` (which may be NULL). GT_E_NOT_FOUND: no file, or
 * only the older one; GT_E_IO, GT_E_RANGE, GT_E_NOMEM. */
int gt_repair_stats_read(const char *dir, const struct gt_repair_mark *older,
                         struct gt_recording_stats *out, struct gt_error *err);
#endif
