/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that a command makes: it has its name when it is complete, and what was there before stays
 * until then. What is there and is no regular file (a device, a pipe) is written to as it is.
 */
#ifndef GT_CLI_OUTPUT_FILE_H
#define GT_CLI_OUTPUT_FILE_H

#include "base/error.h"

#include <stdbool.h>

struct gt_output_file {
    int fd;     /* to write to */
    char *path; /* a link is followed */
    char *tmp;  /* ".NAME.PID.tmp" beside it; NULL: fd is path itself */
};

/* *f needs gt_output_file_finish only after success. GT_E_IO. */
int gt_output_file_open(struct gt_output_file *f, const char *path, struct gt_error *err);
/* Gives the file its name; keep false, or an error: removes it. GT_E_IO. */
int gt_output_file_finish(struct gt_output_file *f, bool keep, struct gt_error *err);

#endif
