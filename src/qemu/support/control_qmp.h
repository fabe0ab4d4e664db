/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's machine protocol on a control socket:
 *
 *     {"execute": NAME, "arguments": {...}, "id": ANY}  ->  {"return": ..., "id": ANY}
 *                                                           {"error": {...}, "id": ANY}
 *
 * A command of the table is "guesttrace-NAME"; it returns {"answer": TEXT}. Beside these there are
 * those of the monitor of trace events (events/library/monitor/qmp.c), which parses all messages;
 * human-monitor-command runs a line as this socket has it.
 */
#ifndef GT_QEMU_SUPPORT_CONTROL_QMP_H
#define GT_QEMU_SUPPORT_CONTROL_QMP_H

#include "events/library/monitor/text.h"
#include "qemu/support/control_command.h"

/* Runs the message of n bytes and appends its answer, a line. */
void gt_control_qmp(const struct gt_control_table *t, const char *message, size_t n,
                    struct gt_monitor_text *out);

#endif
