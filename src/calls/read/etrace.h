/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An etrace stream as a recording of calls: calls are reconstructed from the code that ran (see
 * etrace/dump/exec_stack.h), and packed. A unit of the stream is a task, its number + 1.
 */
#ifndef GT_CALLS_READ_ETRACE_H
#define GT_CALLS_READ_ETRACE_H

#include "base/error.h"
#include "base/notice.h"

#include <stdbool.h>

/* True where the stream at the path, or its programs (until NULL; NULL: none) say that it is one.
 */
bool gt_calls_is_etrace(const char *path, const char *const *elf);
/* Reads the stream to its end, and makes a compact file of its calls in memory: a descriptor, which
 * the caller closes. Errors of gt_etrace_walk, gt_etrace_names_load and gt_etrace_names_locate. */
int gt_calls_of_etrace(const char *path, const char *const *elf, const struct gt_notices *notices,
                       struct gt_error *err);

#endif
