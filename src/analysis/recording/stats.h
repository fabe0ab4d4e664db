/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads guesttrace.stats, the statistics that a plugin writes at the end of a recording. */
#ifndef GT_ANALYSIS_RECORDING_STATS_H
#define GT_ANALYSIS_RECORDING_STATS_H

#include "base/error.h"
#include "format/recording/files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The identity of a file, to distinguish a new one from that of an earlier recording at the same
 * path. */
struct gt_stats_mark {
    dev_t dev;
    ino_t ino; /* 0: no file */
    struct timespec mtime;
};

struct gt_stat {
    const char *key, *value; /* in `text` */
};
struct gt_stats {
    struct gt_stat *item;
    size_t n;
    char *text;
};

void gt_stats_mark(const char *dir, const char *name, struct gt_stats_mark *mark);
/* True if both are the same existing file, unchanged. */
bool gt_stats_same(const struct gt_stats_mark *a, const struct gt_stats_mark *b);

/* Reads the file, unless it is the file of `older` (which may be NULL). Lines without '=' are
 * skipped. GT_E_NOT_FOUND: no file, or only the older one; GT_E_IO, GT_E_RANGE, GT_E_NOMEM. */
int gt_stats_read(const char *dir, const struct gt_stats_mark *older, struct gt_stats *out,
                  struct gt_error *err);
void gt_stats_clear(struct gt_stats *s);

/* Returns the value of a key; NULL: none. */
const char *gt_stats_text(const struct gt_stats *s, const char *key);
/* Returns the value of a key as a number; 0: none, or not a number. */
uint64_t gt_stats_number(const struct gt_stats *s, const char *key);

#endif
