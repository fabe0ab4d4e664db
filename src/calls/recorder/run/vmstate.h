/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States of a machine that are loaded: loadvm, -loadvm, -incoming. No host reports that. What it
 * says is when the machine stops and runs again, and its virtual clock, which is part of the state:
 * where that stands elsewhere after a stop, another state was loaded. All calls end there. If the
 * clock of a state is that of an earlier stop, and its vCPUs are where they were, it was saved
 * then: the calls that were open then are open again.
 */
#ifndef GT_CALLS_RECORDER_RUN_VMSTATE_H
#define GT_CALLS_RECORDER_RUN_VMSTATE_H

#include "qemu/host.h"

#include <stdbool.h>
#include <stdint.h>

struct gt_recorder;
struct gt_run_vmstate;

enum { GT_VMSTATES = 16 }; /* most that are kept: of the newest stops and loads */

struct gt_run_vmstates {
    bool ran;                    /* it has run before */
    bool middle;                 /* it began with a state that was loaded: calls were open */
    bool flushed;                /* code was discarded since it ran last; atomic */
    bool pending;                /* code that is discarded before any runs tells a state; atomic */
    enum gt_qemu_run_state last; /* how it stopped */
    uint64_t stopped;            /* the clock then */
    uint64_t place;              /* gt_host_place then */
    uint64_t done;               /* what vCPUs had done when `pending` was set */
    struct gt_run_vmstate *kept[GT_VMSTATES]; /* the newest last */
    unsigned n;
};

/* At load. */
void gt_run_vmstates_init(struct gt_recorder *r);
/* Events of the host; `self` is the recorder. */
void gt_run_on_run_state(void *self, enum gt_qemu_run_state state, uint64_t clock);
/* All translated code was discarded. */
void gt_run_vmstates_flushed(struct gt_recorder *r);

/* A vCPU runs: it translates code. */
static inline void gt_run_vmstates_run(struct gt_run_vmstates *all)
{
    __atomic_store_n(&all->pending, false, __ATOMIC_RELAXED);
}

#endif
