/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Observing a recording while it runs: the plugins' own trace events
 * (src/qemu/support/trace-events) and the monitor that controls them. Off unless one of these
 * arguments is given:
 *
 *   trace=PATTERN[+PATTERN...]   switches events on
 *   trace-file=FILE              where they are written; trace-PID by default
 *   trace-socket=PATH            the monitor
 *
 * Its threads have file descriptors of their own (base/thread.h).
 */
#ifndef GT_QEMU_SUPPORT_TRACING_H
#define GT_QEMU_SUPPORT_TRACING_H

#include "base/error.h"
#include "qemu/support/trace-plugin.h"

extern const char *gt_tracing_patterns, *gt_tracing_file, *gt_tracing_socket;

/* Lines of a plugin's table of arguments. */
#define GT_TRACING_ARGUMENTS                                                                       \
    {"trace", GT_ARG_TEXT, &gt_tracing_patterns}, {"trace-file", GT_ARG_TEXT, &gt_tracing_file},   \
    {                                                                                              \
        "trace-socket", GT_ARG_TEXT, &gt_tracing_socket                                            \
    }

/* Call it after the arguments were read. GT_E_USAGE, GT_E_IO. */
int gt_tracing_start(struct gt_error *err);
/* Writes recorded events to the file: before execve(). */
void gt_tracing_flush(void);
/* The same, and stops the monitor. */
void gt_tracing_finish(void);

#endif
