/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executed blocks: see exec.h. */
#include "etrace/plugin/exec.h"

#include "etrace/plugin/buffer.h"
#include "etrace/plugin/exec_entry.h"
#include "etrace/plugin/packets.h"
#include "etrace/plugin/recorder.h"

#include <string.h>

/* ---- clock=insn ---------------------------------------------------------------------------- */

/* gt_etrace_run_add where the newest entry is in the buffer and there is room for another one. */
static inline __attribute__((always_inline)) bool
add(struct gt_etrace_run *r, const struct gt_etrace_block *b, uint64_t time, bool wide)
{
    const size_t size = gt_etrace_entry_size(wide ? 64 : 32);
    if (__builtin_expect(r->fill + size > r->room || time != r->end_time, 0))
        return false;
    uint8_t *at = r->packet + r->fill - size;
    struct gt_etrace_entry newest = gt_etrace_exec_load(at, wide);
    uint64_t step = size & ~gt_etrace_exec_join(&newest, b, wide);
    gt_etrace_exec_store(at + step, &newest, wide);
    r->fill += step;
    r->end_time = time + b->insns;
    return true;
}

/* Leaves the vCPU, so that the fast path calls nothing that comes back. */
static __attribute__((noinline)) void add_slowly(struct gt_etrace *e, struct gt_etrace_vcpu *v,
                                                 const struct gt_etrace_block *b, uint64_t time)
{
    uint64_t until = time + b->insns;
    if (!gt_etrace_run_add(&v->run, b->start, b->end, time, until))
        gt_etrace_put_entry(e, v, b->start, b->end, time, until);
    gt_etrace_leave(v);
}

static inline void block_begins(struct gt_etrace *e, struct gt_etrace_vcpu *v,
                                const struct gt_etrace_block *b)
{
    uint64_t time = v->time;
    v->block = b;
    v->time = time + b->insns;
    if (__builtin_expect(e->bits != 64 || !add(&v->run, b, time, true), 0))
        add_slowly(e, v, b, time);
    else
        gt_etrace_leave(v);
}

static __attribute__((noinline, cold)) void
wait_and_begin(struct gt_etrace *e, struct gt_etrace_vcpu *v, const struct gt_etrace_block *b)
{
    if (gt_gate_enter_slowly(&e->gate, &v->busy))
        block_begins(e, v, b);
}

void gt_etrace_on_block(unsigned vcpu, void *data)
{
    struct gt_etrace *e = gt_etrace_loaded();
    if (__builtin_expect(vcpu >= GT_ETRACE_MAX_VCPUS, 0))
        return;
    struct gt_etrace_vcpu *v = &e->vcpus[vcpu];
    if (gt_gate_try(&e->gate, &v->busy))
        block_begins(e, v, data);
    else
        wait_and_begin(e, v, data);
}

/* ---- clock=insn, EXEC alone: blocks are queued, and put many at a time ----------------------
 * A callback need not enter the vCPU: it changes the queue alone. What comes after the end is
 * dropped when the queue is full. */

static inline void append(struct gt_etrace_queue *q, unsigned vcpu, const void *block)
{
    size_t n = q->n;
    q->entries[n] = (uint64_t)vcpu << GT_ETRACE_QUEUE_VCPU | (uintptr_t)block;
    __atomic_store_n(&q->n, n + 1, __ATOMIC_RELEASE);
}

/* Called last, so that the common path saves no registers. */
static __attribute__((noinline)) void append_slowly(struct gt_etrace *e, unsigned vcpu,
                                                    const void *block)
{
    struct gt_etrace_vcpu *v = &e->vcpus[vcpu];
    if (!v->buffer)
        v->buffer = gt_etrace_own_buffer(e);
    if (!v->buffer)
        return;
    if (v->buffer->queue.n == GT_ETRACE_QUEUE)
        gt_etrace_buffer_drain(v->buffer);
    append(&v->buffer->queue, vcpu, block);
}

void gt_etrace_on_block_queued(unsigned vcpu, void *block)
{
    struct gt_etrace *e = gt_etrace_loaded();
    if (__builtin_expect(vcpu >= GT_ETRACE_MAX_VCPUS, 0))
        return;
    struct gt_etrace_buffer *buf = e->vcpus[vcpu].buffer;
    if (__builtin_expect(!buf || buf->queue.n == GT_ETRACE_QUEUE, 0))
        append_slowly(e, vcpu, block);
    else
        append(&buf->queue, vcpu, block);
}

/* ---- no EXEC; clock=host -------------------------------------------------------------------- */

void gt_etrace_on_block_time(unsigned vcpu, void *data)
{
    struct gt_etrace *e = gt_etrace_loaded();
    struct gt_etrace_vcpu *v = gt_etrace_enter(e, vcpu);
    if (__builtin_expect(!v, 0))
        return;
    const struct gt_etrace_block *b = data;
    v->block = b;
    v->time += b->insns;
    gt_etrace_leave(v);
}

static __attribute__((noinline)) void begin_packet(struct gt_etrace *e, struct gt_etrace_vcpu *v,
                                                   uint64_t now)
{
    gt_etrace_put_entry(e, v, v->start, v->end, v->since, now);
}

/* How long a block took is known when the next one begins. */
static void put_until(struct gt_etrace *e, struct gt_etrace_vcpu *v, uint64_t now)
{
    if (v->pending && !gt_etrace_run_add(&v->run, v->start, v->end, v->since, now))
        begin_packet(e, v, now);
}

void gt_etrace_on_block_host(unsigned vcpu, void *data)
{
    struct gt_etrace *e = gt_etrace_loaded();
    struct gt_etrace_vcpu *v = gt_etrace_enter(e, vcpu);
    if (__builtin_expect(!v, 0))
        return;
    const struct gt_etrace_block *b = data;
    uint64_t now = gt_base_clock_monotonic();
    put_until(e, v, now);
    v->block = b;
    v->pending = true;
    v->start = b->start;
    v->end = b->end;
    v->since = now;
    gt_etrace_leave(v);
}

/* ---- blocks that end early ------------------------------------------------------------------ */

/* The newest entry ends with the current block: it ends at `end` now, `less` instructions earlier.
 */
static void shorten(const struct gt_etrace *e, struct gt_etrace_vcpu *v, uint64_t end,
                    uint32_t less)
{
    bool wide = e->bits == 64;
    size_t size = wide ? 8 : 4;
    uint8_t *entry = gt_etrace_newest(e, v);
    uint64_t was = 0;
    uint32_t duration;
    if (!entry)
        return;
    memcpy(&duration, entry, sizeof duration);
    memcpy(&was, entry + 4 + size, size);
    if (was != (wide ? v->block->end : (uint32_t)v->block->end) || duration < less)
        return;
    duration -= less;
    memcpy(entry, &duration, sizeof duration);
    memcpy(entry + 4 + size, &end, size);
    if (gt_etrace_is_open(v))
        v->run.end_time -= less;
}

/* With the buffer's lock. */
static void exit_early(const struct gt_etrace *e, struct gt_etrace_vcpu *v, uint64_t pc)
{
    const struct gt_etrace_block *b = v->block;
    if (!b || pc < b->start || pc >= b->end)
        return;
    uint64_t end = b->start;
    uint32_t i = 0;
    while (i < b->insns && end <= pc)
        end += gt_etrace_insn_size(b, i++);
    if (i == b->insns)
        return;
    uint32_t less = e->host_clock ? 0 : b->insns - i;
    if (v->pending)
        v->end = end;
    else if (e->flags & GT_ETRACE_F_EXEC)
        shorten(e, v, end, less);
    v->time -= less;
    v->block = NULL;
}

void gt_etrace_exit_early(struct gt_etrace *e, struct gt_etrace_vcpu *v, uint64_t pc)
{
    struct gt_etrace_buffer *buf = gt_etrace_buffer_lock(e, v);
    exit_early(e, v, pc);
    gt_etrace_buffer_unlock(buf);
}

static void access_alone(struct gt_etrace *e, struct gt_etrace_vcpu *v,
                         const struct gt_etrace_block *b)
{
    const struct gt_etrace_queue *q = v->buffer && v->buffer->queue.n ? &v->buffer->queue : NULL;
    if ((q ? gt_etrace_queued_block(q->entries[q->n - 1]) : v->block) == b)
        return;
    struct gt_etrace_buffer *buf = gt_etrace_buffer_lock(e, v);
    exit_early(e, v, b->start);
    v->block = b;
    gt_etrace_buffer_unlock(buf);
}

void gt_etrace_on_single_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    struct gt_etrace *e = gt_etrace_loaded();
    (void)meminfo, (void)vaddr;
    struct gt_etrace_vcpu *v = gt_etrace_enter(e, vcpu);
    if (!v)
        return;
    access_alone(e, v, data);
    gt_etrace_leave(v);
}
