/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that is off from the beginning, until somebody switches it on at the control socket:
 * the guest's code has no callbacks, and runs as without the plugin. When it is switched on, QEMU
 * discards what it has translated and translates it again, with callbacks. That needs a vCPU's
 * thread: it takes effect when a system call of a program returns, at the next interrupt of a
 * machine (QEMU 10.2 and later), when a vCPU waits, or when new code is translated.
 *
 * Calls that are open then are not known: the recording begins with what is called from then on.
 */
#ifndef GT_PLUGIN_UFTRACE_DORMANT_H
#define GT_PLUGIN_UFTRACE_DORMANT_H

#include "qemu/host.h"

#include <stdbool.h>

struct gt_uftrace_recorder;

struct gt_dormant {
    bool asleep;                  /* code has no callbacks; atomic */
    bool wake;                    /* it is to have them; atomic */
    struct gt_host_events events; /* until then */
};

/* At load, when the filters are made: true: the recording begins so. */
bool gt_dormant_init(struct gt_uftrace_recorder *r);
/* The recording is switched on. Any thread. */
void gt_dormant_wake(struct gt_uftrace_recorder *r);

#endif
