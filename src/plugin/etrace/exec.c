/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that run. An entry is put when its block begins, and shortened if the block turns out to
 * be left in the middle: by an exception, where the host tells of those, or by an access to a
 * device, which QEMU may run again as a block of its own, without telling that one begins.
 */
#include "base/clock.h"
#include "plugin/etrace/buffer.h"
#include "plugin/etrace/exec_entry.h"

#include <string.h>
#include <time.h>

/* ---- clock=insn ---------------------------------------------------------------------------- */

/* gt_etrace_run_add where the newest entry is in the buffer and there is room for another one. */
static inline __attribute__((always_inline)) bool
add(struct gt_etrace_run *r, const struct gt_etrace_block *b, uint64_t time, bool wide)
{
    const size_t size = entry_size(wide);
    if (__builtin_expect(r->fill + size > r->room || time != r->end_time, 0))
        return false;
    uint8_t *at = r->packet + r->fill - size;
    struct gt_etrace_entry newest = entry_at(at, wide);
    uint64_t step = size & ~join(&newest, b, wide);
    put_entry(at + step, &newest, wide);
    r->fill += step;
    r->end_time = time + b->insns;
    return true;
}

static __attribute__((noinline)) void add_slowly(struct gt_etrace_vcpu *v,
                                                 const struct gt_etrace_block *b, uint64_t time)
{
    uint64_t until = time + b->insns;
    if (!gt_etrace_run_add(&v->run, b->start, b->end, time, until))
        gt_etrace_add_slowly(v, b->start, b->end, time, until);
}

void gt_etrace_on_block(unsigned vcpu, void *data)
{
    if (__builtin_expect(vcpu >= GT_ETRACE_MAX_VCPUS, 0))
        return;
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    const struct gt_etrace_block *b = data;
    uint64_t time = v->time;
    v->block = b;
    v->time = time + b->insns;
    if (__builtin_expect(gt_etrace.bits != 64 || !add(&v->run, b, time, true), 0))
        add_slowly(v, b, time);
}

/* ---- clock=insn, EXEC alone: blocks are listed, and put many at a time ---------------------- */

static __attribute__((noinline)) void make_room(struct gt_etrace_vcpu *v)
{
    if (!v->lane)
        v->lane = gt_etrace_own_lane();
    if (v->lane && v->lane->n_ran == GT_ETRACE_RAN)
        gt_etrace_lane_drain(v->lane);
}

void gt_etrace_on_block_listed(unsigned vcpu, void *block)
{
    if (__builtin_expect(vcpu >= GT_ETRACE_MAX_VCPUS, 0))
        return;
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    struct gt_etrace_lane *lane = v->lane;
    if (__builtin_expect(!lane || lane->n_ran == GT_ETRACE_RAN, 0)) {
        make_room(v);
        lane = v->lane;
        if (!lane)
            return;
    }
    size_t n = lane->n_ran;
    lane->ran[n] = (uint64_t)vcpu << GT_ETRACE_RAN_VCPU | (uintptr_t)block;
    __atomic_store_n(&lane->n_ran, n + 1, __ATOMIC_RELEASE);
}

/* ---- all ------------------------------------------------------------------------------------ */

void gt_etrace_on_block_count(unsigned vcpu, void *data)
{
    if (__builtin_expect(vcpu >= GT_ETRACE_MAX_VCPUS, 0))
        return;
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    const struct gt_etrace_block *b = data;
    v->block = b;
    v->time += b->insns;
}

/* How long a block took is known when the next one begins. */
static void put_until(struct gt_etrace_vcpu *v, uint64_t now)
{
    if (v->pending && !gt_etrace_run_add(&v->run, v->start, v->end, v->since, now))
        gt_etrace_add_slowly(v, v->start, v->end, v->since, now);
}

void gt_etrace_on_block_host(unsigned vcpu, void *data)
{
    if (__builtin_expect(vcpu >= GT_ETRACE_MAX_VCPUS, 0))
        return;
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    const struct gt_etrace_block *b = data;
    uint64_t now = gt_clock_monotonic();
    put_until(v, now);
    v->block = b;
    v->pending = true;
    v->start = b->start;
    v->end = b->end;
    v->since = now;
}

/* The newest entry ends with the block: it ends at `end` now, `less` instructions earlier. */
static void shorten(struct gt_etrace_vcpu *v, uint64_t end, uint32_t less)
{
    bool wide = gt_etrace.bits == 64;
    size_t size = wide ? 8 : 4;
    uint8_t *entry = gt_etrace_newest(v);
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

static void left_at(struct gt_etrace_vcpu *v, uint64_t pc)
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
    uint32_t less = gt_etrace.host_clock ? 0 : b->insns - i;
    if (v->pending)
        v->end = end;
    else if (gt_etrace.flags & GT_ETRACE_F_EXEC)
        shorten(v, end, less);
    v->time -= less;
    v->block = NULL;
}

void gt_etrace_left_at(struct gt_etrace_vcpu *v, uint64_t pc)
{
    struct gt_etrace_lane *lane = gt_etrace_lane_lock(v);
    left_at(v, pc);
    gt_etrace_lane_unlock(lane);
}

void gt_etrace_on_lone_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)meminfo, (void)vaddr;
    if (vcpu >= GT_ETRACE_MAX_VCPUS)
        return;
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    const struct gt_etrace_block *b = data;
    const struct gt_etrace_lane *listed = v->lane && v->lane->n_ran ? v->lane : NULL;
    if ((listed ? gt_etrace_block_of(listed->ran[listed->n_ran - 1]) : v->block) == b)
        return;
    struct gt_etrace_lane *lane = gt_etrace_lane_lock(v);
    left_at(v, b->start);
    v->block = b;
    gt_etrace_lane_unlock(lane);
}
