/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Observing a recording while it runs: the plugins' own trace events
 * (src/qemu/support/trace-events). They are off unless one of these arguments is given, or a
 * command of the control socket (control.h) switches them on:
 *
 *   trace=PATTERN[+PATTERN...]   switches events on
 *   trace-file=FILE              where they are written; trace-PID by default
 *   trace-socket=PATH            control=PATH, as it was called
 *
 * Its threads have file descriptors of their own (base/thread.h).
 */
#ifndef GT_QEMU_SUPPORT_TRACING_H
#define GT_QEMU_SUPPORT_TRACING_H

#include "base/error.h"
#include "qemu/support/trace-plugin.h"

extern const char *gt_support_tracing_patterns, *gt_support_tracing_file,
    *gt_support_tracing_control, *gt_support_tracing_old_socket;

/* Lines of a plugin's table of arguments. */
#define GT_TRACING_ARGUMENTS                                                                       \
    {"trace", GT_ARG_TEXT, &gt_support_tracing_patterns},                                          \
        {"trace-file", GT_ARG_TEXT, &gt_support_tracing_file},                                     \
    {                                                                                              \
        "trace-socket", GT_ARG_TEXT, &gt_support_tracing_old_socket                                \
    }
/* And one of a plugin whose socket has no commands beside those. */
#define GT_TRACING_CONTROL                                                                         \
    {                                                                                              \
        "control", GT_ARG_TEXT, &gt_support_tracing_control                                        \
    }

/* Sets a plugin's own control= where it was given in its old spelling; says so. GT_E_USAGE: both
 * were given. */
int gt_support_tracing_take_old_socket(const char **path, struct gt_error *err);

/* Call it after the arguments were read. GT_E_USAGE, GT_E_IO. */
int gt_support_tracing_start(struct gt_error *err);
/* Writes recorded events to the file: before execve(). */
void gt_support_tracing_flush(void);
/* The same, and closes the socket of GT_TRACING_CONTROL. */
void gt_support_tracing_finish(void);

#endif
