/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output forms of `guesttrace events simpletrace`: a file and a row for each.
 */
#ifndef GT_EVENTS_SIMPLETRACE_SIMPLETRACE_H
#define GT_EVENTS_SIMPLETRACE_SIMPLETRACE_H

#include "base/output.h"

#include <guesttrace/simpletrace.h>

struct gt_simpletrace_form {
    /* Called before the first record; the result is `self` of the other functions. */
    void *(*begin)(struct gt_output *out, const struct gt_trace_declarations *d);
    /* `before` is the timestamp of the previous record in the trace, selected or not; for the first
     * record its own timestamp. */
    void (*record)(void *self, const struct gt_trace_record *r, uint64_t before);
    /* Called after the last record, or after an error: completes the output and frees self. */
    void (*end)(void *self);
};

extern const struct gt_simpletrace_form gt_simpletrace_text;
extern const struct gt_simpletrace_form gt_simpletrace_json;
extern const struct gt_simpletrace_form gt_simpletrace_chrome;
extern const struct gt_simpletrace_form gt_simpletrace_stats;
extern const struct gt_simpletrace_form gt_simpletrace_stats_json;

#endif
