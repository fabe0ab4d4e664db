/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One client of a control socket: its input, split into messages, and the answers. Its first byte
 * says what it speaks: `{` is QMP, where a message ends where its brackets close; anything else is
 * lines. A message is run only after the answers before it are sent: a client that does not read
 * has one answer in memory, and its further input waits in the socket.
 */
#ifndef GT_QEMU_SUPPORT_CONTROL_CLIENT_H
#define GT_QEMU_SUPPORT_CONTROL_CLIENT_H

#include "events/library/monitor/monitor.h"

enum { GT_CONTROL_INPUT = 32 << 10 }; /* bytes of a QMP message: a line, each byte escaped */

struct gt_support_control_client {
    const struct gt_events_monitor_table *table;
    size_t line;                        /* most bytes of a line, without its end */
    size_t fill;                        /* bytes of `in` that are not run yet */
    struct gt_events_monitor_scan scan; /* of the first message */
    bool begun, qmp;                    /* the first byte has come; it was a brace */
    bool greeted;                       /* the greeting was sent */
    bool dropping;                      /* input is discarded up to the next newline */
    struct gt_events_monitor_text out;  /* bytes to be sent */
    size_t sent;                        /* those that were */
    char in[GT_CONTROL_INPUT];
};

/* A new client; `greets`: it gets QMP's greeting whatever it speaks. */
void gt_support_control_client_init(struct gt_support_control_client *c,
                                    const struct gt_events_monitor_table *t, size_t line,
                                    bool greets);

/* Runs the first message in `in`, if it is all there, and there is no answer to send. False:
 * nothing can be done before more input has come, or the answer is sent. There is room for input
 * then, if there is no answer. */
bool gt_support_control_client_work(struct gt_support_control_client *c);

/* Answers with an error that belongs to no message. */
void gt_support_control_client_refuse(struct gt_support_control_client *c, const char *what,
                                      size_t most);

void gt_support_control_client_free(struct gt_support_control_client *c);

#endif
