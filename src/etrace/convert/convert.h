/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of `guesttrace etrace export`: a file and a row for each.
 */
#ifndef GT_ETRACE_CONVERT_CONVERT_H
#define GT_ETRACE_CONVERT_CONVERT_H

#include "base/output.h"
#include "etrace/dump/names.h"
#include "etrace/format/etrace.h"

struct gt_etrace_convert_format {
    const char *name;
    /* Called before the first packet; the files of `names` are located. *self is passed to the
     * other functions. `end` is called in any case, unless begin failed. */
    int (*begin)(struct gt_output *out, struct gt_etrace_names *names, void **self,
                 struct gt_error *err);
    void (*exec)(void *self, uint16_t unit, const struct gt_etrace_exec *x); /* or NULL */
    void (*event)(void *self, const struct gt_etrace_event *event);          /* or NULL */
    /* Called after the last packet, or after an error: completes the output and frees self. */
    void (*end)(void *self);
};

extern const struct gt_etrace_convert_format gt_etrace_convert_chrome;
extern const struct gt_etrace_convert_format gt_etrace_convert_folded;
extern const struct gt_etrace_convert_format gt_etrace_convert_vcd;

#endif
