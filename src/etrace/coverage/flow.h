/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts how often a line was entered: gcov's count of a line whose code is in several places or
 * loops within itself.
 *
 * gcov counts basic blocks and the arcs between them. Code without optimisation has the same blocks
 * that gcov counts, so they can be found in it: they begin at targets of branches and after
 * branches and calls. The counts of arcs follow from the counts of blocks. The blocks that end in a
 * line are its own: the line's count is how often they were entered from blocks of other lines,
 * plus the iterations of loops among them. A line without blocks of its own has the count of the
 * blocks that contain it. The exit block of a function belongs to no line, as in gcov, which adds
 * an empty block after the code of functions that return a value.
 */
#ifndef GT_ETRACE_COVERAGE_FLOW_H
#define GT_ETRACE_COVERAGE_FLOW_H

#include "etrace/coverage/rows.h"

/* Sets the counts of the rows [first, end) of one function, whose code is [lo, hi); `returns`: it
 * returns a value. Rows of lines that cannot be counted this way are unchanged. */
void gt_coverage_flow(const struct gt_coverage_program *p, const struct gt_coverage *c,
                      struct gt_coverage_row *first, struct gt_coverage_row *end, uint64_t lo,
                      uint64_t hi, bool returns);

#endif
