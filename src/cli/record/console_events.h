/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest events at texts of a machine's console, at=console "REGEX": record sees the console, and
 * tells the plugin that such an event has happened (recording/texts/message.h).
 *
 * An event without an argument happens when the text has come, so at a prompt as well, once a line.
 * One with an argument, which gets the line, happens at the line's end; as does one whose
 * expression depends on what follows: $ \> \b \B \'.
 */
#ifndef GT_CLI_RECORD_CONSOLE_EVENTS_H
#define GT_CLI_RECORD_CONSOLE_EVENTS_H

#include "cli/record/recording.h"
#include "events/library/dynamic/dynamic.h"

struct gt_record_console_events;

/* Before the run: if some of `events` (of the file at `path`; they outlive it) are at=console,
 * makes r->console and r->console_events. GT_E_USAGE: an event is invalid; GT_E_UNSUPPORTED: this
 * run sees no console; GT_E_EXISTS, GT_E_IO: no FIFO. */
int gt_record_console_events_open(struct gt_record_recording *r,
                                  const struct gt_events_dynamic_events *events, const char *path,
                                  struct gt_error *err);
/* For those below `c` may be NULL. Appends the plugin's argument. */
void gt_record_console_events_arguments(const struct gt_record_console_events *c, GString *out);
/* After the run: prints what did not reach the plugin. */
void gt_record_console_events_report(const struct gt_record_console_events *c);
void gt_record_console_events_free(struct gt_record_console_events *c);

#endif
