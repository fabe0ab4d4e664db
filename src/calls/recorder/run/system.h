/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines: passes handlers that begin and end, system calls, and loads and stores of stack
 * pointers from the host to the tracker (track/machine.h).
 */
#ifndef GT_CALLS_RECORDER_RUN_SYSTEM_H
#define GT_CALLS_RECORDER_RUN_SYSTEM_H

#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/translate/code.h"

#include <glib.h>

struct gt_system {
    struct gt_register sp, returned_sp, first_argument; /* as struct gt_arch names them */
    /* Addresses after blocks that ended with a load of the stack pointer, as hosts that count
     * instructions end blocks anywhere. NULL: none so far. With the lock. */
    GHashTable *splits;
};

/* Adds the block's further callbacks: at exception returns, at system calls, and at loads and
 * stores of the stack pointer. With the lock. */
void gt_machine_watch(const struct gt_translation *t, struct gt_code *code);

/* A handler begins with the block. On the vCPU's thread, which is recorded. */
void gt_machine_enter_at(struct gt_vcpu *v, struct gt_score *score, struct gt_code *code);

/* Event of the host: an interrupt or an exception. `self` is the recorder. Takes the lock. */
void gt_on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from, uint64_t to);

/* After each transfer on the slow path: the vCPU's stack may be another one now. */
void gt_machine_transferred(struct gt_vcpu *v, uint64_t time);

#endif
