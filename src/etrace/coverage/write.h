/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of reports: a row of a table for each. */
#ifndef GT_ETRACE_COVERAGE_WRITE_H
#define GT_ETRACE_COVERAGE_WRITE_H

#include "base/file.h"
#include "etrace/coverage/lines.h"

struct gt_coverage_format {
    const char *name;
    bool needs_lines; /* it has no entries for code without a source line */
    void (*write)(const struct gt_coverage_report *r, struct gt_text *out);
};

/* In the order of help, until NULL. */
const struct gt_coverage_format *gt_coverage_format_at(size_t index);

void gt_coverage_write_lcov(const struct gt_coverage_report *r, struct gt_text *out);
void gt_coverage_write_lcov2(const struct gt_coverage_report *r, struct gt_text *out);
void gt_coverage_write_cachegrind(const struct gt_coverage_report *r, struct gt_text *out);
void gt_coverage_write_callgrind(const struct gt_coverage_report *r, struct gt_text *out);
void gt_coverage_write_qcov(const struct gt_coverage_report *r, struct gt_text *out);
void gt_coverage_write_json(const struct gt_coverage_report *r, struct gt_text *out);
void gt_coverage_write_text(const struct gt_coverage_report *r, struct gt_text *out);

#endif
