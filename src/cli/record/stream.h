/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tools share that record into one stream: a file, or a reader on a unix socket. */
#ifndef GT_CLI_RECORD_STREAM_H
#define GT_CLI_RECORD_STREAM_H

#include "base/error.h"
#include "cli/record/recording.h"

/* What the stream's target is in QEMU's working directory, which is ours; free with g_free. */
char *gt_record_stream_target(const struct gt_recording *r);
/* GT_E_EXISTS: a directory is where the stream, "an etrace stream", is to go; GT_E_IO and the like:
 * no file can be made there. */
int gt_record_stream_check(struct gt_recording *r, const char *stream, struct gt_error *err);
/* Says how long a file has become, and the command that shows it. False: the plugin did not begin.
 */
bool gt_record_stream_finish(const struct gt_recording *r, const char *command);

#endif
