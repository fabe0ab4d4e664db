/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An etrace stream as a recording of calls: calls are reconstructed from the code that ran (see
 * etrace/dump/exec_stack.h), and packed. A unit of the stream is a task, its number + 1.
 */
#ifndef GT_CLI_ETRACE_CALLS_H
#define GT_CLI_ETRACE_CALLS_H

#include "calls/read/calls.h"

/* Errors of gt_etrace_walk, gt_etrace_names_load and gt_etrace_names_locate. */
extern const struct gt_calls_other gt_etrace_calls;

#endif
