/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Landings that are noted first, and tracked many at a time: see uftrace_notes.c. */
#ifndef GT_PLUGIN_UFTRACE_NOTES_H
#define GT_PLUGIN_UFTRACE_NOTES_H

#include "plugin/uftrace.h"

/* The first landing of a vCPU: it notes the next ones, if they may be tracked later. */
void gt_notes_begin(struct gt_vcpu *v);
/* The last: what is noted is tracked, on whichever thread. */
void gt_notes_end(struct gt_vcpu *v);
/* At load, once there are streams. */
void gt_notes_init(void);
/* The vCPU tracks what it has noted. */
void gt_notes_track(struct gt_vcpu *v);
/* After a callback of the vCPU that may leave it open which stack goes on. */
void gt_notes_bound(struct gt_vcpu *v);
/* Before a callback of the vCPU asks the tracker, or tells it anything. */
static inline void gt_vcpu_catch_up(struct gt_vcpu *v)
{
    if (v->note != __atomic_load_n(&v->noted, __ATOMIC_ACQUIRE))
        gt_notes_track(v);
}
/* The same in a callback that has nothing to do where nothing is recorded. */
static inline bool gt_vcpu_is_followed(struct gt_vcpu *v)
{
    gt_vcpu_catch_up(v);
    return gt_vcpu_is_recorded(v);
}

#endif
