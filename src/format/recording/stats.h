/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guesttrace.stats: how a recording went, a line "key=value" each. Values are decimal numbers, but
 * for `error`, which is a sentence. Keys:
 *   calls, matched, tasks, records, bytes, lost_records, waits, processes
 *   anomaly.NAME   how often the tracker was not sure: how far not to trust the trace
 *   rule.NAME      how returns were decided that did not match their calls: src/track/returns.c
 *   count.NAME     what else is worth knowing (track/counters.h has the names of all)
 */
#ifndef GT_FORMAT_RECORDING_STATS_H
#define GT_FORMAT_RECORDING_STATS_H

#include "base/file.h"

#include <stddef.h>
#include <stdint.h>

#define GT_STATS_ANOMALY "anomaly."
#define GT_STATS_RULE    "rule."
#define GT_STATS_COUNT   "count."

void gt_stats_put(struct gt_text *out, const char *key, uint64_t value);

struct gt_stat {
    const char *key, *value; /* in `text` */
};
/* The lines of a file, in its order; { 0 } has none. */
struct gt_stats {
    struct gt_stat *item;
    size_t n;
    char *text;
};

/* Takes the text, which malloc allocated and which it splits in place; NULL has no lines. Lines
 * without '=' are passed over. GT_E_NOMEM: the text is freed, *out has no lines. */
int gt_stats_parse(struct gt_stats *out, char *text);
void gt_stats_clear(struct gt_stats *s);

/* The value of the first line with the key; NULL: no line has it. */
const char *gt_stats_text(const struct gt_stats *s, const char *key);
/* The same as a number; 0: no line has the key, or its value is no number. */
uint64_t gt_stats_number(const struct gt_stats *s, const char *key);

#endif
