/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls under filters: see filtered.h. */
#include "calls/recorder/select/filtered.h"
#include "calls/recorder/output/live_clock.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/select/filters.h"
#include "calls/recorder/select/marks.h"
#include "calls/recorder/task.h"
#include "recording/directory/uftrace.h"
#include "track/transfer.h"

#include <stdio.h>

/* ---- what the state does ------------------------------------------------------------------- */

static void put_values(struct gt_select_filtered *f, uint64_t time, uint64_t word,
                       const uint64_t *values, size_t n)
{
    if (n)
        gt_stream_put_more(f->out, time, word | GT_UFTRACE_MORE, values, n);
    else
        gt_stream_put(f->out, time, word);
}

static void put_enter(void *self, const struct gt_filter_frame *frame, uint32_t shown,
                      uint64_t time)
{
    struct gt_select_filtered *f = self;
    if (shown >= f->rec->filters.depth) {
        f->beyond++;
        return;
    }
    f->recorded++;
    f->last = time;
    const struct gt_select_filtered_call *values =
        f->values.n ? gt_select_filtered_values_find(&f->values, frame->depth) : NULL;
    if (values)
        put_values(f, time, gt_uftrace_entry(shown, frame->call), f->values.words + values->at,
                   values->n);
    else
        gt_stream_put(f->out, time, gt_uftrace_entry(shown, frame->call));
}

static void put_leave(void *self, const struct gt_filter_frame *frame, uint32_t shown,
                      uint64_t time)
{
    struct gt_select_filtered *f = self;
    if (shown >= f->rec->filters.depth)
        return;
    f->last = time;
    if (f->result && f->returns == frame->depth)
        put_values(f, time, gt_uftrace_exit(shown, frame->call), f->result->words, f->result->n);
    else
        gt_stream_put(f->out, time, gt_uftrace_exit(shown, frame->call));
}

static void put_suspended(void *self, uint32_t shown, uint64_t time)
{
    struct gt_select_filtered *f = self;
    f->last = time;
    gt_stream_put(f->out, time, gt_uftrace_event(shown, GT_UFTRACE_EV_SCHED_OUT));
}

static void put_resumed(void *self, uint32_t shown, uint64_t time)
{
    struct gt_select_filtered *f = self;
    f->last = time;
    gt_stream_put(f->out, time, gt_uftrace_event(shown, GT_UFTRACE_EV_SCHED_IN));
    gt_recorder_output_put_vcpu(f->rec, f->stack, f->out, shown, time);
}

static void act(void *self, const struct gt_filter_act *a)
{
    struct gt_select_filtered *f = self;
    gt_select_marks_act(f->rec, a, &f->state);
}

static bool value(void *self, uint32_t depth, const struct gt_base_call_value_name *name,
                  struct gt_base_call_value *out)
{
    const struct gt_select_filtered *f = self;
    if (name->place == GT_CALL_RESULT)
        return f->result && f->returns == depth &&
               gt_recorder_arguments_value(f->rec, f->result->of, f->result->words, f->result->n,
                                           name, out);
    const struct gt_select_filtered_call *call = gt_select_filtered_values_find(&f->values, depth);
    return call && gt_recorder_arguments_value(f->rec, call->of, f->values.words + call->at,
                                               call->n, name, out);
}

static void note_ends(void *self, uint32_t shown, uint64_t time)
{
    struct gt_select_filtered *f = self;
    gt_recorder_open_calls_note(&f->rec->open_calls, f->id, time, shown);
}

static const struct gt_filter_sink sink = {.enter = put_enter,
                                           .leave = put_leave,
                                           .ends = note_ends,
                                           .suspended = put_suspended,
                                           .resumed = put_resumed,
                                           .act = act,
                                           .value = value};

/* ---- tasks --------------------------------------------------------------------------------- */

/* The vCPU that runs the stack, or has run it last. */
static uint32_t cpu_of(const struct gt_select_filtered *f)
{
    const struct gt_vcpu *v = gt_vcpu_of_stack(f->stack);
    return v ? gt_vcpu_index(v) : f->cpu;
}

static void release_sets(struct gt_select_filtered *f)
{
    if (f->asked != f->current)
        gt_select_filters_release(f->asked);
    gt_select_filters_release(f->current);
    f->asked = f->current = NULL;
}

bool gt_select_filtered_begin(struct gt_select_filtered *f, struct gt_recorder *r,
                              struct gt_stack *s, struct gt_stream *out, uint32_t id)
{
    f->stack = s;
    f->level = gt_track_level_of(s->level);
    if (f->state.frame) {
        gt_filter_state_reset(&f->state); /* of a parent's task: a forked child's */
    } else {
        f->rec = r;
        f->current = f->asked = gt_select_filters_take(&r->filters);
        if (gt_filter_state_init(&f->state, f->current->set, f->current->live, &sink, f) < 0) {
            release_sets(f);
            return false;
        }
    }
    f->out = out;
    f->id = id;
    f->recorded = f->beyond = f->last = 0;
    gt_select_filtered_values_trim(&f->values, 0);
    f->cpu = cpu_of(f);
    gt_filter_state_cpu(&f->state, f->cpu);
    gt_select_filtered_name(f, r->process.first_name, r->process.pid);
    return true;
}

void gt_select_filtered_end(struct gt_select_filtered *f)
{
    if (!f->out)
        return;
    struct gt_recorder_selected *all = &f->rec->totals.selected;
    __atomic_fetch_add(&all->recorded, f->recorded, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all->beyond, f->beyond, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all->valueless, f->values.dropped, __ATOMIC_RELAXED);
    gt_filter_state_finish(&f->state);
    release_sets(f);
    gt_select_filtered_values_free(&f->values);
    f->out = NULL;
}

void gt_select_filtered_name(struct gt_select_filtered *f, const char *name, uint32_t pid)
{
    if (!f->out)
        return;
    snprintf(f->name, sizeof f->name, "%s", name);
    f->pid = pid;
    gt_filter_state_task(&f->state, f->name, f->id, f->pid);
}

/* The tracker's frame of the next open call of the task's level; levels may share a stack. */
static const struct gt_track_frame *next_frame(struct gt_select_filtered *f)
{
    const struct gt_track_frame *frame = f->stack->base + ++f->at;
    while (f->rec->options.privilege_levels && gt_track_level_of(frame->level) != f->level)
        frame = f->stack->base + ++f->at;
    return frame;
}

static void open_again(void *self, uint32_t depth, struct gt_filter_open *out)
{
    struct gt_select_filtered *f = self;
    if (depth == 0)
        f->at = 0;
    const struct gt_track_frame *frame = next_frame(f);
    *out = (struct gt_filter_open){
        .verdict = gt_select_filters_verdict(f->rec, f->asked, frame->fn, frame->addr),
        .call = frame->addr,
        .flags = frame->kind == GT_FRAME_HANDLER ? GT_FILTER_HANDLER : 0,
    };
}

/* Without memory the old set goes on. */
static __attribute__((noinline)) void replace(struct gt_select_filtered *f, uint64_t time)
{
    const struct gt_filter_who who = {f->name, f->id, f->pid, f->cpu};
    struct gt_select_filter_current *next = gt_select_filters_take(&f->rec->filters),
                                    *old = f->current;
    if (f->asked != old)
        gt_select_filters_release(f->asked);
    f->asked = next;
    if (gt_filter_state_replace(&f->state, next->set, next->live, &who, open_again, time) < 0)
        return;
    f->current = next;
    gt_select_filters_release(old);
}

/* ---- calls --------------------------------------------------------------------------------- */

/* Before a call or return. Returns its time: when a trigger has ended the recording, it ended all
 * open calls. */
static inline uint64_t prepare(struct gt_select_filtered *f, uint64_t time)
{
    struct gt_select_filters *filters = &f->rec->filters;
    struct gt_select_filter_current *current = gt_select_filters_current(filters);
    if (__builtin_expect(f->asked != current, 0))
        replace(f, time);
    if (__builtin_expect(f->asked->uses & GT_FILTER_NEEDS_CPU, 0) && f->cpu != cpu_of(f)) {
        f->cpu = cpu_of(f);
        gt_filter_state_cpu(&f->state, f->cpu);
    }
    uint64_t ended = __atomic_load_n(&filters->ended, __ATOMIC_ACQUIRE);
    return __builtin_expect(!ended, 1) ? time : MAX(ended, f->last);
}

/* Where a trigger may switch recording on, calls have to be tracked. */
static inline void look_if_off(const struct gt_select_filtered *f)
{
    if (__builtin_expect(!(f->state.switched & 1), 0) &&
        (f->current->quiet || __atomic_load_n(&f->rec->filters.ended, __ATOMIC_RELAXED)))
        gt_select_dormant_look(f->rec);
}

static __attribute__((noinline)) void keep_arguments(struct gt_select_filtered *f,
                                                     const struct gt_track_frame *frame)
{
    const struct gt_recorder_argument_slot *slot =
        gt_recorder_arguments_entering(f->stack, frame->addr);
    if (slot)
        gt_select_filtered_values_push(&f->values, f->state.depth, slot);
}

void gt_select_filtered_enter(struct gt_select_filtered *f, const struct gt_track_frame *frame,
                              uint64_t time)
{
    if (!f->out)
        return;
    time = prepare(f, time);
    const struct gt_filter_verdict *v =
        gt_select_filters_verdict(f->rec, f->current, frame->fn, frame->addr);
    unsigned flags = frame->kind == GT_FRAME_HANDLER ? GT_FILTER_HANDLER : 0;
    if (f->rec->arguments.on)
        keep_arguments(f, frame);
    if (flags || !gt_filter_skips(&f->state, v))
        gt_filter_enter(&f->state, v, frame->addr, flags, time);
    look_if_off(f);
}

/* Most calls are of functions that no pattern mentions: their code says so, which costs no look at
 * the function and its verdict. */
void gt_select_filtered_enter_code(struct gt_select_filtered *f, struct gt_code *code,
                                   const struct gt_track_frame *frame, uint64_t time)
{
    time = prepare(f, time);
    uint8_t number = f->current->number;
    if (f->rec->arguments.on)
        keep_arguments(f, frame);
    if (!number || __atomic_load_n(&code->own, __ATOMIC_RELAXED) != number ||
        !gt_filter_skips_unmentioned(&f->state)) {
        const struct gt_filter_verdict *v =
            gt_select_filters_verdict(f->rec, f->current, frame->fn, frame->addr);
        if (number && !v->bits)
            __atomic_store_n(&code->own, number, __ATOMIC_RELAXED);
        if (!gt_filter_skips(&f->state, v))
            gt_filter_enter(&f->state, v, frame->addr, 0, time);
    }
    look_if_off(f);
}

void gt_select_filtered_leave(struct gt_select_filtered *f, uint64_t time,
                              const struct gt_recorder_argument_slot *result)
{
    if (!f->out)
        return;
    time = prepare(f, time);
    f->result = result;
    f->returns = f->state.depth - 1;
    if (!gt_filter_leaves_skipped(&f->state))
        gt_filter_leave(&f->state, time);
    f->result = NULL;
    if (f->values.n)
        gt_select_filtered_values_trim(&f->values, f->state.depth);
    look_if_off(f);
}

void gt_select_filtered_stop(struct gt_select_filtered *f, uint64_t time)
{
    if (f->out)
        gt_filter_takes_event(&f->state, prepare(f, time));
}

void gt_select_filtered_ends(struct gt_select_filtered *f, uint64_t time)
{
    if (!f->out)
        return;
    time = prepare(f, time);
    gt_filter_takes_event(&f->state, time); /* it may have been switched off */
    gt_filter_until(&f->state, time);
    /* A task is resumed to be ended: that it was suspended has no return either, in no call. */
    if (f->state.shown || f->resumed == time)
        note_ends(f, f->state.shown ? f->state.shown : 1, time);
}

void gt_select_filtered_suspend(struct gt_select_filtered *f, uint64_t time)
{
    if (f->out)
        gt_filter_suspend(&f->state, prepare(f, time));
}

void gt_select_filtered_resume(struct gt_select_filtered *f, uint64_t time)
{
    if (!f->out)
        return;
    f->resumed = prepare(f, time);
    gt_filter_resume(&f->state, f->resumed);
}

/* ---- the tracker's transfers and stacks ---------------------------------------------------- */

bool gt_select_filtered_transfer(const struct gt_recorder_transfer *t)
{
    struct gt_recorder *r = t->vcpu->rec;
    struct gt_stack *s = t->vcpu->thread.stack;
    struct gt_track_call_event found;
    struct gt_select_filtered *f =
        &gt_recorder_task_of(s)->filtered; /* not begun with privilege_levels */
    if (!f->out ||
        !gt_track_transfer(&t->vcpu->thread, t->code, t->last_exit, r->hot.max_depth, &found))
        return false;
    gt_recorder_live_clock_set(&r->hot.live, t->time);
    if (found.leaves)
        gt_select_filtered_leave(f, t->time, gt_recorder_arguments_returned(t, found.addr));
    else {
        gt_select_code_enter(t->code);
        gt_select_filtered_enter_code(f, t->code, s->top, t->time);
    }
    return true;
}

static void stack_enter(void *self, struct gt_stack *s, uint64_t time, uint32_t depth,
                        uint64_t addr)
{
    (void)self, (void)depth, (void)addr;
    gt_select_filtered_enter(&gt_recorder_task_of(s)->filtered, s->top, time);
}

static void stack_leave(void *self, struct gt_stack *s, uint64_t time, uint32_t depth,
                        uint64_t addr)
{
    (void)self, (void)depth;
    gt_select_filtered_leave(&gt_recorder_task_of(s)->filtered, time,
                             gt_recorder_arguments_leaving(s, addr));
}

static void stack_suspended(void *self, struct gt_stack *s, uint64_t time)
{
    if (gt_recorder_tells_switches(self))
        gt_select_filtered_suspend(&gt_recorder_task_of(s)->filtered, time);
}

static void stack_resumed(void *self, struct gt_stack *s, uint64_t time)
{
    (void)self;
    gt_select_filtered_resume(&gt_recorder_task_of(s)->filtered, time);
}

static void stack_ends(void *self, struct gt_stack *s, uint64_t time)
{
    (void)self;
    gt_select_filtered_ends(&gt_recorder_task_of(s)->filtered, time);
}

static bool stack_open(void *self, struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    struct gt_recorder *r = self;
    struct gt_recorder_task *task = gt_recorder_task_of(s);
    if (!gt_recorder_output_open_stack(self, t, s, time))
        return false;
    if (task->filtered.out && gt_recorder_has_vcpu_tasks(r)) {
        /* it runs again, on this vCPU or another one: with its filters as they were */
        task->filtered.out = s->out;
        task->filtered.id = task->id;
        return true;
    }
    if (!gt_select_filtered_begin(&task->filtered, r, s, s->out, task->id)) {
        gt_recorder_output_close_stack(self, s);
        return false;
    }
    if (task->name[0])
        gt_select_filtered_name(&task->filtered, task->name, r->process.pid);
    return true;
}

static void stack_close(void *self, struct gt_stack *s)
{
    gt_select_filtered_end(&gt_recorder_task_of(s)->filtered);
    gt_recorder_output_close_stack(self, s);
}

const struct gt_track_sink gt_select_filtered_sink = {
    .enter = stack_enter,
    .leave = stack_leave,
    .suspended = stack_suspended,
    .resumed = stack_resumed,
    .ends = stack_ends,
    .handler = gt_recorder_handlers_begun,
    .open = stack_open,
    .close = stack_close,
    .data_size = sizeof(struct gt_recorder_task),
};

static void end_list(struct gt_stack *s)
{
    for (; s; s = s->next)
        gt_select_filtered_end(&gt_recorder_task_of(s)->filtered);
}

void gt_select_filtered_end_all(struct gt_recorder *r)
{
    if (!gt_select_filters_current(&r->filters))
        return;
    end_list(r->tracker.stacks);
    end_list(r->tracker.ended);
}

/* ---- counts -------------------------------------------------------------------------------- */

static void forget_list(struct gt_stack *s)
{
    for (; s; s = s->next) {
        struct gt_select_filtered *f = &gt_recorder_task_of(s)->filtered;
        f->recorded = f->beyond = f->values.dropped = 0;
    }
}

void gt_select_filtered_forked(struct gt_recorder *r)
{
    forget_list(r->tracker.stacks);
    forget_list(r->tracker.ended);
}

static void add_list(struct gt_stack *s, uint64_t *recorded, uint64_t *beyond)
{
    for (; s; s = s->next) {
        const struct gt_select_filtered *f = &gt_recorder_task_of(s)->filtered;
        if (!f->out)
            continue;
        *recorded += __atomic_load_n(&f->recorded, __ATOMIC_RELAXED);
        *beyond += __atomic_load_n(&f->beyond, __ATOMIC_RELAXED);
    }
}

void gt_select_filtered_running(struct gt_recorder *r, uint64_t *recorded, uint64_t *beyond)
{
    pthread_mutex_lock(&r->tracker.lock);
    add_list(r->tracker.stacks, recorded, beyond);
    add_list(r->tracker.ended, recorded, beyond);
    pthread_mutex_unlock(&r->tracker.lock);
}
