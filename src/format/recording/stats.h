/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guesttrace.stats: statistics of a recording, one line "key=value" each. Values are decimal
 * numbers, except `error`, which is a sentence. Keys:
 *   calls, matched, tasks, records, bytes, lost_records, waits, processes
 *   anomaly.NAME   how often the tracker was not sure: how far not to trust the trace
 *   rule.NAME      how returns were decided that did not match their calls: src/track/returns.c
 *   count.NAME     what else is worth knowing (track/counters.h has the names of all)
 */
#ifndef GT_FORMAT_RECORDING_STATS_H
#define GT_FORMAT_RECORDING_STATS_H

#include "base/file.h"

#include <stdbool.h>
#include <stdint.h>

#define GT_STATS_ANOMALY "anomaly."
#define GT_STATS_RULE    "rule."
#define GT_STATS_COUNT   "count."

void gt_stats_put(struct gt_text *out, const char *key, uint64_t value);

/* Splits the next line of the text in place and moves *at after it. Lines without '=' are skipped.
 * False: there is no further line. */
bool gt_stats_next(char **at, const char **key, const char **value);

#endif
