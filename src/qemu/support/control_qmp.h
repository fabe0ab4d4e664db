/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's machine protocol on a control socket:
 *
 *     {"execute": NAME, "arguments": {...}, "id": ANY}  ->  {"return": ..., "id": ANY}
 *                                                           {"error": {...}, "id": ANY}
 *
 * A command of the table is "guesttrace-NAME"; it returns {"answer": TEXT}. Beside these there are
 * qmp_capabilities (accepted, not required), query-commands, query-version, and
 * human-monitor-command, which runs a line and returns its answer as one.
 */
#ifndef GT_QEMU_SUPPORT_CONTROL_QMP_H
#define GT_QEMU_SUPPORT_CONTROL_QMP_H

#include "events/library/monitor/text.h"
#include "qemu/support/control_command.h"

/* Appends the greeting, a line. */
void gt_control_qmp_greet(struct gt_monitor_text *out);

/* Runs the message of n bytes and appends its answer, a line. */
void gt_control_qmp(const struct gt_control_table *t, const char *message, size_t n,
                    struct gt_monitor_text *out);

/* Appends an error that belongs to no message. `why` needs no escapes. */
void gt_control_qmp_refuse(struct gt_monitor_text *out, const char *why);

#endif
