/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions for tools that record into one stream: a file, or a reader on a unix socket. */
#ifndef GT_CLI_RECORD_STREAM_H
#define GT_CLI_RECORD_STREAM_H

#include "base/error.h"
#include "cli/record/recording.h"

/* Returns the stream's target for the plugin, with an absolute path; free it with g_free. */
char *gt_record_stream_target(const struct gt_record_recording *r);
/* Checks the target; `stream` is its description, "an etrace stream". GT_E_EXISTS: the path is a
 * directory; GT_E_IO and others: no file can be made there. */
int gt_record_stream_check(struct gt_record_recording *r, const char *stream, struct gt_error *err);
/* Prints the size of the file, and the command that shows it. False: the plugin did not start. */
bool gt_record_stream_finish(const struct gt_record_recording *r, const char *command);

#endif
