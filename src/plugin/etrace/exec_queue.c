/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks that ran and were only listed (clock=insn, EXEC alone): they are put many at a time. */
#include "plugin/etrace/buffer.h"
#include "plugin/etrace/exec_entry.h"

enum { AHEAD = 8 }; /* blocks: their memory is fetched so early */

static void put_one(struct gt_etrace_lane *lane, uint64_t ran)
{
    const struct gt_etrace_block *b = gt_etrace_block_of(ran);
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[ran >> GT_ETRACE_RAN_VCPU];
    if (lane->current != v)
        gt_etrace_lane_switch(lane, v);
    uint64_t until = v->time + b->insns;
    if (!gt_etrace_run_add(&v->run, b->start, b->end, v->time, until))
        gt_etrace_lane_begin_run(lane, b->start, b->end, v->time, until);
    v->time = until;
    v->block = b;
}

/* Of entries i to n-1 those that the packet under way has room for, all of one vCPU; at least the
 * newest entry is in the packet. Returns the first one that is not. */
static inline __attribute__((always_inline)) size_t put_many(struct gt_etrace_lane *lane, size_t i,
                                                             size_t n, bool wide)
{
    struct gt_etrace_vcpu *v = lane->current;
    struct gt_etrace_run *r = &v->run;
    const size_t size = entry_size(wide);
    uint8_t *at = r->packet + r->fill - size, *end = r->packet + r->room - size;
    uint64_t vcpu = gt_etrace_number(v), time = v->time;
    struct gt_etrace_entry newest = entry_at(at, wide);
    for (; i < n && lane->ran[i] >> GT_ETRACE_RAN_VCPU == vcpu && at + size <= end; i++) {
        const struct gt_etrace_block *b = gt_etrace_block_of(lane->ran[i]);
        __builtin_prefetch(gt_etrace_block_of(lane->ran[(i + AHEAD) % GT_ETRACE_RAN]));
        at += size & ~join(&newest, b, wide);
        put_entry(at, &newest, wide);
        time += b->insns;
        v->block = b;
    }
    r->fill = (size_t)(at - r->packet) + size;
    r->end_time = v->time = time;
    return i;
}

static inline __attribute__((always_inline)) void put_listed(struct gt_etrace_lane *lane, bool wide)
{
    size_t n = lane->n_ran;
    for (size_t i = 0; i < n;) {
        put_one(lane, lane->ran[i++]);
        const struct gt_etrace_vcpu *v = lane->current;
        if (gt_etrace_is_open(v) && v->run.end_time == v->time)
            i = put_many(lane, i, n, wide);
    }
    lane->n_ran = 0;
}

void gt_etrace_put_listed(struct gt_etrace_lane *lane)
{
    if (gt_etrace.bits == 64)
        put_listed(lane, true);
    else
        put_listed(lane, false);
}
