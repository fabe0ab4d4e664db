/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `guesttrace simpletrace` makes of a trace: one file and one row a form.
 */
#ifndef GT_ANALYSIS_SIMPLETRACE_SIMPLETRACE_H
#define GT_ANALYSIS_SIMPLETRACE_SIMPLETRACE_H

#include "base/output.h"

#include <guesttrace/simpletrace.h>

struct gt_simpletrace_form {
    /* Before the first record; `self` is given to the others. */
    void *(*begin)(struct gt_output *out, const struct gt_trace_declarations *d);
    /* `before` is the timestamp of the record before in the trace, shown or not; the record's own
     * for the first. */
    void (*record)(void *self, const struct gt_trace_record *r, uint64_t before);
    /* After the last record, or what came before an error: completes the output, frees self. */
    void (*end)(void *self);
};

extern const struct gt_simpletrace_form gt_simpletrace_text;
extern const struct gt_simpletrace_form gt_simpletrace_json;
extern const struct gt_simpletrace_form gt_simpletrace_chrome;
extern const struct gt_simpletrace_form gt_simpletrace_stats;
extern const struct gt_simpletrace_form gt_simpletrace_stats_json;

#endif
