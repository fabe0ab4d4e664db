/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first SIGINT, SIGTERM or SIGHUP ends the stream that a command reads, which is no error; the
 * second ends the command. One at a time. */
#ifndef GT_CLI_END_SIGNALS_H
#define GT_CLI_END_SIGNALS_H

#include "analysis/stream/input.h"

/* From here until gt_end_signals_restore; pass the result as the input's `end`. NULL where the
 * signals cannot be blocked. */
const struct gt_etrace_end *gt_end_signals_catch(void);
/* As before. Without a catch before it does nothing. */
void gt_end_signals_restore(void);

#endif
