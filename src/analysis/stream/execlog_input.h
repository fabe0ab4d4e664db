/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A log in execlog's binary form, as a command reads it from what it has opened. */
#ifndef GT_ANALYSIS_STREAM_EXECLOG_INPUT_H
#define GT_ANALYSIS_STREAM_EXECLOG_INPUT_H

#include "analysis/stream/input.h"
#include "format/execlog/reader.h"

/* What was opened as a source of bytes; it can seek where it is a file. */
struct gt_execlog_source gt_execlog_input_source(struct gt_etrace_input *in);
/* Of a file, bytes; 0: it is none. */
uint64_t gt_execlog_input_size(const struct gt_etrace_input *in);

#endif
