/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callbacks from translated code. With a scoreboard, translated code sets the last exit by inline
 * operations and calls only where a transfer may be; other blocks count their instructions inline.
 * Without a scoreboard a callback at each block does both.
 */
#include "calls/recorder/run/transfer.h"
#include "base/clock.h"
#include "calls/recorder/installed.h"
#include "calls/recorder/options.h"
#include "calls/recorder/output/live_clock.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/reset.h"
#include "calls/recorder/run/system.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/run/vectors.h"
#include "calls/recorder/select/filtered.h"
#include "calls/recorder/select/filters.h"
#include "calls/recorder/select/level.h"
#include "calls/recorder/task.h"
#include "calls/recorder/values/arguments.h"
#include "qemu/support/trace-plugin.h"

#include <string.h>
#include <time.h>

static void put_enter(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)self;
    gt_run_transfer_put(s->out, time, gt_uftrace_entry(depth, addr),
                        gt_recorder_arguments_entering(s, addr));
}

static void put_leave(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)self;
    gt_run_transfer_put(s->out, time, gt_uftrace_exit(depth, addr),
                        gt_recorder_arguments_leaving(s, addr));
}

static void put_suspended(void *self, struct gt_stack *s, uint64_t time)
{
    if (!gt_recorder_tells_switches(self))
        return;
    gt_recorder_task_of(s)->switched_out = true;
    gt_stream_put(s->out, time, gt_uftrace_event(gt_stack_depth(s), GT_UFTRACE_EV_SCHED_OUT));
}

static void put_resumed(void *self, struct gt_stack *s, uint64_t time)
{
    if (!gt_recorder_task_of(s)->switched_out)
        return;
    gt_recorder_task_of(s)->switched_out = false;
    gt_stream_put(s->out, time, gt_uftrace_event(gt_stack_depth(s), GT_UFTRACE_EV_SCHED_IN));
    gt_recorder_output_put_vcpu(self, s, s->out, gt_stack_depth(s), time);
}

static bool open_stack(void *self, struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    if (!gt_recorder_output_open_stack(self, t, s, time))
        return false;
    gt_recorder_output_put_vcpu(self, s, s->out, gt_stack_depth(s), time);
    return true;
}

const struct gt_track_sink gt_run_sink = {
    .enter = put_enter,
    .leave = put_leave,
    .suspended = put_suspended,
    .resumed = put_resumed,
    .ends = gt_recorder_open_calls_end,
    .handler = gt_recorder_handlers_begun,
    .open = open_stack,
    .close = gt_recorder_output_close_stack,
    .data_size = sizeof(struct gt_recorder_task),
};

/* Slow path that also reports the counters that change, as trace events. */
static __attribute__((noinline, cold)) uint64_t
track_and_report(const struct gt_recorder_transfer *t)
{
    struct gt_vcpu *v = t->vcpu;
    uint64_t before[GT_COUNTERS];
    memcpy(before, v->thread.counters, sizeof before);
    uint64_t last_exit = gt_track_slow(&v->thread, t->code, t->last_exit, t->time);
    for (int i = 0; i < GT_COUNTERS; i++) {
        uint64_t count = v->thread.counters[i] - before[i];
        if (count)
            trace_uftrace_resync(v->tid, gt_track_counter_name(i), count, t->time);
    }
    return last_exit;
}

static uint64_t transfer_slowly(const struct gt_recorder_transfer *t)
{
    struct gt_recorder *r = t->vcpu->rec;
    uint64_t last_exit = gt_track_last_exit_of_func(t->code->fn);
    if (gt_select_filters_current(&r->filters) && gt_select_filtered_transfer(t))
        return last_exit;
    gt_recorder_live_clock_set(&r->hot.live, t->time);
    if (r->options.privilege_levels && gt_select_level_transfer(t))
        return last_exit;
    gt_select_code_enter(t->code);
    if (trace_event_get_state(TRACE_UFTRACE_RESYNC))
        last_exit = track_and_report(t);
    else
        last_exit = gt_track_slow(&t->vcpu->thread, t->code, t->last_exit, t->time);
    if (!r->guest.user)
        gt_run_machine_transferred(t->vcpu, t->time);
    return last_exit;
}

uint64_t gt_run_transfer_slowly(struct gt_recorder_transfer *t)
{
    if (!t->vcpu->rec->arguments.on)
        return transfer_slowly(t);
    gt_recorder_arguments_before(t);
    uint64_t last_exit = transfer_slowly(t);
    gt_recorder_arguments_after(t);
    return last_exit;
}

/* A transfer that is not plain, the vCPU's first one, or one whose chunk is full. Returns the new
 * last exit. */
static __attribute__((noinline)) uint64_t transfer_any(struct gt_recorder *r, struct gt_vcpu *v,
                                                       struct gt_recorder_score *score,
                                                       struct gt_code *code)
{
    if (!v->begun) {
        if (!v->refused)
            gt_run_vcpu_begin(v, score, code);
        if (!v->begun)
            return gt_track_last_exit_of_func(code->fn);
    }
    if (gt_run_reset_is_due(&r->resets, v))
        gt_run_reset_follow(v, score);
    struct gt_recorder_transfer t = {v, code, score->last_exit, gt_run_vcpu_time(v, score), NULL};
    return gt_run_transfer_slowly(&t);
}

/* A plain call or return, with room for its record. */
static inline __attribute__((always_inline)) bool
transfer_at_time(struct gt_recorder *r, struct gt_vcpu *v, struct gt_code *code, uint64_t last_exit,
                 uint64_t time)
{
    struct gt_stream *out = v->thread.stack->out;
    struct gt_track_call_event found;
    if (__builtin_expect(!gt_stream_has_room(out), 0) ||
        !gt_track_transfer(&v->thread, code, last_exit, r->hot.max_depth, &found))
        return false;
    if (!found.leaves)
        gt_select_code_enter(code);
    gt_stream_put_here(out, time, gt_run_call_event_word(&found));
    gt_recorder_live_clock_set(&r->hot.live, time);
    return true;
}

/* An indirect jump in the block's own function, which is not a return, by its form. */
static inline bool jumped_inside(const struct gt_track_thread *t, const struct gt_code *code,
                                 uint64_t last_exit)
{
    return last_exit == gt_track_last_exit_of_jump(code->fn) && t->stack->top->ret != code->pc &&
           t->stack->top->kind != GT_FRAME_TAIL;
}

/* True: a vCPU on the instruction clock has made a plain transfer, or no transfer. */
static inline __attribute__((always_inline)) bool transfer_plain(struct gt_recorder *r,
                                                                 struct gt_vcpu *v,
                                                                 struct gt_recorder_score *score,
                                                                 struct gt_code *code)
{
    uint64_t last_exit = score->last_exit;
    uint32_t differs = v->thread.slow_flags ^ code->slow_flags;
    if (__builtin_expect(!differs && gt_track_may_be_plain(last_exit), 1))
        return transfer_at_time(r, v, code, last_exit, v->insn_base + score->insns);
    return last_exit == gt_track_last_exit_of_func(code->fn) ||
           (!(differs & ~(uint32_t)GT_VCPU_ASKS) && jumped_inside(&v->thread, code, last_exit));
}

/* The same of a vCPU on the host's clock. Reading the clock is a function call, which
 * transfer_plain avoids. */
static bool transfer_by_host_clock(struct gt_recorder *r, struct gt_vcpu *v,
                                   const struct gt_recorder_score *score, struct gt_code *code)
{
    uint64_t last_exit = score->last_exit;
    uint32_t differs = v->thread.slow_flags ^ code->slow_flags;
    if (last_exit == 0 || (differs & ~(uint32_t)GT_VCPU_ASKS) != GT_VCPU_CLOCK)
        return false;
    return jumped_inside(&v->thread, code, last_exit) ||
           (differs == GT_VCPU_CLOCK &&
            transfer_at_time(r, v, code, last_exit, gt_run_host_clock(r)));
}

static __attribute__((noinline)) void transfer_at(struct gt_recorder *r, struct gt_vcpu *v,
                                                  struct gt_recorder_score *score,
                                                  struct gt_code *code, uint64_t insns)
{
    score->last_exit = transfer_by_host_clock(r, v, score, code)
                           ? gt_track_last_exit_of_func(code->fn)
                           : transfer_any(r, v, score, code);
    score->insns += insns;
}

/* `insns`: instructions of the block to add to the clock; 0 if the block counts them inline. */
static inline void transfer_in_score(struct gt_recorder *r, struct gt_vcpu *v,
                                     struct gt_recorder_score *score, struct gt_code *code,
                                     uint64_t insns)
{
    if (transfer_plain(r, v, score, code)) {
        score->last_exit = gt_track_last_exit_of_func(code->fn);
        score->insns += insns;
    } else {
        transfer_at(r, v, score, code, insns);
    }
}

/* The slow paths leave the vCPU, so that the fast one calls nothing that comes back. */
static __attribute__((noinline)) void
transfer_slowly_and_leave(struct gt_recorder *r, struct gt_vcpu *v, struct gt_recorder_score *score,
                          struct gt_code *code, uint64_t insns)
{
    transfer_at(r, v, score, code, insns);
    gt_vcpu_leave(v);
}

/* The callback ends with it. `insns`: as for transfer_in_score. */
static inline __attribute__((always_inline)) void
transfer_and_leave(struct gt_recorder *r, struct gt_vcpu *v, struct gt_recorder_score *score,
                   struct gt_code *code, uint64_t insns)
{
    if (transfer_plain(r, v, score, code)) {
        score->last_exit = gt_track_last_exit_of_func(code->fn);
        score->insns += insns;
        gt_vcpu_leave(v);
    } else {
        transfer_slowly_and_leave(r, v, score, code, insns);
    }
}

/* The vCPU's words, which stay where they are as long as translated code does. The last struct
 * gt_vcpu stands for several. */
static struct gt_recorder_score *score_of(struct gt_recorder *r, struct gt_vcpu *v, unsigned index)
{
    if (v->score)
        return v->score;
    struct gt_recorder_score *score = gt_run_vcpu_score(r, v, index);
    if (index < r->hot.max_vcpus)
        v->score = score;
    return score;
}

static __attribute__((noinline)) void find_score_and_transfer(struct gt_recorder *r,
                                                              struct gt_vcpu *v, unsigned index,
                                                              struct gt_code *code, uint64_t insns)
{
    transfer_and_leave(r, v, score_of(r, v, index), code, insns);
}

/* The vCPU waits until it may enter. */
static __attribute__((noinline, cold)) void wait_and_transfer(struct gt_recorder *r,
                                                              struct gt_vcpu *v, unsigned index,
                                                              struct gt_code *code, uint64_t insns)
{
    if (gt_gate_enter_slowly(&r->gate, &v->thread.busy))
        find_score_and_transfer(r, v, index, code, insns);
}

/* `insns`: as for transfer_in_score. */
static inline __attribute__((always_inline)) void transfer(struct gt_recorder *r, unsigned vcpu,
                                                           struct gt_code *code, uint64_t insns)
{
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    struct gt_recorder_score *score = v->score;
    if (!gt_gate_try(&r->gate, &v->thread.busy))
        wait_and_transfer(r, v, vcpu, code, insns);
    else if (__builtin_expect(!score, 0))
        find_score_and_transfer(r, v, vcpu, code, insns);
    else
        transfer_and_leave(r, v, score, code, insns);
}

/* The block of gt_run_transfer_data, and its number of instructions. */
static inline struct gt_code *unpack(void *data, uint64_t *insns)
{
    uint64_t p = (uint64_t)(uintptr_t)data;
    *insns = p >> GT_TRANSFER_SHIFT;
    return (struct gt_code *)(uintptr_t)(p ^ *insns << GT_TRANSFER_SHIFT);
}

/* With filters. */
static inline __attribute__((always_inline)) void filtered(struct gt_recorder *r, unsigned vcpu,
                                                           struct gt_code *code, uint64_t insns)
{
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    if (__builtin_expect(!v, 0))
        return;
    struct gt_recorder_score *score = score_of(r, v, vcpu);
    const struct gt_recorder_transfer t = {v, code, score->last_exit, v->insn_base + score->insns,
                                           NULL};
    if ((v->thread.slow_flags ^ code->slow_flags) == GT_VCPU_ASKS &&
        gt_track_may_be_plain(t.last_exit) && gt_select_filtered_transfer(&t)) {
        score->last_exit = gt_track_last_exit_of_func(code->fn);
        score->insns += insns;
        gt_vcpu_leave(v);
    } else {
        transfer_and_leave(r, v, score, code, insns);
    }
}

void gt_run_on_filtered_transfer(unsigned vcpu, void *data)
{
    uint64_t insns;
    struct gt_code *code = unpack(data, &insns);
    filtered(gt_recorder_installed(), vcpu, code, insns);
}

void gt_run_on_filtered_counted_transfer(unsigned vcpu, void *data)
{
    filtered(gt_recorder_installed(), vcpu, data, 0);
}

void gt_run_on_transfer(unsigned vcpu, void *data)
{
    uint64_t insns;
    struct gt_code *code = unpack(data, &insns);
    transfer(gt_recorder_installed(), vcpu, code, insns);
}

void gt_run_on_valued_transfer(unsigned vcpu, void *data)
{
    struct gt_recorder *r = gt_recorder_installed();
    const struct gt_recorder_argument_point *p = data;
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    if (!v)
        return;
    struct gt_recorder_score *score = score_of(r, v, vcpu);
    bool enters = v->begun && score->last_exit != gt_track_last_exit_of_func(p->code->fn);
    if (enters)
        gt_recorder_arguments_read(v, p);
    transfer_in_score(r, v, score, p->code, p->insns);
    if (enters)
        gt_recorder_arguments_drop(v);
    gt_vcpu_leave(v);
}

void gt_run_on_valued_return(unsigned vcpu, void *data)
{
    struct gt_vcpu *v = gt_vcpu_enter_begun(gt_recorder_installed(), vcpu);
    if (!v)
        return;
    gt_recorder_arguments_read_result(v, data);
    gt_vcpu_leave(v);
}

void gt_run_on_transfer_inside(unsigned vcpu, void *data)
{
    struct gt_code *code = data;
    transfer(gt_recorder_installed(), vcpu, code, code->insns);
}

void gt_run_on_counted_transfer(unsigned vcpu, void *data)
{
    transfer(gt_recorder_installed(), vcpu, data, 0);
}

/* Hosts without a scoreboard: the last exit after a block that is about to run, as far as its
 * callback can know. A stub leaves the last exit as it was, unless it returns in its caller's
 * place.
 */
static inline uint64_t last_exit_after(const struct gt_code *code, uint64_t last_exit)
{
    bool passed = last_exit != gt_track_last_exit_of_func(code->fn) && code->exit != GT_EXIT_RETURN;
    return passed ? last_exit : gt_code_last_exit(code);
}

static __attribute__((noinline)) void transfer_in_block(struct gt_recorder *r, struct gt_vcpu *v,
                                                        struct gt_code *code)
{
    v->own.last_exit = transfer_by_host_clock(r, v, &v->own, code)
                           ? gt_code_last_exit(code)
                           : last_exit_after(code, transfer_any(r, v, &v->own, code));
}

static inline void count_block(struct gt_recorder *r, struct gt_vcpu *v, const struct gt_code *code)
{
    if (r->hot.sparse) {
        v->own.insns = r->hot.insns;
    } else {
        v->own.insns += v->block_insns;
        v->block_insns = code->insns;
    }
}

static inline void transfer_in_counted_block(struct gt_recorder *r, struct gt_vcpu *v,
                                             struct gt_code *code)
{
    if (transfer_plain(r, v, &v->own, code))
        v->own.last_exit = gt_code_last_exit(code);
    else
        transfer_in_block(r, v, code);
}

static __attribute__((noinline)) void
transfer_in_block_and_leave(struct gt_recorder *r, struct gt_vcpu *v, struct gt_code *code)
{
    transfer_in_block(r, v, code);
    gt_vcpu_leave(v);
}

static inline __attribute__((always_inline)) void
block_begins(struct gt_recorder *r, struct gt_vcpu *v, struct gt_code *code)
{
    count_block(r, v, code);
    if (transfer_plain(r, v, &v->own, code)) {
        v->own.last_exit = gt_code_last_exit(code);
        gt_vcpu_leave(v);
    } else {
        transfer_in_block_and_leave(r, v, code);
    }
}

static __attribute__((noinline, cold)) void wait_and_begin(struct gt_recorder *r, struct gt_vcpu *v,
                                                           struct gt_code *code)
{
    if (gt_gate_enter_slowly(&r->gate, &v->thread.busy))
        block_begins(r, v, code);
}

void gt_run_on_block(unsigned vcpu, void *data)
{
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    if (gt_gate_try(&r->gate, &v->thread.busy))
        block_begins(r, v, data);
    else
        wait_and_begin(r, v, data);
}

/* At a block that no code seen so far leads to: it may be a handler's first. */
static void begin_handler(struct gt_vcpu *v, struct gt_recorder_score *score, struct gt_code *code)
{
    if (gt_run_machine_is_vector(v, code, score->last_exit))
        gt_run_machine_enter_at(v, score, code);
}

void gt_run_on_unknown_block(unsigned vcpu, void *data)
{
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    struct gt_code *code = data;
    if (!v)
        return;
    if (!r->hot.scoreboard)
        count_block(r, v, code);
    struct gt_recorder_score *score = score_of(r, v, vcpu);
    begin_handler(v, score, code);
    if (r->hot.scoreboard)
        transfer_in_score(r, v, score, code, code->insns);
    else
        transfer_in_counted_block(r, v, code);
    gt_vcpu_leave(v);
}

void gt_run_on_counted_unknown_block(unsigned vcpu, void *data)
{
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    if (!v)
        return;
    struct gt_recorder_score *score = score_of(r, v, vcpu);
    begin_handler(v, score, data);
    transfer_in_score(r, v, score, data, 0);
    gt_vcpu_leave(v);
}

void gt_run_on_slow_block(unsigned vcpu, void *data)
{
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    struct gt_code *code = data;
    if (!v)
        return;
    if (r->hot.scoreboard) {
        transfer_at(r, v, score_of(r, v, vcpu), code, code->insns);
    } else {
        count_block(r, v, code);
        transfer_in_block(r, v, code);
    }
    gt_vcpu_leave(v);
}
