/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report has of one source file: counts of its lines, and its functions. */
#ifndef GT_ANALYSIS_COVERAGE_SUMMARY_H
#define GT_ANALYSIS_COVERAGE_SUMMARY_H

#include "analysis/coverage/lines.h"

/* A source line's count: the sum of what functions have of it. Where blocks of some end in the line
 * (flow.h) it is the sum of those, as in gcov: a lambda's line counts what the lambda
 * does, not that it was made there. */
struct gt_coverage_total {
    uint32_t line;
    uint64_t count;
};

/* Of one file, by line, without line 0 and what is not listed; g_array_unref. *at is where the
 * file's lines begin in r->lines, and then where they end. */
GArray *gt_coverage_totals(const struct gt_coverage_report *r, uint32_t file, guint *at);

/* The functions that begin in the file, by line and name, those of one name in one line as one,
 * with the sum of their calls. What begins in one line ends in one line, or its end is not known.
 * g_array_unref. */
GArray *gt_coverage_functions_of(const struct gt_coverage_report *r, uint32_t file);

#endif
