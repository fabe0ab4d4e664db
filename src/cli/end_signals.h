/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first SIGINT, SIGTERM or SIGHUP ends the stream that a command reads, which is not an error;
 * the second ends the command. */
#ifndef GT_CLI_END_SIGNALS_H
#define GT_CLI_END_SIGNALS_H

#include "recording/input.h"

/* Catches the signals until gt_cli_end_signals_restore; use the result as the input's `end`. Calls
 * must not nest. NULL: the signals cannot be blocked. */
const struct gt_recording_input_end *gt_cli_end_signals_catch(void);
/* Restores the former handling; does nothing without a preceding catch. */
void gt_cli_end_signals_restore(void);

#endif
