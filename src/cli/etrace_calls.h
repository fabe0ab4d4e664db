/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An etrace stream as a recording of calls: calls are reconstructed from the code that ran (see
 * etrace/dump/exec_stack.h), and packed. A unit of the stream is a task, its number + 1.
 */
#ifndef GT_CLI_ETRACE_CALLS_H
#define GT_CLI_ETRACE_CALLS_H

#include "base/error.h"

#include <stdbool.h>

/* True where the path, or the programs (until NULL; NULL: none) say that it is a stream. */
bool gt_cli_etrace_calls_are(const char *path, const char *const *elf);
/* Reads it to its end, and makes a compact file of its calls in memory: a descriptor, which the
 * caller closes. Errors of gt_etrace_walk, gt_etrace_names_load and gt_etrace_names_locate. */
int gt_cli_etrace_calls_make(const char *path, const char *const *elf,
                             const struct gt_error_notices *notices, struct gt_error *err);

#endif
