/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `guesttrace convert` makes of an etrace stream: one file and one row a format.
 */
#ifndef GT_ANALYSIS_EXPORT_EXPORT_H
#define GT_ANALYSIS_EXPORT_EXPORT_H

#include "analysis/stream/names.h"
#include "base/output.h"
#include "format/etrace/etrace.h"

struct gt_convert_format {
    const char *name;
    /* Before the first packet; `names` have their places. *self is given to the others, end in any
     * case but that begin failed. */
    int (*begin)(struct gt_output *out, struct gt_etrace_names *names, void **self,
                 struct gt_error *err);
    void (*exec)(void *self, uint16_t unit, const struct gt_etrace_exec *x); /* or NULL */
    void (*event)(void *self, const struct gt_etrace_event *event);          /* or NULL */
    /* After the last packet, or what came before an error: completes the output, frees self. */
    void (*end)(void *self);
};

extern const struct gt_convert_format gt_convert_chrome;
extern const struct gt_convert_format gt_convert_folded;
extern const struct gt_convert_format gt_convert_vcd;

#endif
