/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control=PATH: a socket that takes commands while the guest runs, on a thread of ours that neither
 * QEMU nor the guest sees. A command is a line, its answer is a line: "ok ..." or "error: ...";
 * trace events are switched here, too. A client whose first byte is a brace speaks QMP
 * (events/library/monitor/qmp.c). A client that sends slowly, or nothing, or does not read, delays
 * no other; one too many gets an error.
 */
#ifndef GT_QEMU_SUPPORT_CONTROL_H
#define GT_QEMU_SUPPORT_CONTROL_H

#include "base/error.h"
#include "events/library/monitor/monitor.h"

enum {
    GT_CONTROL_CLIENTS = 32,
    GT_CONTROL_LINE = 4096, /* bytes of a line with its end */
};

struct gt_support_control;

struct gt_support_control_options {
    const char *path;                     /* lives as long as the socket */
    struct gt_events_monitor_table table; /* its commands, too */
    size_t line; /* most bytes of a line without its end; below GT_CONTROL_LINE */
    bool greets; /* every client gets QMP's greeting, which QMP's clients wait for */
};

/* Makes the socket. Clients may connect when this returns; their commands wait for
 * gt_support_control_serve. GT_E_USAGE, GT_E_RANGE, GT_E_EXISTS, GT_E_IO, GT_E_NOMEM: *out is NULL,
 * and no thread runs. */
int gt_support_control_start(struct gt_support_control **out,
                             const struct gt_support_control_options *o, struct gt_error *err);
/* Commands are run from now on. */
void gt_support_control_serve(struct gt_support_control *c);

/* Removes the socket. Returns when no command is under way, and none will be. NULL is fine. */
void gt_support_control_stop(struct gt_support_control *c);

/* In a forked child, which has no such thread: the socket is the parent's. Its memory stays
 * allocated; c must not be used any more. NULL is fine. */
void gt_support_control_fork_child(struct gt_support_control *c);

#endif
