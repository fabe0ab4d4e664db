/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guesttrace.stats: statistics of a recording, one line "key=value" each. Values are decimal
 * numbers, except `error`, which is a sentence. Keys:
 *   calls, matched, tasks, records, bytes, lost_records, waits, processes
 *   host_clock     processes whose times are the host's; 0: all times are instructions
 *   machine        1: of a machine; 0: of a program
 *   outside        a path: the first process went on with that program, which ran outside QEMU
 *   unfinished     1: the first process has executed another program, and was killed in it
 *   anomaly.NAME   how often the tracker was not sure: how far not to trust the trace
 *   rule.NAME      how returns were decided that did not match their calls: src/track/returns.c
 *   count.NAME     what else is worth knowing (track/counters.h has the names of all)
 */
#ifndef GT_RECORDING_TEXTS_STATS_H
#define GT_RECORDING_TEXTS_STATS_H

#include "base/file.h"

#include <stddef.h>
#include <stdint.h>

#define GT_STATS_ANOMALY "anomaly."
#define GT_STATS_RULE    "rule."
#define GT_STATS_COUNT   "count."

#define GT_STATS_HOST_CLOCK "host_clock"
#define GT_STATS_MACHINE    "machine"
#define GT_STATS_UNFINISHED "unfinished"
#define GT_STATS_OUTSIDE    "outside"

void gt_recording_stats_put(struct gt_text *out, const char *key, uint64_t value);

struct gt_recording_stat {
    const char *key, *value; /* in `text` */
};
/* The lines of a file, in order; { 0 } has none. */
struct gt_recording_stats {
    struct gt_recording_stat *item;
    size_t n;
    char *text;
};

/* Splits the text in place and takes it (from malloc; NULL: no lines). Lines without '=' are
 * skipped. GT_E_NOMEM: the text is freed, *out has no lines. */
int gt_recording_stats_parse(struct gt_recording_stats *out, char *text);
void gt_recording_stats_clear(struct gt_recording_stats *s);

/* Returns the value of the first line with the key; NULL: none. */
const char *gt_recording_stats_text(const struct gt_recording_stats *s, const char *key);
/* Returns the value of a key as a number; 0: none, or not a number. */
uint64_t gt_recording_stats_number(const struct gt_recording_stats *s, const char *key);

#endif
