/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine's console on QEMU's standard output: copied on byte for byte, its lines noted with the
 * time of the trace (extern.dat, which readers show among the functions).
 *
 * QEMU's standard output is a pipe of ours, or a pseudo-terminal in raw mode where ours is a
 * terminal, so that QEMU and scripts around it behave as without us. Standard input stays what it
 * is: modes of the terminal are set there. What cannot be copied on any more (our reader is gone)
 * QEMU is told as it would have been: the pipe is closed.
 *
 * A line's time is that of its first byte's arrival. On the host's clock that is CLOCK_MONOTONIC.
 * On the instruction clock the plugin says it: OUTPUT/.now holds, in its first 8 bytes,
 * little-endian, the newest time of the trace, which the plugin stores there as it goes (a shared
 * mapping). Where it is missing lines cannot be placed, unless the trace's own times show that it
 * is on the host's clock.
 */
#ifndef GT_CLI_RECORD_CONSOLE_H
#define GT_CLI_RECORD_CONSOLE_H

#include "base/error.h"
#include "cli/record/child.h"

#include <stdbool.h>

#define GT_CONSOLE_EXTERN_FILE "extern.dat"

struct gt_console;

/* True where these arguments, QEMU's without its name, put the machine's serial port on standard
 * output: -nographic without -serial, -serial stdio or mon:stdio, a stdio chardev that a serial
 * port or a device has; not -daemonize, nor a display on the terminal. */
bool gt_console_on_stdio(char *const *argv);

/* Before QEMU starts. *out is to be given to gt_console_free. GT_E_IO: no pipe. */
int gt_console_open(const char *output, struct gt_console **out, struct gt_error *err);

/* For gt_child_run. */
struct gt_child_output *gt_console_output(struct gt_console *c);

/* After the run: writes OUTPUT/extern.dat if there were lines and their times are known, and
 * removes OUTPUT/.now. Errors of gt_file_replace. */
int gt_console_finish(struct gt_console *c, struct gt_error *err);
/* NULL is fine. */
void gt_console_free(struct gt_console *c);

#endif
