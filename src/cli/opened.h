/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of calls that a command reads through libgtrace (gtrace/gtrace.h), as any program
 * does: its opening, the output, what went wrong.
 */
#ifndef GT_CLI_OPENED_H
#define GT_CLI_OPENED_H

#include "cli/default_recording.h"
#include "cli/pager.h"
#include "gtrace/gtrace.h"

struct gt_cli_opened_options {
    GPtrArray *elf; /* of an etrace stream; NULL: none */
    bool quiet;
    struct gt_cli_pager_options pager;
};

struct gt_cli_opened {
    const struct gt_cli_command *command;
    const struct gt_cli_opened_options *options;
    struct gtrace *trace;
    struct gt_cli_pager *pager;
};

/* Opens operands[0], the only one, or else the default recording, calls `run`, which may print, and
 * reports what went wrong, also what the recording has of damage. Returns the exit status. */
int gt_cli_opened_run(const struct gt_cli_command *self, const struct gt_cli_opened_options *o,
                      size_t n, char **operands,
                      int (*run)(struct gt_cli_opened *r, const void *user, struct gt_error *err),
                      const void *user);
/* In `run`: the output; it is finished by gt_cli_opened_finish, if this returned 0. GT_E_IO. */
int gt_cli_opened_start(struct gt_cli_opened *r, struct gt_error *err);
int gt_cli_opened_finish(struct gt_cli_opened *r, struct gt_error *err);

/* Opens a recording; or an etrace stream, too, with its programs (NULL: none). What takes the
 * notices lives as long as it is open. Errors of gtrace_open. */
int gt_cli_opened_open(const char *path, const struct gt_error_notices *notices,
                       struct gtrace **out, struct gt_error *err);
int gt_cli_opened_open_any(const char *path, GPtrArray *elf, const struct gt_error_notices *notices,
                           struct gtrace **out, struct gt_error *err);
/* What libgtrace says, as an error of ours; returns `status`. */
int gt_cli_opened_fail(struct gt_error *err, int status, const struct gtrace_error *from);
/* The same of what writes; `failed` is errno after it, `name` that of the output. */
int gt_cli_opened_fail_output(struct gt_error *err, int status, const struct gtrace_error *from,
                              int failed, const char *name);

#endif
