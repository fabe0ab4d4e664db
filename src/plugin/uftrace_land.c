/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callbacks from translated code. With cells, translated code keeps the mark and the count of
 * retired instructions by itself and calls only at landings; without them a callback at each block
 * does both.
 */
#include "plugin/uftrace.h"
#include "track/land.h"

#include <time.h>

static void put_enter(struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    gt_stream_put(s->out, time, gt_uftrace_entry(depth, addr));
}

static void put_leave(struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    gt_stream_put(s->out, time, gt_uftrace_exit(depth, addr));
}

const struct gt_sink gt_uftrace_sink = {
    .enter = put_enter,
    .leave = put_leave,
    .open = gt_output_open_stack,
    .close = gt_output_close_stack,
};

struct gt_cells *gt_vcpu_cells(struct gt_vcpu *v, unsigned index)
{
    if (!gt_rec.score)
        return &v->own;
    /* A machine's vCPUs are all there before one runs; a process's area moves as threads start. */
    if (gt_rec.user || !v->cells)
        v->cells = gt_cells_find(gt_rec.score, index);
    return v->cells;
}

static uint64_t host_time(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec + gt_rec.host_offset;
}

uint64_t gt_vcpu_time(const struct gt_vcpu *v, const struct gt_cells *cells)
{
    return __builtin_expect(gt_rec.host_clock, 0) ? host_time() : v->insn_base + cells->insns;
}

static inline __attribute__((always_inline)) uint64_t
land(struct gt_vcpu *v, struct gt_cells *cells, struct gt_code *code, uint64_t mark)
{
    if (__builtin_expect(!v->begun, 0)) {
        gt_vcpu_begin(v, cells);
        if (!v->begun)
            return gt_mark_of_func(code->fn);
    }
    return gt_track_land(&v->thread, code, mark, gt_vcpu_time(v, cells), &gt_uftrace_sink,
                         gt_rec.max_depth);
}

void gt_on_landing(unsigned vcpu, void *data)
{
    struct gt_vcpu *v = &gt_rec.vcpus[vcpu];
    struct gt_cells *cells = gt_vcpu_cells(v, vcpu);
    cells->mark = land(v, cells, data, cells->mark);
}

/* The mark after the block, which is not yet run, as far as a callback before it can know. A stub
 * passes the mark on. */
static inline uint64_t mark_after(const struct gt_code *code, uint64_t mark)
{
    return mark == gt_mark_of_func(code->fn) ? code->mark : mark;
}

static inline void count_block(struct gt_vcpu *v, const struct gt_code *code)
{
    v->own.insns += v->block_insns;
    v->block_insns = code->insns;
}

void gt_on_block(unsigned vcpu, void *data)
{
    struct gt_vcpu *v = &gt_rec.vcpus[vcpu];
    struct gt_code *code = data;
    count_block(v, code);
    uint64_t mark = v->own.mark;
    if (mark != gt_mark_of_func(code->fn))
        mark = land(v, &v->own, code, mark);
    v->own.mark = mark_after(code, mark);
}

void gt_on_special_block(unsigned vcpu, void *data)
{
    struct gt_vcpu *v = &gt_rec.vcpus[vcpu];
    struct gt_code *code = data;
    struct gt_cells *cells = gt_vcpu_cells(v, vcpu);
    if (!gt_rec.score)
        count_block(v, code);
    uint64_t mark = land(v, cells, code, cells->mark);
    cells->mark = gt_rec.score ? mark : mark_after(code, mark);
}
