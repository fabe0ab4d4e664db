/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a report that concerns one source file: counts of its lines, and its functions. */
#ifndef GT_ETRACE_COVERAGE_SUMMARY_H
#define GT_ETRACE_COVERAGE_SUMMARY_H

#include "etrace/coverage/lines.h"

/* A source line's count: the sum of the counts in all functions with code in it. If blocks of some
 * of these end in the line (flow.h), only those functions are summed, as in gcov: the line of a
 * lambda counts the lambda's executions, not its creation. */
struct gt_coverage_total {
    uint32_t line;
    uint64_t count;
};

/* Returns the totals of one file by line, without line 0 and unlisted lines; free them with
 * g_array_unref. *at is the index of the file's first line in r->lines, and is moved to the end of
 * its lines. */
GArray *gt_coverage_totals(const struct gt_coverage_report *r, uint32_t file, guint *at);

/* Returns the functions that begin in the file, whose totals these are, sorted by line and name.
 * Functions of one name in one line are merged, with the sum of their calls. Functions that begin
 * in the same line get the same end. Free the array with g_array_unref. */
GArray *gt_coverage_functions_of(const struct gt_coverage_report *r, uint32_t file,
                                 const GArray *totals);

#endif
