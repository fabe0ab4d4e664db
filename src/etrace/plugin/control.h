/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control=PATH: commands while the guest runs (qemu/support/control.h).
 *
 *   counts   flags=coverage: puts how often each block ran until now
 *   flush    writes the packets handed over until now
 *   status   how much was written
 */
#ifndef GT_ETRACE_PLUGIN_CONTROL_H
#define GT_ETRACE_PLUGIN_CONTROL_H

#include "base/error.h"

struct gt_support_control;
struct gt_etrace;

struct gt_etrace_control {
    struct gt_support_control *socket; /* NULL: none */
    unsigned snapshots;                /* counts commands so far; the socket's thread's alone */
};

/* Returns when the socket accepts clients. The path lives as long as the recorder. Errors of
 * gt_support_control_start. */
int gt_etrace_control_start(struct gt_etrace *e, const char *path, struct gt_error *err);
/* Returns when no command is under way; not started is fine. */
void gt_etrace_control_stop(struct gt_etrace *e);
/* In a forked child: the socket is the parent's. */
void gt_etrace_control_fork_child(struct gt_etrace *e);

#endif
