/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that run. An entry is put when its block begins, and shortened if the block turns out to
 * be left in the middle: by an exception, where the host tells of those, or by an access to a
 * device, which QEMU may run again as a block of its own, without telling that one begins.
 */
#include "plugin/etrace.h"

#include <string.h>
#include <time.h>

uint64_t gt_etrace_host_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void gt_etrace_on_block(unsigned vcpu, void *data)
{
    if (__builtin_expect(vcpu >= GT_ETRACE_MAX_VCPUS, 0))
        return;
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    const struct gt_etrace_block *b = data;
    uint64_t time = v->time, until = time + b->insns;
    v->block = b;
    v->time = until;
    if (__builtin_expect(!gt_etrace_run_add(&v->run, b->start, b->end, time, until), 0))
        gt_etrace_add_slowly(v, b->start, b->end, time, until);
}

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
    uint64_t now = gt_etrace_host_time();
    put_until(v, now);
    v->block = b;
    v->pending = true;
    v->start = b->start;
    v->end = b->end;
    v->since = now;
}

uint64_t gt_etrace_time_at(const struct gt_etrace_vcpu *v, size_t i)
{
    if (gt_etrace.host_clock)
        return gt_etrace_host_time();
    return v->block ? v->time - v->block->insns + i : v->time;
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

void gt_etrace_left_at(struct gt_etrace_vcpu *v, uint64_t pc)
{
    const struct gt_etrace_block *b = v->block;
    if (!b || pc < b->start || pc >= b->end)
        return;
    uint64_t end = b->start;
    uint32_t i = 0;
    while (i < b->insns && end <= pc)
        end += b->sizes[i++];
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

void gt_etrace_on_lone_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)meminfo, (void)vaddr;
    if (vcpu >= GT_ETRACE_MAX_VCPUS)
        return;
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    const struct gt_etrace_block *b = data;
    if (v->block == b)
        return;
    gt_etrace_left_at(v, b->start);
    v->block = b;
}
