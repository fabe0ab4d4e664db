/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace dump` of a binary execlog: its text, all lines or a query's. */
#ifndef GT_EXECLOG_DUMP_EXECLOG_TEXT_H
#define GT_EXECLOG_DUMP_EXECLOG_TEXT_H

#include "base/error.h"
#include "base/output.h"
#include "execlog/format/reader.h"
#include "execlog/format/text.h"
#include "recording/input.h"

struct gt_execlog_dump_options {
    uint64_t from, to; /* 0: not given */
    const char *pc, *mem;
    bool values;
};

/* True if an option was given that applies only to binary logs. */
bool gt_execlog_dump_asked(const struct gt_execlog_dump_options *o);
/* Converts the options to a query. GT_E_USAGE: an option is invalid. */
int gt_execlog_dump_query(const struct gt_execlog_dump_options *o, struct gt_execlog_query *out,
                          struct gt_error *err);
/* Writes the text. Returns 0 or an error; GT_E_FORMAT also if chunks were left out or the log has
 * no END, for which a notice was given. */
int gt_execlog_dump(const struct gt_error_notices *notices, struct gt_recording_input *in,
                    const struct gt_execlog_query *q, bool values, struct gt_output *out,
                    struct gt_error *err);

/* A command's input as a source of a binary execlog. */

/* Returns the opened input as a source; it can seek if it is a file. */
struct gt_execlog_source gt_execlog_input_source(struct gt_recording_input *in);
/* Returns the bytes of a file; 0: the input is not a file. */
uint64_t gt_execlog_input_size(const struct gt_recording_input *in);

#endif
