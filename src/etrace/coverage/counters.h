/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Combines the counters of blocks in a stream, which report their totals repeatedly.
 *
 * A counter has a range; several may have the same one (code that changed, or programs that ran at
 * the same address). Each report has the total so far and the previous total. It belongs to the
 * counter of its range whose last total is that previous total; if there is none (a report was
 * dropped, or another reader got it), to the counter with the greatest last total below it; if
 * there is none, or the previous total is 0, to a new counter.
 */
#ifndef GT_ETRACE_COVERAGE_COUNTERS_H
#define GT_ETRACE_COVERAGE_COUNTERS_H

#include <stdint.h>

enum { GT_COVERAGE_COUNTERS_MAX = 4096 }; /* counters of a range that are distinguished */

struct gt_coverage_counters;

struct gt_coverage_counters *gt_coverage_counters_create(void);
/* Takes a report: the counter of [start, end) has `total`, and had `before`, which is not greater.
 * Returns the part of the total that was not reported before. */
uint64_t gt_coverage_counters_say(struct gt_coverage_counters *c, uint64_t start, uint64_t end,
                                  uint64_t total, uint64_t before);
void gt_coverage_counters_destroy(struct gt_coverage_counters *c); /* NULL is fine */

#endif
