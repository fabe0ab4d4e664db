/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The monitor: a unix socket for listing and switching the trace events of a running program, with
 * `guesttrace ctl`, by hand, or with programs that talk to QEMU's monitors. It accepts both of
 * QEMU's monitor protocols on the same socket:
 *
 *   info trace-events [PATTERN]             {"execute": "trace-event-get-state", ...}
 *   trace-event NAME|PATTERN on|off         {"execute": "trace-event-set-state", ...}
 *   trace-file [on|off|flush|set [PATH]]    {"execute": "human-monitor-command", ...}
 *
 * A thread of its own, which handles no signals, serves the socket. The program never waits for it.
 */
#ifndef GUESTTRACE_MONITOR_H
#define GUESTTRACE_MONITOR_H

#include <guesttrace/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Listens at the path, with mode 0600, and serves clients on a thread of its own. Returns 0, or a
 * negative enum gt_trace_status with the reason in *err (which may be NULL); then nothing was
 * started. A socket of this user without a listener is replaced; any other file is left alone:
 * GT_TRACE_E_EXISTS, also if this process listens already. GT_TRACE_E_RANGE (the name is too long),
 * GT_TRACE_E_NOT_FOUND, GT_TRACE_E_IO, GT_TRACE_E_NOMEM. A child of fork() has no monitor, and may
 * start one. */
int gt_trace_monitor_start(const char *path, struct gt_trace_error *err);

/* Ends the thread and removes the socket; also done when the program ends through exit(). */
void gt_trace_monitor_stop(void);

#ifdef __cplusplus
}
#endif

#endif
