/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often a line was entered: gcov's count of a line whose code is in several places or loops
 * within itself.
 *
 * gcov counts basic blocks and the arcs between them. Code without optimisation has the same blocks
 * as gcov saw, so they are found in it again: they begin where a branch goes and behind branches
 * and calls. How often an arc was taken follows from how often the blocks ran. A line's own blocks
 * are those that end in it: its count is how often they were entered from other lines' blocks, and
 * the rounds of loops among them. A line that no block ends in counts what the blocks do that have
 * it. The block that a function leaves by is no line's own, as in gcov: where a value is returned
 * gcov has an empty one behind the code.
 */
#ifndef GT_ANALYSIS_COVERAGE_FLOW_H
#define GT_ANALYSIS_COVERAGE_FLOW_H

#include "analysis/coverage/rows.h"

/* Sets the counts of the rows of one function, [first, end), whose code is [lo, hi), and which
 * `returns` a value or none; rows of lines that cannot be counted so are left as they are. */
void gt_coverage_flow(const struct gt_coverage_program *p, const struct gt_coverage *c,
                      struct gt_coverage_row *first, struct gt_coverage_row *end, uint64_t lo,
                      uint64_t hi, bool returns);

#endif
