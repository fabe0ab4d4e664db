/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command's input as a source of a binary execlog. */
#ifndef GT_EXECLOG_DUMP_EXECLOG_INPUT_H
#define GT_EXECLOG_DUMP_EXECLOG_INPUT_H

#include "execlog/format/reader.h"
#include "recording/input.h"

/* Returns the opened input as a source; it can seek if it is a file. */
struct gt_execlog_source gt_execlog_input_source(struct gt_input *in);
/* Returns the bytes of a file; 0: the input is not a file. */
uint64_t gt_execlog_input_size(const struct gt_input *in);

#endif
