/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands that sum up a recording of calls share: its opening, the part of it that is
 * read, names as they are shown, the output.
 */
#ifndef GT_CLI_READING_H
#define GT_CLI_READING_H

#include "cli/opened.h"
#include "cli/window.h"

struct gt_cli_reading_options {
    struct gt_cli_opened_options opened;
    bool demangle;
    struct gt_cli_window_options window;
};

/* Rows of a table of options; `member` is the struct gt_cli_reading_options in `options`. */
#define GT_READING_OPTIONS(options, member)                                                        \
    GT_WINDOW_OPTIONS(options, member.window),                                                     \
        {"elf",                                                                                    \
         'e',                                                                                      \
         GT_OPTION_FILE,                                                                           \
         .repeat = true,                                                                           \
         .value = "ELF[:OFFSET]",                                                                  \
         .help = "etrace streams: take functions from this file",                                  \
         .heading = GT_UNDER_NAMES,                                                                \
         .offset = offsetof(options, member.opened.elf)},                                          \
        {"demangle",                                                                               \
         .type = GT_OPTION_FLAG,                                                                   \
         .initial = true,                                                                          \
         .help = "demangle C++ and Rust names (the default)",                                      \
         .heading = GT_UNDER_NAMES,                                                                \
         .offset = offsetof(options, member.demangle)},                                            \
        {"no-demangle",                                                                            \
         .type = GT_OPTION_FLAG,                                                                   \
         .off = true,                                                                              \
         .help = "do not demangle names",                                                          \
         .heading = GT_UNDER_NAMES,                                                                \
         .offset = offsetof(options, member.demangle)},                                            \
        GT_QUIET_OPTION(options, member.opened.quiet),                                             \
        GT_PAGER_OPTIONS(options, member.opened.pager)

struct gt_cli_reading {
    struct gt_cli_opened *opened;
    const struct gt_cli_reading_options *options;
    struct gtrace *trace;
    struct gt_cli_window window;
    struct gt_cli_pager *pager; /* gt_cli_reading_start sets it */
    bool is_empty;              /* what the options choose has no calls */
};

/* The output; it is finished by gt_cli_reading_finish, if this returned 0. GT_E_IO. */
int gt_cli_reading_start(struct gt_cli_reading *r, struct gt_error *err);
int gt_cli_reading_finish(struct gt_cli_reading *r, struct gt_error *err);

/* Nothing is left to be shown: GT_E_NOT_FOUND where the options did not mean that, else 0. Where a
 * pattern matches nothing, that is reported instead. */
int gt_cli_reading_nothing(struct gt_cli_reading *r, struct gt_error *err);

/* A comment line, if times are the guest's instructions; not with --quiet. */
void gt_cli_reading_put_clock(struct gt_cli_reading *r);

/* The function; its name as it is shown. */
struct gtrace_function gt_cli_reading_function(const struct gt_cli_reading *r, uint32_t function);
const char *gt_cli_reading_name(const struct gt_cli_reading *r, uint32_t function);

/* Opens operands[0], the only one, or else the default recording, calls `run`, which may print, and
 * reports what went wrong, also what the recording has of damage. Returns the exit status. */
int gt_cli_reading_run(const struct gt_cli_command *self, const struct gt_cli_reading_options *o,
                       size_t n, char **operands,
                       int (*run)(struct gt_cli_reading *r, const void *user, struct gt_error *err),
                       const void *user);

#endif
