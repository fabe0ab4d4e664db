/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An output file of a command: it gets its name when it is complete, and an existing file stays
 * until then; where the file system can do it, it has no name before. An existing file that is not
 * regular (a device, a pipe) is written directly.
 */
#ifndef GT_CLI_OUTPUT_FILE_H
#define GT_CLI_OUTPUT_FILE_H

#include "base/error.h"

#include <stdbool.h>

struct gt_cli_output_file {
    int fd;          /* descriptor to write to */
    char *path;      /* path of the file; symbolic links are resolved */
    char *tmp;       /* ".NAME.PID.tmp" beside it; NULL: fd is open on path */
    bool is_unnamed; /* it has not got that name yet */
};

/* Opens the file; *f needs gt_cli_output_file_finish only after success. GT_E_IO. */
int gt_cli_output_file_open(struct gt_cli_output_file *f, const char *path, struct gt_error *err);
/* Renames the file to its path; removes it if `keep` is false or on an error. GT_E_IO. */
int gt_cli_output_file_finish(struct gt_cli_output_file *f, bool keep, struct gt_error *err);

/* True: both paths are one regular file. A command refuses to write its input. */
bool gt_cli_output_file_same(const char *a, const char *b);

/* Runs what writes a file in a process of its own, so that nothing half written is left however it
 * ends: by Ctrl-C, a signal, also SIGKILL of all of it, or for want of memory. */

/* Calls run(self) in a child, waits for it, and returns what it returned: an exit status. SIGINT,
 * SIGTERM and SIGHUP go to the child. If a signal ended the child, its temporary files beside
 * `path` are removed and the same signal ends this process. Where no child can be made, run is
 * called here. The process has one thread. */
int gt_cli_guard_run(const char *path, int (*run)(void *self), void *self);

#endif
