/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report's formats: one row of a table each. */
#ifndef GT_ANALYSIS_COVERAGE_WRITE_H
#define GT_ANALYSIS_COVERAGE_WRITE_H

#include "analysis/coverage/lines.h"
#include "base/file.h"

struct gt_coverage_format {
    const char *name;
    bool needs_lines; /* says nothing of code that has no source line */
    void (*write)(const struct gt_coverage_report *r, struct gt_text *out);
};

/* In the order of help, until NULL. */
const struct gt_coverage_format *gt_coverage_format_at(size_t index);

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

void gt_coverage_write_lcov(const struct gt_coverage_report *r, struct gt_text *out);
void gt_coverage_write_lcov2(const struct gt_coverage_report *r, struct gt_text *out);
void gt_coverage_write_cachegrind(const struct gt_coverage_report *r, struct gt_text *out);
void gt_coverage_write_callgrind(const struct gt_coverage_report *r, struct gt_text *out);
void gt_coverage_write_qcov(const struct gt_coverage_report *r, struct gt_text *out);
void gt_coverage_write_text(const struct gt_coverage_report *r, struct gt_text *out);

#endif
