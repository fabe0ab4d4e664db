/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records a machine's console on QEMU's standard output: forwards it byte for byte and stores its
 * lines with the time of the trace (extern.dat, which readers show among the functions).
 *
 * QEMU's standard output is a pipe of ours, or a pseudo-terminal in raw mode where ours is a
 * terminal, so that QEMU and scripts around it behave as without us. Standard input is unchanged:
 * QEMU sets the terminal's modes there. If our reader is gone, the pipe is closed, so that QEMU
 * gets the same error as without us.
 *
 * A line's time is the arrival of its first byte. On the host's clock that is CLOCK_MONOTONIC. On
 * the instruction clock the plugin stores the trace's newest time in the first 8 bytes,
 * little-endian, of DIR/.now, a shared mapping. Without that file lines have no times, unless
 * the trace's own times show that it uses the host's clock.
 */
#ifndef GT_CLI_RECORD_CONSOLE_H
#define GT_CLI_RECORD_CONSOLE_H

#include "base/error.h"
#include "calls/repair/records.h"
#include "cli/record/child.h"

#include <stdbool.h>

struct gt_record_console;

/* True if QEMU's arguments (without its name) put the machine's serial port on standard output:
 * -nographic without -serial, -serial stdio or mon:stdio, a stdio chardev that a serial port or a
 * device has; not -daemonize, nor a display on the terminal. */
bool gt_record_console_on_stdio(char *const *argv);

/* True if the machine (QEMU's arguments without its name; NULL: user mode) has such a console, and
 * our standard output is open. */
bool gt_record_console_is_seen(char *const *machine);

/* `dir`: that of the recording's text files; NULL: there are none, lines are not kept. Call this
 * before QEMU starts; free *out with gt_record_console_free. GT_E_IO: no pipe. */
int gt_record_console_open(const char *dir, struct gt_record_console **out, struct gt_error *err);

/* Before the run: `complete` gets each line, without control characters, when its end has come. */
void gt_record_console_on_line(struct gt_record_console *c,
                               void (*complete)(void *self, const char *line), void *self);

/* And `text` gets what has come of a line whenever more of it has, before its end. */
void gt_record_console_on_text(struct gt_record_console *c,
                               void (*text)(void *self, const char *line), void *self);

/* Returns the output for gt_record_child_run. */
struct gt_record_child_output *gt_record_console_output(struct gt_record_console *c);

/* After the run: ends the last line. */
void gt_record_console_end(struct gt_record_console *c);
/* Call this after the run, for each recording that came of it: adds to its extern.dat the lines
 * with known times, if there are any, and removes DIR/.now. Errors of gt_recording_extern_add. */
int gt_record_console_finish(struct gt_record_console *c, const struct gt_recording_records *at,
                             struct gt_error *err);
/* NULL is fine. */
void gt_record_console_free(struct gt_record_console *c);

#endif
