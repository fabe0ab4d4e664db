/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings of calls without a name: `record` writes uftrace.gtrace, or uftrace.data where the
 * recording is a directory, and commands that read one take the newer of both.
 */
#ifndef GT_CLI_DEFAULT_RECORDING_H
#define GT_CLI_DEFAULT_RECORDING_H

#include "cli/command.h"

#define GT_DEFAULT_FILE      "uftrace.gtrace"
#define GT_DEFAULT_DIRECTORY "uftrace.data"

/* Paragraphs of the help of such commands. */
#define GT_DEFAULT_RECORDING_HELP                                                                  \
    "Without RECORDING the command takes " GT_DEFAULT_FILE " or " GT_DEFAULT_DIRECTORY             \
    " of the current folder, the newer one if both exist."
#define GT_RECORDING_HELP                                                                          \
    "RECORDING is a compact file, a uftrace directory, or an etrace stream with its programs "     \
    "(--elf). " GT_DEFAULT_RECORDING_HELP

/* Returns the name that was given, or else that of the recording in the current folder. Where both
 * are there, it prints which one it is, unless `quiet`. NULL: there is none. */
const char *gt_cli_default_recording(const struct gt_cli_command *self, const char *given,
                                     bool quiet);
/* Notices of a command that has --quiet. */
struct gt_error_notices gt_cli_default_notices(const struct gt_cli_command *self, bool quiet);

#define GT_QUIET_OPTION(options, member)                                                           \
    {                                                                                              \
        "quiet", 'q', GT_OPTION_FLAG, .help = "print no notices: only results and errors",         \
                                      .heading = GT_UNDER_OUTPUT,                                  \
                                      .offset = offsetof(options, member)                          \
    }

/* Adds to the error of a recording that could not be opened what it may be instead: a function of
 * the one that is in the current folder. */
void gt_cli_default_recording_explain(const struct gt_cli_command *self, const char *path,
                                      struct gt_error *err);

/* The usage error where gt_cli_default_recording returns NULL. */
int gt_cli_default_recording_missing(const struct gt_cli_command *self);

#endif
