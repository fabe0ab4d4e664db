/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace diff` of two recordings of calls: what functions gained. */
#ifndef GT_CLI_DIFF_CALLS_H
#define GT_CLI_DIFF_CALLS_H

#include "base/output.h"
#include "cli/command.h"

struct gt_cli_diff_calls_options {
    const char *sort; /* NULL: self */
    uint64_t limit;   /* lines; 0: all */
    bool wall, json, demangle;
};

/* True for a folder and for a file that is a recording of calls. */
bool gt_cli_diff_calls_is_recording(const char *path);
/* Prints the functions whose calls or times differ; `out` NULL: only finds whether they do. 1:
 * there are some; 0: there are none; errors of gtrace_open and gtrace_changes; GT_E_USAGE: no such
 * order. */
int gt_cli_diff_calls(char *const path[2], const struct gt_cli_diff_calls_options *o,
                      const struct gt_error_notices *notices, struct gt_output *out,
                      struct gt_error *err);

#endif
