/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tasks count under filters: see filtered_counts.h. */
#include "calls/recorder/select/filtered_counts.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/task.h"

static void forget_list(struct gt_stack *s)
{
    for (; s; s = s->next) {
        struct gt_filtered *f = &gt_task_of(s)->filtered;
        f->recorded = f->beyond = f->values.dropped = 0;
    }
}

void gt_filtered_forked(struct gt_uftrace_recorder *r)
{
    forget_list(r->tracker.stacks);
    forget_list(r->tracker.ended);
}

static void add_list(struct gt_stack *s, uint64_t *recorded, uint64_t *beyond)
{
    for (; s; s = s->next) {
        const struct gt_filtered *f = &gt_task_of(s)->filtered;
        if (!f->out)
            continue;
        *recorded += __atomic_load_n(&f->recorded, __ATOMIC_RELAXED);
        *beyond += __atomic_load_n(&f->beyond, __ATOMIC_RELAXED);
    }
}

void gt_filtered_running(struct gt_uftrace_recorder *r, uint64_t *recorded, uint64_t *beyond)
{
    pthread_mutex_lock(&r->tracker.lock);
    add_list(r->tracker.stacks, recorded, beyond);
    add_list(r->tracker.ended, recorded, beyond);
    pthread_mutex_unlock(&r->tracker.lock);
}
