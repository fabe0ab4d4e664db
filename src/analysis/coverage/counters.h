/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What counters of blocks say in the course of a stream: totals, again and again.
 *
 * A counter has a range, and several may have the same one (code that changed, or programs that ran
 * at one place). What it says is its total so far, and the one before. It is the counter of its
 * range that said that total last; where none did (what it said was dropped, or another reader's),
 * the one whose last total is the greatest below; where there is none, or the one before is 0, it
 * is new.
 */
#ifndef GT_ANALYSIS_COVERAGE_COUNTERS_H
#define GT_ANALYSIS_COVERAGE_COUNTERS_H

#include <stdint.h>

enum { GT_COVERAGE_COUNTERS_MAX = 4096 }; /* of a range that are told apart */

struct gt_coverage_counters;

struct gt_coverage_counters *gt_coverage_counters_create(void);
/* The counter of [start, end) says `total`, and `before` before, which is not greater: how much is
 * new of it. */
uint64_t gt_coverage_counters_say(struct gt_coverage_counters *c, uint64_t start, uint64_t end,
                                  uint64_t total, uint64_t before);
void gt_coverage_counters_destroy(struct gt_coverage_counters *c); /* NULL is fine */

#endif
