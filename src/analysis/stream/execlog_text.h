/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace dump` of a log in execlog's binary form: its text, all of it or the lines asked for.
 */
#ifndef GT_ANALYSIS_STREAM_EXECLOG_TEXT_H
#define GT_ANALYSIS_STREAM_EXECLOG_TEXT_H

#include "analysis/stream/input.h"
#include "base/notice.h"
#include "base/output.h"
#include "format/execlog/text.h"

struct gt_dump_execlog_options {
    uint64_t from, to; /* 0: not given */
    const char *pc, *mem;
    bool values;
};

/* Some option was given that only such logs have. */
bool gt_dump_execlog_asked(const struct gt_dump_execlog_options *o);
/* GT_E_USAGE: an option makes no sense. */
int gt_dump_execlog_query(const struct gt_dump_execlog_options *o, struct gt_execlog_query *out,
                          struct gt_error *err);
/* 0, or what ended it; GT_E_FORMAT also where chunks were left out, or the log has no end, which
 * was told already. */
int gt_dump_execlog(const struct gt_notices *notices, struct gt_etrace_input *in,
                    const struct gt_execlog_query *q, bool values, struct gt_output *out,
                    struct gt_error *err);

#endif
