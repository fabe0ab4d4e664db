/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resets of a machine. No host reports them: they are seen where a vCPU arrives at the first
 * address that the machine ran, and no code, call or return leads there. Calls that were open end
 * there, of the other vCPUs at their next transfer.
 */
#ifndef GT_CALLS_RECORDER_RUN_RESET_H
#define GT_CALLS_RECORDER_RUN_RESET_H

#include "calls/recorder/run/vcpu.h"

struct gt_recorder;

struct gt_run_resets {
    uint64_t first; /* the address; with the lock */
    bool known;     /* it is; with the lock */
    unsigned n;     /* resets so far; atomic */
};

/* Callback: a block begins at that address. */
void gt_run_on_machine_begin(unsigned vcpu, void *code);

/* The machine does not begin where it does after a reset: where that is stays unknown. With the
 * lock, or at load. */
void gt_run_resets_unknown(struct gt_run_resets *resets);

/* At a transfer: the vCPU was reset with the machine, and has not begun anew. On its thread. */
static inline bool gt_run_reset_is_due(const struct gt_run_resets *resets, const struct gt_vcpu *v)
{
    return (int)(v->resets - __atomic_load_n(&resets->n, __ATOMIC_RELAXED)) < 0;
}
void gt_run_reset_follow(struct gt_vcpu *v, struct gt_recorder_score *score);

#endif
