/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guesttrace.stats: the "key=value" lines in which a plugin says how a recording went. */
#ifndef GT_ANALYSIS_RECORDING_STATS_H
#define GT_ANALYSIS_RECORDING_STATS_H

#include "base/error.h"
#include "format/recording/files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Which file it is, to tell a new one from one that an earlier recording left at the same path. */
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
/* True for one and the same existing file, unchanged. */
bool gt_stats_same(const struct gt_stats_mark *a, const struct gt_stats_mark *b);

/* Reads the file, unless it is the one of the mark (which may be NULL). Lines without '=' are
 * passed over. GT_E_NOT_FOUND: no file, or only the marked one; GT_E_IO, GT_E_RANGE, GT_E_NOMEM. */
int gt_stats_read(const char *dir, const struct gt_stats_mark *older, struct gt_stats *out,
                  struct gt_error *err);
void gt_stats_clear(struct gt_stats *s);

/* NULL where there is none. */
const char *gt_stats_text(const struct gt_stats *s, const char *key);
/* 0 where there is none or it is no number. */
uint64_t gt_stats_number(const struct gt_stats *s, const char *key);

#endif
