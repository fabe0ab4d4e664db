/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callbacks from translated code. With cells, translated code keeps the mark by itself and calls
 * only at landings; blocks that do not call count their instructions by themselves, too. Without
 * cells a callback at each block does both.
 */
#include "plugin/uftrace/transfer.h"
#include "base/clock.h"
#include "plugin/trace-plugin.h"
#include "plugin/uftrace/installed.h"
#include "plugin/uftrace/level.h"
#include "plugin/uftrace/live_clock.h"
#include "plugin/uftrace/options.h"
#include "plugin/uftrace/output.h"
#include "plugin/uftrace/recorder.h"
#include "plugin/uftrace/system.h"
#include "plugin/uftrace/task.h"
#include "plugin/uftrace/vcpu.h"
#include "plugin/uftrace/vectors.h"

#include <string.h>
#include <time.h>

static void put_enter(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)self;
    gt_stream_put(s->out, time, gt_uftrace_entry(depth, addr));
}

static void put_leave(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)self;
    gt_stream_put(s->out, time, gt_uftrace_exit(depth, addr));
}

/* Contexts of machines. No file ends with an open sched-out: the tracker lets each stack go on
 * before it ends. */
static bool tells_switches(const struct gt_uftrace_recorder *r)
{
    return !r->guest.user && r->options.tasks == GT_TASKS_STACK;
}

static void put_suspended(void *self, struct gt_stack *s, uint64_t time)
{
    if (!tells_switches(self))
        return;
    gt_task_of(s)->switched_out = true;
    gt_stream_put(s->out, time, gt_uftrace_event(gt_stack_depth(s), GT_UFTRACE_EV_SCHED_OUT));
}

static void put_resumed(void *self, struct gt_stack *s, uint64_t time)
{
    (void)self;
    if (!gt_task_of(s)->switched_out)
        return;
    gt_task_of(s)->switched_out = false;
    gt_stream_put(s->out, time, gt_uftrace_event(gt_stack_depth(s), GT_UFTRACE_EV_SCHED_IN));
}

const struct gt_sink gt_uftrace_sink = {
    .enter = put_enter,
    .leave = put_leave,
    .suspended = put_suspended,
    .resumed = put_resumed,
    .open = gt_output_open_stack,
    .close = gt_output_close_stack,
    .data_size = sizeof(struct gt_task),
};

/* What the tracker was not sure of, as it happens. */
static __attribute__((noinline, cold)) uint64_t
track_and_tell(struct gt_vcpu *v, struct gt_code *code, uint64_t mark, uint64_t time)
{
    uint64_t before[GT_COUNTERS];
    memcpy(before, v->thread.counters, sizeof before);
    mark = gt_track_slow(&v->thread, code, mark, time);
    for (int i = 0; i < GT_COUNTERS; i++) {
        uint64_t count = v->thread.counters[i] - before[i];
        if (count)
            trace_uftrace_resync(v->tid, gt_counter_name(i), count, time);
    }
    return mark;
}

uint64_t gt_land_slowly(struct gt_vcpu *v, struct gt_code *code, uint64_t mark, uint64_t time)
{
    struct gt_uftrace_recorder *r = v->rec;
    gt_live_clock_set(&r->hot.live, time);
    if (r->options.privilege_levels && gt_level_land(v, code, mark, time))
        return gt_mark_of_func(code->fn);
    if (trace_event_get_state(TRACE_UFTRACE_RESYNC))
        mark = track_and_tell(v, code, mark, time);
    else
        mark = gt_track_slow(&v->thread, code, mark, time);
    if (!r->guest.user)
        gt_machine_landed(v, time);
    return mark;
}

/* Any landing: first ones, the host's clock, full chunks, and what needs thought. Returns the mark.
 */
static __attribute__((noinline)) uint64_t land_any(struct gt_uftrace_recorder *r, struct gt_vcpu *v,
                                                   struct gt_cells *cells, struct gt_code *code)
{
    if (__atomic_load_n(&r->hot.finished, __ATOMIC_RELAXED))
        return gt_mark_of_func(code->fn);
    if (!v->begun) {
        if (!v->refused)
            gt_vcpu_begin(v, cells, code);
        if (!v->begun)
            return gt_mark_of_func(code->fn);
    }
    return gt_land_slowly(v, code, cells->mark, gt_vcpu_time(v, cells));
}

/* A plain call or return, with room for its record. */
static inline __attribute__((always_inline)) bool land_at_time(struct gt_uftrace_recorder *r,
                                                               struct gt_vcpu *v,
                                                               struct gt_code *code, uint64_t mark,
                                                               uint64_t time)
{
    struct gt_stream *out = v->thread.stack->out;
    struct gt_landed found;
    if (__builtin_expect(!gt_stream_has_room(out), 0) ||
        !gt_track_land(&v->thread, code, mark, r->hot.max_depth, &found))
        return false;
    gt_stream_put_here(out, time, gt_landed_word(&found));
    gt_live_clock_set(&r->hot.live, time);
    return true;
}

/* The same, or none at all, of a vCPU on the instruction clock. */
static inline __attribute__((always_inline)) bool land_plain(struct gt_uftrace_recorder *r,
                                                             struct gt_vcpu *v,
                                                             struct gt_cells *cells,
                                                             struct gt_code *code)
{
    uint64_t mark = cells->mark;
    bool plain = v->thread.attention == code->special;
    if (__builtin_expect(plain && gt_track_may_land(mark), 1))
        return land_at_time(r, v, code, mark, v->insn_base + cells->insns);
    return mark == gt_mark_of_func(code->fn) || (plain && mark == gt_mark_of_jump(code->fn));
}

/* Of a vCPU on the host's clock. Asking for the time is a call, which land_plain does without. */
static bool land_by_host_clock(struct gt_uftrace_recorder *r, struct gt_vcpu *v,
                               const struct gt_cells *cells, struct gt_code *code)
{
    uint64_t mark = cells->mark;
    if (mark == 0 || (v->thread.attention ^ code->special) != GT_ATTENTION_CLOCK)
        return false;
    return mark == gt_mark_of_jump(code->fn) || land_at_time(r, v, code, mark, gt_host_clock(r));
}

static __attribute__((noinline)) void land_at(struct gt_uftrace_recorder *r, struct gt_vcpu *v,
                                              struct gt_cells *cells, struct gt_code *code,
                                              uint64_t insns)
{
    cells->mark = land_by_host_clock(r, v, cells, code) ? gt_mark_of_func(code->fn)
                                                        : land_any(r, v, cells, code);
    cells->insns += insns;
}

/* `insns`: of the block, if it does not count them by itself; they count from here on. */
static inline void land_in_cells(struct gt_uftrace_recorder *r, struct gt_vcpu *v,
                                 struct gt_cells *cells, struct gt_code *code, uint64_t insns)
{
    if (land_plain(r, v, cells, code)) {
        cells->mark = gt_mark_of_func(code->fn);
        cells->insns += insns;
    } else {
        land_at(r, v, cells, code, insns);
    }
}

static __attribute__((noinline)) void land_and_find_cells(struct gt_uftrace_recorder *r,
                                                          struct gt_vcpu *v, unsigned index,
                                                          struct gt_code *code, uint64_t insns)
{
    land_in_cells(r, v, gt_vcpu_cells(r, v, index), code, insns);
}

/* `insns`: of the block, 0 if it counts them by itself. */
static inline __attribute__((always_inline)) void land(struct gt_uftrace_recorder *r, unsigned vcpu,
                                                       struct gt_code *code, uint64_t insns)
{
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    struct gt_cells *cells = v->cells;
    if (__builtin_expect(!cells, 0))
        land_and_find_cells(r, v, vcpu, code, insns);
    else
        land_in_cells(r, v, cells, code, insns);
}

void gt_on_landing(unsigned vcpu, void *data)
{
    uint64_t p = (uint64_t)(uintptr_t)data, insns = p >> GT_LANDING_SHIFT;
    struct gt_code *code = (struct gt_code *)(uintptr_t)(p ^ insns << GT_LANDING_SHIFT);
    land(gt_recorder_installed(), vcpu, code, insns);
}

void gt_on_landing_inside(unsigned vcpu, void *data)
{
    struct gt_code *code = data;
    land(gt_recorder_installed(), vcpu, code, code->insns);
}

void gt_on_counted_landing(unsigned vcpu, void *data)
{
    land(gt_recorder_installed(), vcpu, data, 0);
}

/* Hosts without cells: the mark after the block, which is not yet run, as far as a callback before
 * it can know. A stub passes the mark on, unless it returns in its caller's place. */
static inline uint64_t mark_after(const struct gt_code *code, uint64_t mark)
{
    bool passed = mark != gt_mark_of_func(code->fn) && code->exit != GT_EXIT_RETURN;
    return passed ? mark : gt_code_mark(code);
}

static __attribute__((noinline)) void land_in_block(struct gt_uftrace_recorder *r,
                                                    struct gt_vcpu *v, struct gt_code *code)
{
    v->own.mark = land_by_host_clock(r, v, &v->own, code)
                      ? gt_code_mark(code)
                      : mark_after(code, land_any(r, v, &v->own, code));
}

static inline void count_block(struct gt_uftrace_recorder *r, struct gt_vcpu *v,
                               const struct gt_code *code)
{
    if (r->hot.sparse) {
        v->own.insns = r->hot.insns;
    } else {
        v->own.insns += v->block_insns;
        v->block_insns = code->insns;
    }
}

static inline void land_in_counted_block(struct gt_uftrace_recorder *r, struct gt_vcpu *v,
                                         struct gt_code *code)
{
    if (land_plain(r, v, &v->own, code))
        v->own.mark = gt_code_mark(code);
    else
        land_in_block(r, v, code);
}

void gt_on_block(unsigned vcpu, void *data)
{
    struct gt_uftrace_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    struct gt_code *code = data;
    count_block(r, v, code);
    land_in_counted_block(r, v, code);
}

/* At a block that no code seen so far leads to. */
static void begin_handler(struct gt_vcpu *v, struct gt_cells *cells, struct gt_code *code)
{
    if (gt_machine_is_vector(v, code, cells->mark))
        gt_machine_enter_at(v, cells, code);
}

void gt_on_unknown_block(unsigned vcpu, void *data)
{
    struct gt_uftrace_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    struct gt_code *code = data;
    if (!r->hot.score)
        count_block(r, v, code);
    begin_handler(v, gt_vcpu_cells(r, v, vcpu), code);
    if (r->hot.score)
        land(r, vcpu, code, code->insns);
    else
        land_in_counted_block(r, v, code);
}

void gt_on_counted_unknown_block(unsigned vcpu, void *data)
{
    struct gt_uftrace_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    begin_handler(v, gt_vcpu_cells(r, v, vcpu), data);
    land(r, vcpu, data, 0);
}

void gt_on_special_block(unsigned vcpu, void *data)
{
    struct gt_uftrace_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    struct gt_code *code = data;
    if (r->hot.score) {
        land_at(r, v, gt_vcpu_cells(r, v, vcpu), code, code->insns);
    } else {
        count_block(r, v, code);
        land_in_block(r, v, code);
    }
}
