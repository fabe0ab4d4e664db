/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queued blocks become entries, many at a time: see exec_queue.h. */
#include "etrace/plugin/exec_queue.h"

#include "etrace/plugin/buffer.h"
#include "etrace/plugin/exec_entry.h"
#include "etrace/plugin/packets.h"
#include "etrace/plugin/recorder.h"

enum { AHEAD = 8 /* blocks: how early their memory is fetched */ };

static void put_one(struct gt_etrace_buffer *buf, uint64_t entry)
{
    const struct gt_etrace_block *b = gt_etrace_queued_block(entry);
    struct gt_etrace_vcpu *v = &buf->recorder->vcpus[entry >> GT_ETRACE_QUEUE_VCPU];
    if (buf->current != v)
        gt_etrace_buffer_switch(buf, v);
    uint64_t until = v->time + b->insns;
    if (!gt_etrace_run_add(&v->run, b->start, b->end, v->time, until))
        gt_etrace_buffer_begin_run(buf, b->start, b->end, v->time, until);
    v->time = until;
    v->block = b;
}

/* Puts as many of entries i to n-1 as the packet under way has room for, all of one vCPU; at least
 * the newest entry is in the packet. Returns the first one that it did not put. */
static inline __attribute__((always_inline)) size_t put_many(struct gt_etrace_buffer *buf, size_t i,
                                                             size_t n, bool wide)
{
    const struct gt_etrace_queue *q = &buf->queue;
    struct gt_etrace_vcpu *v = buf->current;
    struct gt_etrace_run *r = &v->run;
    const size_t size = gt_etrace_entry_size(wide ? 64 : 32);
    uint8_t *at = r->packet + r->fill - size, *end = r->packet + r->room - size;
    uint64_t vcpu = gt_etrace_vcpu_index(buf->recorder, v), time = v->time;
    struct gt_etrace_entry newest = gt_etrace_exec_load(at, wide);
    for (; i < n && q->entries[i] >> GT_ETRACE_QUEUE_VCPU == vcpu && at + size <= end; i++) {
        const struct gt_etrace_block *b = gt_etrace_queued_block(q->entries[i]);
        __builtin_prefetch(gt_etrace_queued_block(q->entries[(i + AHEAD) % GT_ETRACE_QUEUE]));
        at += size & ~gt_etrace_exec_join(&newest, b, wide);
        gt_etrace_exec_store(at, &newest, wide);
        time += b->insns;
        v->block = b;
    }
    r->fill = (size_t)(at - r->packet) + size;
    r->end_time = v->time = time;
    return i;
}

static inline __attribute__((always_inline)) void put_queued(struct gt_etrace_buffer *buf,
                                                             bool wide)
{
    size_t n = buf->queue.n;
    for (size_t i = 0; i < n;) {
        put_one(buf, buf->queue.entries[i++]);
        const struct gt_etrace_vcpu *v = buf->current;
        if (gt_etrace_is_open(v) && v->run.end_time == v->time)
            i = put_many(buf, i, n, wide);
    }
    buf->queue.n = 0;
}

void gt_etrace_put_queued(struct gt_etrace_buffer *buf)
{
    if (buf->recorder->bits == 64)
        put_queued(buf, true);
    else
        put_queued(buf, false);
}
